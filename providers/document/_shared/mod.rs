//! From the bytes of a document to Markdown. Opens no connection. What cannot be read is told in `notes`.

mod archive;
mod pdf;
mod pdf_guard;
mod sheet;
mod table;
mod word;

use bytes::Bytes;
use url::Url;

use crate::reading::{charset, html};
use archive::Archive;

/// The longest text that is made of a document, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// A document as it came.
pub(super) struct File {
    pub(super) bytes: Bytes,
    pub(super) content_type: String,
    /// Where it came from, for links in it.
    pub(super) url: Option<Url>,
}

/// A document as text.
pub(super) struct Document {
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// What was left out, and why.
    pub(super) notes: Vec<String>,
}

impl Document {
    fn whole(kind: &'static str, text: String) -> Self {
        Self { kind, text, notes: Vec::new() }
    }
}

/// The document as Markdown, or why it cannot be read.
pub(super) fn read(file: &File) -> Result<Document, String> {
    if file.bytes.starts_with(b"%PDF-") {
        return pdf::read(&file.bytes);
    }
    if file.bytes.starts_with(b"PK\x03\x04") {
        let mut archive = Archive::open(&file.bytes)?;
        if archive.has("word/document.xml") {
            return word::read(&mut archive);
        }
        if archive.has("xl/workbook.xml") {
            return sheet::read(&file.bytes);
        }
        return Err("This is an archive, but neither a Word (docx) nor an Excel (xlsx) document.".to_owned());
    }
    if file.bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        return Err(
            "This is an old Office document (doc, xls) or one with a password. Save it as docx or xlsx."
                .to_owned(),
        );
    }
    text(file)
}

fn text(file: &File) -> Result<Document, String> {
    let head = &file.bytes[..file.bytes.len().min(2048)];
    let utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if head.contains(&0) && !utf16 {
        return Err(
            "This is no document that can be read: Word (docx), Excel (xlsx), PDF, HTML and text can."
                .to_owned(),
        );
    }
    let lower = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
    let is_html = file.content_type.contains("html")
        || lower.starts_with("<!doctype html")
        || lower.starts_with("<html");
    let (text, _) = charset::decode(&file.bytes, &file.content_type, is_html);
    if !is_html {
        return Ok(Document::whole("text", text));
    }
    let nowhere = || Url::parse("https://document.invalid/").map_err(|error| error.to_string());
    let url = file.url.clone().map_or_else(nowhere, Ok)?;
    let (title, body) = html::to_markdown(&text, &url)?;
    let text = title.map_or_else(|| body.clone(), |title| format!("# {title}\n\n{body}"));
    Ok(Document::whole("html", text))
}
