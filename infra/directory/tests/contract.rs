//! The blob store's contract over a directory.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use contracts::{ManualClock, Subject};
use domain::ports::Blobs;
use infra_directory::DirectoryBlobs;
use std::sync::Arc;

fn subject() -> Subject<dyn Blobs> {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let blobs = || {
        let opened = DirectoryBlobs::with_clock(directory.path(), "http://localhost:1", clock.clone());
        Arc::new(opened.unwrap())
    };
    Subject::new(blobs(), blobs(), clock.clone(), directory)
}

contracts::blobs_contract!(std::future::ready(subject()));
