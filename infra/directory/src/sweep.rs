//! Removes expired blobs, and drafts that a crash has left.

use crate::{
    file::{MAX_META_BYTES, Meta},
    layout::Layout,
};
use domain::ports::BlobError;
use jiff::Timestamp;
use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// How old a draft must be to count as left behind.
const DRAFT_AGE: Duration = Duration::from_hours(24);

pub(crate) fn sweep(layout: &Layout, now: Timestamp) -> Result<usize, BlobError> {
    let mut removed = 0;
    for group in list(layout, &layout.blobs())? {
        for blob in list(layout, &group)? {
            if is_over(&blob, now) && remove(layout, &blob, now)? {
                removed += 1;
            }
        }
    }
    for draft in list(layout, &layout.drafts())? {
        if is_old(&draft) {
            fs::remove_file(&draft).or_else(is_gone).map_err(|e| layout.fault(e))?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn list(layout: &Layout, directory: &Path) -> Result<Vec<PathBuf>, BlobError> {
    let entries = fs::read_dir(directory).map_err(|e| layout.fault(e))?;
    let paths: io::Result<_> = entries.map(|entry| Ok(entry?.path())).collect();
    paths.map_err(|e| layout.fault(e))
}

/// Removes an expired blob; says whether it did. A blob that was written anew in the meantime stays: it is
/// looked at once more where no writer replaces it, and put back.
fn remove(layout: &Layout, blob: &Path, now: Timestamp) -> Result<bool, BlobError> {
    let aside = layout.new_draft()?;
    let fault = |e| layout.fault(e);
    if fs::rename(blob, &aside).is_err() {
        return Ok(false);
    }
    let over = is_over(&aside, now);
    if !over {
        match fs::hard_link(&aside, blob) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fault(error)),
            _ => {}
        }
    }
    fs::remove_file(&aside).map_err(fault)?;
    Ok(over)
}

fn is_over(path: &Path, now: Timestamp) -> bool {
    let mut line = Vec::new();
    let read = fs::File::open(path)
        .and_then(|file| BufReader::new(file.take(MAX_META_BYTES)).read_until(b'\n', &mut line));
    // What cannot be read is not ours to remove.
    read.is_ok() && Meta::parse(&line).is_some_and(|meta| meta.is_over(now))
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|m| m.modified());
    let age = modified.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
    age.is_ok_and(|age| age >= DRAFT_AGE)
}

fn is_gone(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}
