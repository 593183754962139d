//! Multipart bodies, written by the HTTP library's own encoder and collected to bytes.

use super::body::Encoded;
use bytes::BytesMut;
use domain::ToolError;
use egress::multipart as wire;
use futures::TryStreamExt as _;

/// One part of a form.
#[derive(Debug)]
pub(crate) struct Part {
    /// The field's name.
    pub(crate) name: String,
    /// The file's name, where the part is a file.
    pub(crate) file_name: Option<String>,
    /// What it is, where that is to be said.
    pub(crate) content_type: Option<String>,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Writes the parts. `media_type` is `multipart/form-data` or another multipart type.
pub(crate) async fn encode(media_type: &str, parts: Vec<Part>) -> Result<Encoded, ToolError> {
    // Names go out quoted, not as `name*=`, which few servers read. The encoder then escapes nothing.
    let mut form = wire::Form::new().percent_encode_noop();
    for part in parts {
        let mut written = wire::Part::bytes(part.bytes);
        if let Some(name) = part.file_name {
            written = written.file_name(quotable(&name));
        }
        if let Some(content_type) = part.content_type {
            written = written.mime_str(&content_type).map_err(|_| ToolError::InvalidArgs {
                violations: vec![domain::Violation {
                    path: super::args::pointer(&part.name),
                    message: format!("`{content_type}` is not a media type"),
                }],
            })?;
        }
        form = form.part(quotable(&part.name), written);
    }
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let content_type = format!("{essence}; boundary={}", form.boundary());
    let bytes: BytesMut = form.into_stream().try_collect::<BytesMut>().await.map_err(ToolError::internal)?;
    Ok(Encoded { content_type, bytes: bytes.freeze() })
}

/// A name that stays within its quotes and its line, escaped as browsers do (HTML, multipart/form-data).
fn quotable(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control() || matches!(c, '\r' | '\n'))
        .collect::<String>()
        .replace('\r', "%0D")
        .replace('\n', "%0A")
        .replace('"', "%22")
}
