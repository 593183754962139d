//! Bytes in arguments: base64, or a data URI (RFC 2397) that also says what they are.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// What is said of a text that holds no bytes.
pub(crate) const NOT_A_FILE: &str = "is not a file: give its bytes as base64 or as a data URI";

/// A file in an argument.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Its media type, where the data URI says one.
    pub(crate) media_type: Option<String>,
    /// Its name, where the data URI says one (`;name=`).
    pub(crate) name: Option<String>,
}

/// Reads a file; none where the text is neither base64 nor a data URI.
pub(crate) fn decode(text: &str) -> Option<File> {
    let trimmed = text.trim();
    match trimmed.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data:") => data_uri(&trimmed[5..]),
        _ => Some(File { bytes: base64(trimmed)?, media_type: None, name: None }),
    }
}

fn data_uri(rest: &str) -> Option<File> {
    let (head, data) = rest.split_once(',')?;
    let mut parts = head.split(';').map(str::trim);
    let media_type = parts.next().filter(|t| !t.is_empty()).map(str::to_owned);
    let mut is_base64 = false;
    let mut name = None;
    let mut parameters = String::new();
    for part in parts {
        match part.split_once('=') {
            None if part.eq_ignore_ascii_case("base64") => is_base64 = true,
            Some(("name" | "filename", value)) => {
                name = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
            }
            _ => {
                parameters.push(';');
                parameters.push_str(part);
            }
        }
    }
    let unescaped = || percent_decode_str(data).collect::<Vec<u8>>();
    let bytes = if is_base64 { base64(std::str::from_utf8(&unescaped()).ok()?)? } else { unescaped() };
    Some(File { bytes, media_type: media_type.map(|t| t + &parameters), name })
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let dense: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    STANDARD.decode(&dense).or_else(|_| URL_SAFE.decode(&dense)).ok()
}

/// The usual ending of a file of a media type, with its dot. Some services go by it.
pub(crate) fn extension(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "application/json" => ".json",
        "application/pdf" => ".pdf",
        "application/xml" | "text/xml" => ".xml",
        "application/yaml" | "text/yaml" => ".yaml",
        "application/zip" => ".zip",
        "audio/flac" => ".flac",
        "audio/mp4" => ".m4a",
        "audio/mpeg" => ".mp3",
        "audio/ogg" => ".ogg",
        "audio/wav" | "audio/x-wav" => ".wav",
        "audio/webm" | "video/webm" => ".webm",
        "image/gif" => ".gif",
        "image/jpeg" => ".jpg",
        "image/png" => ".png",
        "image/svg+xml" => ".svg",
        "image/webp" => ".webp",
        "text/csv" => ".csv",
        "text/html" => ".html",
        "text/markdown" => ".md",
        "text/plain" => ".txt",
        "video/mp4" => ".mp4",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_way_to_write_a_file_is_read() {
        let file = |bytes: &[u8], media_type: Option<&str>, name: Option<&str>| File {
            bytes: bytes.to_vec(),
            media_type: media_type.map(str::to_owned),
            name: name.map(str::to_owned),
        };
        let table = [
            ("aGk=", Some(file(b"hi", None, None))),
            ("aGk", Some(file(b"hi", None, None))),
            (" aG\nk= ", Some(file(b"hi", None, None))),
            ("_-8", Some(file(&[0xff, 0xef], None, None))),
            ("data:image/png;base64,aGk=", Some(file(b"hi", Some("image/png"), None))),
            ("DATA:;base64,aGk%3D", Some(file(b"hi", None, None))),
            ("data:,a%20b", Some(file(b"a b", None, None))),
            (
                "data:text/plain;charset=utf-8;name=a%20b.txt,x",
                Some(file(b"x", Some("text/plain;charset=utf-8"), Some("a b.txt"))),
            ),
            ("", Some(file(b"", None, None))),
            ("no file!", None),
            ("data:image/png", None),
            ("data:;base64,???", None),
        ];
        for (text, wanted) in table {
            assert_eq!(decode(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(bytes: Vec<u8>) {
            for text in [STANDARD.encode(&bytes), URL_SAFE.encode(&bytes)] {
                prop_assert_eq!(&decode(&text).unwrap().bytes, &bytes);
                prop_assert_eq!(&decode(&format!("data:a/b;base64,{text}")).unwrap().bytes, &bytes);
            }
        }
    }
}
