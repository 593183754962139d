//! What is text, in which charset, and what of it is JSON.

use encoding_rs::{Encoding, UTF_8};
use serde_json::Value;

/// Types outside `text/` that are text all the same.
const TEXT_TYPES: &[&str] = &[
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/jsonl",
    "application/ndjson",
    "application/sql",
    "application/toml",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "image/svg+xml",
];

/// The media type without its parameters.
pub(crate) fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// The body as text; none where it is not text.
///
/// The charset is the byte order mark's, else the declared one, else UTF-8. A body without a type, or of the
/// type that says nothing, is text when it is UTF-8 without a NUL.
pub(crate) fn decode(content_type: &str, bytes: &[u8]) -> Option<String> {
    let media_type = essence(content_type).to_ascii_lowercase();
    let unsaid = media_type.is_empty() || media_type == "application/octet-stream";
    if unsaid {
        let is_text = |text: &&str| !text.contains('\0');
        return std::str::from_utf8(bytes).ok().filter(is_text).map(str::to_owned);
    }
    is_text(&media_type).then(|| in_charset(content_type, bytes))
}

/// A body that is known to be text: in the charset of its mark, else the declared one, else UTF-8.
pub(crate) fn in_charset(content_type: &str, bytes: &[u8]) -> String {
    let declared = charset(content_type).and_then(|label| Encoding::for_label(label.as_bytes()));
    let (text, ..) = declared.unwrap_or(UTF_8).decode(bytes);
    text.into_owned()
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || media_type.ends_with("+yaml")
        || TEXT_TYPES.contains(&media_type)
}

fn charset(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

/// The text as data, where its type says JSON, or says nothing and it is an object or array.
pub(crate) fn json(content_type: &str, text: &str) -> Option<Value> {
    let media_type = essence(content_type).to_ascii_lowercase();
    let says_json =
        media_type == "application/json" || media_type == "text/json" || media_type.ends_with("+json");
    let says_little = matches!(media_type.as_str(), "" | "application/octet-stream" | "text/plain");
    let looks_json = || text.trim_start().starts_with(['{', '[']);
    if says_json || (says_little && looks_json()) {
        return serde_json::from_str(text).ok();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_read_in_its_charset() {
        let table: &[(&str, &[u8], Option<&str>)] = &[
            ("text/plain", "é".as_bytes(), Some("é")),
            ("text/plain; charset=iso-8859-1", b"\xe9", Some("é")),
            ("text/csv;Charset=\"GBK\"", b"\xcc\xec", Some("天")),
            ("application/json", b"\xef\xbb\xbf{}", Some("{}")),
            ("application/vnd.x+xml; charset=utf-16", b"\xff\xfea\0", Some("a")),
            ("text/plain; charset=no-such", "é".as_bytes(), Some("é")),
            ("", b"plain", Some("plain")),
            ("", b"\x00\x01", None),
            ("application/octet-stream", b"\xff\xfe", None),
            ("image/png", b"plain", None),
        ];
        for (content_type, bytes, wanted) in table {
            assert_eq!(decode(content_type, bytes).as_deref(), *wanted, "{content_type}");
        }
    }

    #[test]
    fn json_is_data_where_it_is_said_or_seen() {
        let table = [
            ("application/json; charset=utf-8", "1", Some(json!(1))),
            ("application/problem+json", "{\"a\":1}", Some(json!({"a": 1}))),
            ("application/json", "not json", None),
            ("text/plain", "[1]", Some(json!([1]))),
            ("text/plain", "1", None),
            ("text/html", "[1]", None),
        ];
        for (content_type, text, wanted) in table {
            assert_eq!(json(content_type, text), wanted, "{content_type} {text}");
        }
    }
}
