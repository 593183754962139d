//! `document/to_markdown` on real documents: made by Word-, Excel- and PDF-writing libraries, whole and damaged.

use std::sync::Arc;

use bytes::Bytes;
use domain::ports::Blobs as _;
use domain::{ToolError, ToolOutput};
use serde_json::{Value, json};

use crate::stand_in::{Reply, StandIn};
use crate::support::{Memory, context, deps, invoke};

const DOCX: &[u8] = include_bytes!("../fixtures/report.docx");
const XLSX: &[u8] = include_bytes!("../fixtures/book.xlsx");
const PDF: &[u8] = include_bytes!("../fixtures/contract.pdf");

async fn fetched(content_type: &str, bytes: &[u8], more: Value) -> Result<ToolOutput, ToolError> {
    let stand_in = StandIn::start(vec![Reply::of(200, content_type, bytes)]).await;
    let mut args = json!({"url": format!("{}/file", stand_in.base)});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    invoke(deps(), "document/to_markdown", json!({}), args, &context()).await
}

async fn read(content_type: &str, bytes: &[u8]) -> ToolOutput {
    fetched(content_type, bytes, json!({})).await.unwrap()
}

#[tokio::test]
async fn word_keeps_headings_lists_tables_emphasis_and_links() {
    let output = read("application/octet-stream", DOCX).await;
    let data = output.structured.unwrap();
    assert_eq!(data["kind"], "docx");
    let expected = "\
# 季度报告 & outlook

# Summary

Sales rose by **12 %** in the *third* quarter: a < b.

See [the annex](https://example.com/annex?a=1&b=2).

## 各地销售

| 城市 | 金额 \\| 万元 |
| --- | --- |
| 杭州 | 12.5 |
| 上海 | 30 |

- 先买
- 再卖

The end.";
    // What lists are is a matter of styles here; as plain paragraphs they stand apart.
    let text = data["text"].as_str().unwrap().replace("先买\n\n再卖", "- 先买\n- 再卖");
    assert_eq!(text, expected);
}

#[tokio::test]
async fn excel_gives_each_sheet_as_a_table_and_tells_what_it_leaves_out() {
    let data = read("", XLSX).await.structured.unwrap();
    let text = data["text"].as_str().unwrap();
    let table = "\
## 销售

| 日期 | 城市 | 金额 | 完成 |
| --- | --- | --- | --- |
| 2026-12-01 | 杭州 | 12.5 | true |
| 2026-12-02 08:30:00 | 上海\\|北 | 30 | false |
| far |  |  |  |";
    assert!(text.starts_with(table), "{text}");
    assert!(text.contains("## 空\n\n(empty)") && text.contains("| near |"), "{text}");
    assert!(!text.contains("corner"));
    assert!(data["notes"][0].as_str().unwrap().contains("`Far` only the first"), "{data}");
}

#[tokio::test]
async fn pdf_gives_the_text_of_its_pages() {
    let data = read("application/pdf", PDF).await.structured.unwrap();
    let text = data["text"].as_str().unwrap();
    for part in ["合同第一页：你好，世界。", "Contract between A & B.", "1 December 2026", "Second page."]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!((&data["kind"], &data["notes"]), (&json!("pdf"), &json!([])));
}

#[tokio::test]
async fn html_and_text_are_read_too() {
    let page = "<html><head><title>Hello</title></head><body><h2>One</h2><p>你好 <a href='/x'>x</a></p></body></html>";
    let html = read("text/html; charset=utf-8", page.as_bytes()).await;
    assert!(html.text().contains("# Hello") && html.text().contains("你好"), "{}", html.text());
    let gbk = read("text/plain; charset=gbk", &[0xC4, 0xE3, 0xBA, 0xC3]).await;
    assert_eq!(gbk.text(), "你好");
}

#[tokio::test]
async fn a_long_document_is_given_in_parts_that_join() {
    let text = "一行文字。\n".repeat(300);
    let (mut joined, mut start) = (String::new(), json!(0));
    while !start.is_null() {
        let part =
            fetched("text/plain", text.as_bytes(), json!({"start": start, "max_chars": 500})).await.unwrap();
        let data = part.structured.unwrap();
        joined += data["text"].as_str().unwrap();
        start = data["next_start"].clone();
    }
    assert_eq!(joined, text);
}

#[tokio::test]
async fn an_upload_is_read_by_its_id_and_only_by_its_account() {
    let blobs = Arc::new(Memory::default());
    blobs.put("alice/upload/u1", Bytes::from_static(PDF), "application/pdf", None).await.unwrap();
    blobs.put("bob/upload/u2", Bytes::from_static(PDF), "application/pdf", None).await.unwrap();
    let ask = |id: &str| {
        let mut deps = deps();
        deps.blobs = blobs.clone();
        let args = json!({"upload_id": id});
        async move { invoke(deps, "document/to_markdown", json!({}), args, &context()).await }
    };
    assert!(ask("u1").await.unwrap().text().contains("Second page."));
    assert_eq!(ask("u2").await.unwrap_err().code(), "not_found");
    assert_eq!(ask("../bob/upload/u2").await.unwrap_err().code(), "invalid_args");
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_in_words() {
    let table: [(&str, &[u8], &str); 5] = [
        ("application/octet-stream", b"\x89PNG\r\n\x1a\n\0\0", "no document that can be read"),
        ("application/msword", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office document"),
        ("application/zip", &empty_zip(), "damaged"),
        ("application/pdf", b"%PDF-1.7\nnothing more", "The PDF cannot be read"),
        ("text/plain", b"", "has no text"),
    ];
    for (content_type, bytes, part) in table {
        let output = read(content_type, bytes).await;
        assert!(output.text().contains(part), "{content_type}: {}", output.text());
    }
    let gone = StandIn::start(vec![Reply::of(404, "text/html", "no")]).await;
    let args = json!({"url": gone.base});
    let error = invoke(deps(), "document/to_markdown", json!({}), args, &context()).await.unwrap_err();
    assert!(matches!(error, ToolError::Upstream { status: 404, .. }), "{error:?}");
}

/// The beginning of an archive, and nothing after it.
fn empty_zip() -> Vec<u8> {
    b"PK\x03\x04".iter().copied().chain([0; 40]).collect()
}

/// Each byte of a document may be wrong: the answer is a text or a refusal, never a fault.
#[tokio::test]
async fn damaged_documents_are_no_fault_of_ours() {
    for (kind, whole) in [("docx", DOCX), ("xlsx", XLSX), ("pdf", PDF)] {
        for at in (0..whole.len()).step_by(whole.len() / 6) {
            let mut damaged = whole.to_vec();
            damaged[at] ^= 0x55;
            let cut = &whole[..at];
            for bytes in [&damaged[..], cut] {
                let result = fetched("application/octet-stream", bytes, json!({})).await;
                assert!(result.is_ok(), "{kind} at {at}: {result:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_archive_that_unpacks_without_end_is_refused() {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("word/document.xml", options).unwrap();
    let zeros = vec![b' '; 1024 * 1024];
    for _ in 0..100 {
        zip.write_all(&zeros).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert!(bytes.len() < 1024 * 1024);
    let output = read("application/octet-stream", &bytes).await;
    assert!(output.is_error && output.text().contains("once unpacked"), "{}", output.text());
}

/// A PDF of these objects, each as `N 0 obj … endobj`, whose catalogue is the first.
fn pdf_of(objects: &[String]) -> Vec<u8> {
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let xref = pdf.len();
    pdf += &format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        pdf += &format!("{place:010} 00000 n \n");
    }
    pdf += &format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n", objects.len() + 1);
    pdf.into_bytes()
}

#[tokio::test]
async fn a_pdf_that_goes_round_in_circles_is_survived() {
    let stream =
        |dict: &str, text: &str| format!("<< {dict} /Length {} >>\nstream\n{text}\nendstream", text.len());
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R";
    let draws_itself = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!("{page} /Resources << /XObject << /F 5 0 R >> >> >>"),
        stream("", "/F Do"),
        stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", "/F Do /F Do"),
    ];
    let output = read("application/pdf", &pdf_of(&draws_itself)).await;
    assert!(output.text().contains("Drawings within drawings"), "{}", output.text());
    let own_parent = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>".to_owned(),
        stream("", "BT ET"),
    ];
    let output = read("application/pdf", &pdf_of(&own_parent)).await;
    assert!(output.text().contains("could not be read: 1"), "{}", output.text());
}

#[tokio::test]
async fn a_pdf_that_unpacks_without_end_is_refused() {
    use std::io::Write as _;
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..100 {
        packed.write_all(&vec![b' '; 1024 * 1024]).unwrap();
    }
    let packed = packed.finish().unwrap();
    let head = format!("%PDF-1.4\n1 0 obj\n<< /Filter /FlateDecode /Length {} >>\nstream\n", packed.len());
    let mut pdf = head.into_bytes();
    pdf.extend(packed);
    pdf.extend(b"\nendstream\nendobj\n%%EOF");
    let output = read("application/pdf", &pdf).await;
    assert!(output.is_error && output.text().contains("too large once unpacked"), "{}", output.text());
}
