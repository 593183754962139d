//! The zip archive that an office document is, read with bounds: what it says of its sizes is not believed.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

/// The most that all parts may hold together once unpacked, in bytes.
const MOST: u64 = 96 * 1024 * 1024;
/// The most parts.
const MOST_PARTS: usize = 10_000;

pub(super) struct Archive<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Archive<'a> {
    /// Opens it, and unpacks every part once to see that all of them stay within bounds.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let broken = |error: &dyn std::fmt::Display| format!("The document is damaged: {error}.");
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
        if zip.len() > MOST_PARTS {
            return Err(format!("The document has more than {MOST_PARTS} parts and cannot be read."));
        }
        let mut left = MOST;
        for at in 0..zip.len() {
            let part = zip.by_index(at).map_err(|error| broken(&error))?;
            let read = std::io::copy(&mut part.take(left + 1), &mut std::io::sink());
            // A damaged part matters only if it is needed.
            let size = read.unwrap_or_default();
            if size > left {
                return Err(format!(
                    "The document is larger than {} MB once unpacked and cannot be read.",
                    MOST / 1024 / 1024
                ));
            }
            left -= size;
        }
        Ok(Self(zip))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.index_for_name(name).is_some()
    }

    /// A part as text; none when there is no such part.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let Some(at) = self.0.index_for_name(name) else { return Ok(None) };
        let damaged = |error: &dyn std::fmt::Display| {
            format!("The document is damaged: `{name}` cannot be read ({error}).")
        };
        let part = self.0.by_index(at).map_err(|error| damaged(&error))?;
        let mut bytes = Vec::new();
        part.take(MOST).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        String::from_utf8(bytes).map(Some).map_err(|error| damaged(&error))
    }
}
