//! `text/encode`: usual encodings of texts, both ways, and a digest.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::EncodeParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What stays as it is in a part of a URL (RFC 3986, "unreserved").
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncodeArgs {
    /// The text, or what to decode.
    #[schemars(length(max = 300_000))]
    pub text: String,
    /// The encoding. `sha256` is a digest and cannot be decoded.
    pub encoding: Encoding,
    /// Decode instead of encoding.
    #[serde(default)]
    pub decode: bool,
}

/// An encoding.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the names say it, and documented variants make a schema that fewer models read"
)]
pub enum Encoding {
    Base64,
    Base64url,
    Hex,
    Url,
    Html,
    Sha256,
}

/// Builds the tool.
pub fn encode(
    _params: EncodeParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = EncodeArgs>, BuildError> {
    Ok(Encode)
}

struct Encode;

impl CallTool for Encode {
    type Args = EncodeArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        if !args.decode {
            let text = encoded(&args.text, args.encoding);
            return Ok(ToolOutput::structured(text.clone(), json!({"text": text})));
        }
        let decoded = decoded(args.text.trim(), args.encoding).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| "what it holds is no text, but other data".to_owned())
        });
        Ok(match decoded {
            Ok(text) => ToolOutput::structured(text.clone(), json!({"text": text})),
            Err(why) => ToolOutput::failed(format!("This cannot be decoded: {why}.")),
        })
    }
}

fn encoded(text: &str, encoding: Encoding) -> String {
    match encoding {
        Encoding::Base64 => BASE64_STANDARD.encode(text),
        Encoding::Base64url => BASE64_URL_SAFE_NO_PAD.encode(text),
        Encoding::Hex => hex::encode(text),
        Encoding::Url => utf8_percent_encode(text, KEPT).to_string(),
        Encoding::Html => escaped(text),
        Encoding::Sha256 => hex::encode(Sha256::digest(text)),
    }
}

fn decoded(text: &str, encoding: Encoding) -> Result<Vec<u8>, String> {
    let base64 = |alphabet| {
        let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let joined: String = text.split_whitespace().collect();
        GeneralPurpose::new(alphabet, lenient).decode(joined).map_err(|error| error.to_string())
    };
    match encoding {
        Encoding::Base64 => base64(&STANDARD),
        Encoding::Base64url => base64(&URL_SAFE),
        Encoding::Hex => hex::decode(text).map_err(|error| error.to_string()),
        Encoding::Url => Ok(percent_decode_str(text).collect()),
        Encoding::Html => Ok(unescaped(text).into_bytes()),
        Encoding::Sha256 => Err("a digest keeps nothing of its text".to_owned()),
    }
}

fn escaped(text: &str) -> String {
    let entity = |c: char| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => None,
    };
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
        out
    })
}

/// The five entities of XML, the space that does not break, and numbers. Others stay as they are.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(end, _)| end);
        match end.and_then(|end| Some((end, character(&rest[1..end])?))) {
            Some((end, c)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn character(entity: &str) -> Option<char> {
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}
