//! The cipher's contract over a key file.

use contracts::{ManualClock, Subject};
use domain::ports::Cipher;
use infra_local_key::LocalKeyCipher;
use std::sync::Arc;

async fn subject() -> Subject<dyn Cipher> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("master.key");
    let cipher = || Arc::new(LocalKeyCipher::open_or_create(&path).unwrap());
    Subject::new(cipher(), cipher(), Arc::new(ManualClock::default()), directory)
}

contracts::cipher_contract!(subject());
