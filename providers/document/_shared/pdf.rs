//! PDF: the text of each page, as far as the page's fonts tell it. Pictures of text give nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pdf_extract::{Document as Pdf, ObjectId, PlainTextOutput, output_doc_page};

use super::{Document, LONGEST, pdf_guard};

/// The most pages that are read.
const MOST_PAGES: usize = 1_000;
/// How long reading may take. It is looked at between pages.
const TIME: Duration = Duration::from_secs(30);

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let cannot = |why: &str| format!("The PDF cannot be read: {why}.");
    if !pdf_guard::unpacks_within_bounds(bytes) {
        return Err(cannot("it is too large once unpacked"));
    }
    // The library answers some broken files with a panic instead of an error.
    let loaded = catch_unwind(AssertUnwindSafe(|| Pdf::load_mem(bytes)));
    let mut pdf = loaded.map_err(|_| cannot("it is damaged"))?.map_err(|error| cannot(&error.to_string()))?;
    if pdf.is_encrypted() && pdf.decrypt("").is_err() {
        return Err(cannot("it needs a password"));
    }
    let flattened = catch_unwind(AssertUnwindSafe(|| pdf_guard::flatten(&mut pdf)));
    let has_lost = flattened.map_err(|_| cannot("it is damaged"))?;
    let until = Instant::now() + TIME;
    let pages: Vec<_> = pdf.get_pages().into_iter().collect();
    let mut document = Document::whole("pdf", String::new());
    let mut unread = Vec::new();
    if has_lost {
        document.notes.push("Drawings within drawings were left out; they may have held text.".to_owned());
    }
    for (at, (number, id)) in pages.iter().enumerate() {
        if at == MOST_PAGES || document.text.len() > LONGEST || Instant::now() > until {
            document
                .notes
                .push(format!("Pages {number} to {} were left out: the document is too long.", pages.len()));
            break;
        }
        match page(&pdf, *number, *id) {
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
fn page(pdf: &Pdf, number: u32, id: ObjectId) -> Option<String> {
    let mut text = String::new();
    let read = catch_unwind(AssertUnwindSafe(|| {
        let readable = pdf_guard::is_readable(pdf, id);
        readable && output_doc_page(pdf, &mut PlainTextOutput::new(&mut text), number).is_ok()
    }));
    if !matches!(read, Ok(true)) {
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
