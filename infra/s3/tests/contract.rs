//! The blob store's contract over moto's S3.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod support;

use contracts::{ManualClock, Subject};
use domain::ports::Blobs;
use infra_s3::S3Blobs;
use moto::Moto;
use std::sync::Arc;

async fn subject() -> Subject<dyn Blobs> {
    let moto = Moto::shared().unwrap();
    let bucket = support::create_bucket(&moto.config()).await;
    let clock = Arc::new(ManualClock::default());
    let blobs = || Arc::new(S3Blobs::with_clock(&moto.config(), &bucket, clock.clone()));
    Subject::new(blobs(), blobs(), clock.clone(), moto)
}

contracts::blobs_contract!(subject());
