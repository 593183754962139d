//! From the bytes of an answer to readable text. Opens no connection.

use url::Url;

use crate::reading::{charset, html};

/// What a server sent.
pub(super) struct Answer {
    /// The address that answered, after redirects.
    pub(super) url: Url,
    pub(super) content_type: Option<String>,
    pub(super) bytes: Vec<u8>,
    /// Whether there was more than was read.
    pub(super) truncated: bool,
}

/// A page as text.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) url: Url,
    pub(super) title: Option<String>,
    pub(super) kind: Kind,
    pub(super) charset: &'static str,
    pub(super) text: String,
    pub(super) truncated: bool,
}

/// What can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Json,
}

impl Kind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// The answer as text, or why it cannot be read.
pub(super) fn read(answer: &Answer) -> Result<Page, String> {
    let declared = answer.content_type.as_deref().unwrap_or_default();
    let media_type = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let kind = kind(&media_type, &answer.bytes)?;
    let (text, charset) = charset::decode(&answer.bytes, declared, kind == Kind::Html);
    let (title, text) = match kind {
        Kind::Html => html::to_markdown(&text, &answer.url)?,
        Kind::Text | Kind::Json => (None, text),
    };
    let text = text.trim().to_owned();
    Ok(Page { url: answer.url.clone(), title, kind, charset, text, truncated: answer.truncated })
}

fn kind(media_type: &str, bytes: &[u8]) -> Result<Kind, String> {
    match media_type {
        "text/html" | "application/xhtml+xml" => Ok(Kind::Html),
        "application/json" => Ok(Kind::Json),
        other if other.ends_with("+json") => Ok(Kind::Json),
        "application/xml" | "application/javascript" | "application/yaml" | "application/x-ndjson" => {
            Ok(Kind::Text)
        }
        other if other.starts_with("text/") || other.ends_with("+xml") => Ok(Kind::Text),
        "" | "application/octet-stream" => sniff(bytes).ok_or_else(|| {
            "The address gives a file that is not text; only HTML, text and JSON can be read.".to_owned()
        }),
        other => Err(format!("The address gives `{other}`; only HTML, text and JSON can be read.")),
    }
}

/// For answers that do not say what they are.
fn sniff(bytes: &[u8]) -> Option<Kind> {
    let head = &bytes[..bytes.len().min(1024)];
    if head.contains(&0) {
        return None;
    }
    let head = String::from_utf8_lossy(head).trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    if head.starts_with("<!doctype html") || head.starts_with("<html") || head.contains("<body") {
        return Some(Kind::Html);
    }
    // Control characters other than white space do not occur in text.
    let is_text = !head.chars().any(|c| c.is_control() && !c.is_whitespace());
    is_text.then_some(if head.starts_with(['{', '[']) { Kind::Json } else { Kind::Text })
}

#[cfg(test)]
mod tests;
