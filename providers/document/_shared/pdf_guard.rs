//! What hostile PDFs can do to the library that reads them, seen before it reads: streams that unpack without end,
//! forms that draw themselves, pages that are their own parents. Each would take the whole process down.

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use pdf_extract::content::Content;
use pdf_extract::{Document as Pdf, Object, ObjectId};

/// The most that all streams together may hold once unpacked, in bytes.
const MOST: u64 = 96 * 1024 * 1024;
/// The most drawing of forms that a page may ask for, in parts of a page.
const MOST_FORMS: usize = 2_000;
/// The deepest nesting of the tree of pages.
const DEEPEST: usize = 64;

/// Whether the streams of the file stay within bounds once unpacked. Looks at bytes, and understands no structure.
pub(super) fn unpacks_within_bounds(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"stream";
    let mut left = MOST;
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(MARK.len()).position(|window| window == MARK) {
        at += found + MARK.len();
        let start = at + bytes[at..].iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let unpacked =
            std::io::copy(&mut ZlibDecoder::new(&bytes[start..]).take(left + 1), &mut std::io::sink());
        // What is no zlib stream fails at its first bytes.
        let size = unpacked.unwrap_or_default();
        if size > left {
            return false;
        }
        left -= size;
    }
    true
}

/// Takes from forms what draws other forms, and from pictures their bytes, which the library would read as text.
/// True when something was taken that may have had text.
pub(super) fn flatten(pdf: &mut Pdf) -> bool {
    let mut lost = false;
    for object in pdf.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let kind = stream.dict.get(b"Subtype").and_then(Object::as_name).unwrap_or_default().to_vec();
        match kind.as_slice() {
            b"Image" => {
                stream.dict.remove(b"Filter");
                stream.dict.remove(b"DecodeParms");
                stream.set_content(Vec::new());
            }
            b"Form" => {
                let plain = stream.get_plain_content().unwrap_or_default();
                let kept = Content::decode(&plain).ok().map(|content| {
                    let all = content.operations.len();
                    let operations: Vec<_> =
                        content.operations.into_iter().filter(|op| op.operator != "Do").collect();
                    lost |= operations.len() < all;
                    Content { operations }
                });
                let encoded = kept.and_then(|content| content.encode().ok()).unwrap_or_default();
                stream.dict.remove(b"Filter");
                stream.dict.remove(b"DecodeParms");
                stream.set_content(encoded);
            }
            _ => {}
        }
    }
    lost
}

/// Whether a page can be read: its ancestors come to an end, and it does not draw forms without end.
pub(super) fn is_readable(pdf: &Pdf, page: ObjectId) -> bool {
    let mut above = pdf.get_dictionary(page).ok();
    for _ in 0..DEEPEST {
        let Some(node) = above else { return false };
        let Ok(parent) = node.get(b"Parent").and_then(Object::as_reference) else {
            let drawn = pdf.get_page_content(page).ok().and_then(|content| Content::decode(&content).ok());
            return drawn.is_none_or(|content| {
                content.operations.iter().filter(|op| op.operator == "Do").count() <= MOST_FORMS
            });
        };
        above = pdf.get_dictionary(parent).ok();
    }
    false
}
