//! PDF: the text of each page, as far as the page's fonts tell it. Pictures of text give nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pdf_extract::{Document as Pdf, PlainTextOutput, output_doc_page};

use super::{Document, LONGEST};

/// The most pages that are read.
const MOST_PAGES: usize = 1_000;
/// How long reading may take. It is looked at between pages.
const TIME: Duration = Duration::from_secs(30);

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let cannot = |why: &str| format!("The PDF cannot be read: {why}.");
    // The library answers some broken files with a panic instead of an error.
    let loaded = catch_unwind(AssertUnwindSafe(|| Pdf::load_mem(bytes)));
    let mut pdf = loaded.map_err(|_| cannot("it is damaged"))?.map_err(|error| cannot(&error.to_string()))?;
    if pdf.is_encrypted() && pdf.decrypt("").is_err() {
        return Err(cannot("it needs a password"));
    }
    let until = Instant::now() + TIME;
    let numbers: Vec<u32> = pdf.get_pages().keys().copied().collect();
    let mut document = Document::whole("pdf", String::new());
    let mut unread = Vec::new();
    for (at, number) in numbers.iter().enumerate() {
        if at == MOST_PAGES || document.text.len() > LONGEST || Instant::now() > until {
            document.notes.push(format!(
                "Pages {number} to {} were left out: the document is too long.",
                numbers.len()
            ));
            break;
        }
        match page(&pdf, *number) {
            Some(text) if text.is_empty() => {}
            Some(text) => document.text += &format!("{text}\n\n"),
            None => unread.push(number.to_string()),
        }
    }
    if !unread.is_empty() {
        document.notes.push(format!("Pages that could not be read: {}.", unread.join(", ")));
    }
    document.text.truncate(document.text.trim_end().len());
    Ok(document)
}

/// The text of a page, its lines joined to paragraphs where the page sets them apart; none when it is damaged.
fn page(pdf: &Pdf, number: u32) -> Option<String> {
    let mut text = String::new();
    let read =
        catch_unwind(AssertUnwindSafe(|| output_doc_page(pdf, &mut PlainTextOutput::new(&mut text), number)));
    if !matches!(read, Ok(Ok(()))) {
        return None;
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if !(line.is_empty() && lines.last().is_none_or(|last| last.is_empty())) {
            lines.push(line);
        }
    }
    Some(lines.join("\n").trim().to_owned())
}
