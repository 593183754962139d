//! Real encodings, kinds and hostile shapes of pages.

use super::*;

fn answer(content_type: Option<&str>, bytes: impl Into<Vec<u8>>) -> Answer {
    Answer {
        url: Url::parse("https://example.com/dir/page").unwrap(),
        content_type: content_type.map(str::to_owned),
        bytes: bytes.into(),
        truncated: false,
    }
}

#[test]
fn the_charset_is_found_by_header_meta_mark_or_guess() {
    let page = |head: &str, body: &[u8]| {
        [b"<html><head>", head.as_bytes(), b"</head><body><p>", body, b"</p>"].concat()
    };
    let gbk: &[u8] = &[0xC4, 0xE3, 0xBA, 0xC3];
    let long_gbk = [0xC4, 0xE3, 0xBA, 0xC3, 0xA3, 0xAC].repeat(40);
    let utf16 = [&[0xFF, 0xFE][..], &"<p>你好".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()]
        .concat();
    let table: [(&str, Option<&str>, Vec<u8>, &str); 7] = [
        ("header", Some("text/html; charset=GB2312"), page("", gbk), "GBK"),
        ("quoted header", Some("text/html; Charset=\"gbk\""), page("", gbk), "GBK"),
        ("meta", Some("text/html"), page("<meta charset=gbk>", gbk), "GBK"),
        (
            "http-equiv",
            Some("text/html"),
            page("<meta http-equiv='Content-Type' content='text/html; charset=gb2312'>", gbk),
            "GBK",
        ),
        ("guess", Some("text/html"), page("", &long_gbk), "GBK"),
        ("byte order mark", Some("text/html; charset=utf-8"), utf16, "UTF-16LE"),
        ("utf-8 unlabelled", Some("text/html"), page("", "你好".as_bytes()), "UTF-8"),
    ];
    for (name, content_type, bytes, expected) in table {
        let page = read(&answer(content_type, bytes)).unwrap();
        assert_eq!(page.charset, expected, "{name}");
        assert!(page.text.contains("你好"), "{name}: {}", page.text);
    }
}

#[test]
fn only_what_is_text_is_read() {
    let table = [
        (Some("application/json"), &b"{\"a\":1}"[..], Ok(Kind::Json)),
        (Some("application/ld+json; charset=utf-8"), b"[]", Ok(Kind::Json)),
        (Some("text/markdown"), b"# Title", Ok(Kind::Text)),
        (Some("application/rss+xml"), b"<rss/>", Ok(Kind::Text)),
        (None, b"  <!DOCTYPE html><p>hi", Ok(Kind::Html)),
        (None, b"{\"a\":1}", Ok(Kind::Json)),
        (None, b"just words", Ok(Kind::Text)),
        (None, b"\x89PNG\r\n\x1a\n\0\0", Err("not text")),
        (Some("application/pdf"), b"%PDF-1.7", Err("`application/pdf`")),
        (Some("image/png"), b"\x89PNG", Err("`image/png`")),
    ];
    for (content_type, bytes, expected) in table {
        match (read(&answer(content_type, bytes)), expected) {
            (Ok(page), Ok(kind)) => assert_eq!(page.kind, kind, "{content_type:?}"),
            (Err(refusal), Err(part)) => assert!(refusal.contains(part), "{refusal}"),
            (read, expected) => panic!("{content_type:?}: {read:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn an_article_is_read_without_what_surrounds_it() {
    let paragraph = "A haft is the handle of a tool, and a good one fits the hand that holds it. ".repeat(8);
    let html = format!(
        "<html><head><title>On handles</title><script>track()</script></head><body>\
         <nav><a href=/home>Home</a></nav><article><h1>On handles</h1><p>{paragraph}</p>\
         <p>See <a href=\"../other?x=1\">the other page</a> and <code>cut()</code>.</p>\
         <ul><li>one</li><li>two</li></ul><p>{paragraph}</p></article><footer>imprint</footer></body></html>"
    );
    let page = read(&answer(Some("text/html"), html)).unwrap();
    assert_eq!(page.title.as_deref(), Some("On handles"));
    assert!(page.text.contains("[the other page](https://example.com/other?x=1)"), "{}", page.text);
    assert!(page.text.contains("`cut()`") && page.text.contains("one"), "{}", page.text);
    for unwanted in ["track()", "Home", "imprint"] {
        assert!(!page.text.contains(unwanted), "{unwanted}: {}", page.text);
    }
}

#[test]
fn a_page_without_an_article_is_read_whole() {
    let page =
        read(&answer(Some("text/html"), "<title>T</title><p>Short.</p><table><tr><td>1</td></tr></table>"))
            .unwrap();
    assert!(page.text.contains("Short.") && page.text.contains('1'), "{}", page.text);
}

#[test]
fn a_page_that_nests_without_end_is_refused_before_it_is_parsed() {
    let deep = "<div>".repeat(200_000);
    assert!(read(&answer(Some("text/html"), deep)).unwrap_err().contains("deeper than"));
}

#[tokio::test]
async fn the_deepest_page_that_is_read_does_not_exhaust_the_stack() {
    for (open, close) in [
        ("<div>", "</div>"),
        ("<blockquote>", "</blockquote>"),
        ("<b>", "</b>"),
        ("<ul><li>", "</ul>"),
        ("<table><tr><td>", "</table>"),
    ] {
        let html = format!("{}words{}", open.repeat(250), close.repeat(250));
        let work = move || read(&answer(Some("text/html"), html)).unwrap().text;
        let text = crate::contract::compute(work).await.unwrap();
        assert!(text.contains("words"));
    }
}

#[test]
fn sloppy_but_ordinary_markup_is_not_taken_for_deep_nesting() {
    let html = "<ul>".to_owned()
        + &"<li>item<p>text<br>".repeat(5_000)
        + "<script>if (a<b) { x = '<div><div>' }</script>";
    assert!(read(&answer(Some("text/html"), html)).unwrap().text.contains("item"));
}
