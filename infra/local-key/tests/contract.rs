//! The cipher's contract over a key file.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use contracts::{ManualClock, Subject};
use domain::ports::Cipher;
use infra_local_key::LocalKeyCipher;
use std::sync::Arc;

fn subject() -> Subject<dyn Cipher> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("master.key");
    let cipher = || Arc::new(LocalKeyCipher::open_or_create(&path).unwrap());
    Subject::new(cipher(), cipher(), Arc::new(ManualClock::default()), directory)
}

contracts::cipher_contract!(std::future::ready(subject()));
