//! The cipher's contract over moto's KMS.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use contracts::{ManualClock, Subject};
use domain::ports::Cipher;
use infra_kms::KmsCipher;
use moto::Moto;
use std::sync::Arc;

async fn subject() -> Subject<dyn Cipher> {
    let moto = Moto::shared().unwrap();
    let config = moto.config();
    let made = aws_sdk_kms::Client::new(&config).create_key().send().await.unwrap();
    let arn = made.key_metadata.unwrap().arn.unwrap();
    let cipher = || Arc::new(KmsCipher::new(&config, &arn));
    Subject::new(cipher(), cipher(), Arc::new(ManualClock::default()), moto)
}

contracts::cipher_contract!(subject());
