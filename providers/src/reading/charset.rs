//! Which characters the bytes are: by byte order mark, header, `<meta>`, else a guess - the order of browsers.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// How far into a page a `<meta>` that names the charset may stand.
const META_WITHIN: usize = 4096;

/// The text and the name of its charset. Bytes that do not fit become U+FFFD.
pub(crate) fn decode(bytes: &[u8], content_type: &str, is_html: bool) -> (String, &'static str) {
    let encoding = declared(content_type)
        .or_else(|| is_html.then(|| meta(bytes)).flatten())
        .unwrap_or_else(|| guess(bytes));
    // A byte order mark wins over all of them, and is removed.
    let (text, used, _) = encoding.decode(bytes);
    (text.into_owned(), used.name())
}

/// `charset=` of a content type.
fn declared(content_type: &str) -> Option<&'static Encoding> {
    let parameters = content_type.split(';').skip(1);
    let charset = parameters.filter_map(|parameter| parameter.split_once('=')).find_map(|(name, value)| {
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    charset.and_then(|label| Encoding::for_label(label.as_bytes()))
}

/// `<meta charset="…">`, or the same in `<meta http-equiv="content-type" content="…; charset=…">`.
fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(META_WITHIN)]).to_ascii_lowercase();
    head.split("<meta").skip(1).find_map(|rest| {
        let tag = rest.split('>').next()?;
        let value = tag
            .split_once("charset")?
            .1
            .trim_start()
            .strip_prefix('=')?
            .trim_start()
            .trim_start_matches(['"', '\'']);
        let end = value
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/'))
            .unwrap_or(value.len());
        let encoding = Encoding::for_label(&value.as_bytes()[..end])?;
        // A page whose ASCII could be read cannot be UTF-16, whatever it says.
        Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
    })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}
