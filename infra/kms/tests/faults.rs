//! Keys that are disabled, forbidden, gone or rotated, and how often KMS is asked.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher as _, CipherError, Scope, Sealed},
};
use infra_kms::KmsCipher;
use moto::{Fault, FaultProxy, Moto};
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::Arc;

struct Place {
    moto: Arc<Moto>,
    proxy: FaultProxy,
    admin: aws_sdk_kms::Client,
    arn: String,
}

async fn place() -> Place {
    let moto = Moto::shared().unwrap();
    let proxy = FaultProxy::start(moto.url()).await.unwrap();
    let admin = aws_sdk_kms::Client::new(&moto.config());
    let made = admin.create_key().send().await.unwrap();
    let arn = made.key_metadata.unwrap().arn.unwrap();
    Place { moto, proxy, admin, arn }
}

impl Place {
    /// A cipher that has seen nothing yet.
    fn cipher(&self) -> KmsCipher {
        KmsCipher::new(&moto::config(self.proxy.url()), &self.arn)
    }
}

fn scope(account: &AccountId, kind: Kind, field: &str) -> Scope {
    Scope::new(account, kind, "resource", field)
}

async fn seal(cipher: &KmsCipher, scope: &Scope) -> Sealed {
    cipher.seal(scope, &SecretString::from("canary-secret")).await.unwrap()
}

async fn opens(cipher: &KmsCipher, scope: &Scope, sealed: &Sealed) {
    assert_eq!(cipher.open(scope, sealed).await.unwrap().expose_secret(), "canary-secret");
}

fn unusable<T>(result: Result<T, CipherError>) -> String {
    match result {
        Err(error @ CipherError::KeyUnusable(_)) => error.to_string(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it worked"),
    }
}

#[tokio::test]
async fn one_data_key_serves_an_account_and_kind() {
    let p = place().await;
    let (one, two) = (AccountId::generate(), AccountId::generate());
    let (writer, reader) = (p.cipher(), p.cipher());
    let mut sealed = Vec::new();
    for account in [&one, &two] {
        for kind in [Kind::Credential, Kind::McpServer] {
            for field in ["a", "b", "c"] {
                let scope = scope(account, kind, field);
                sealed.push((scope.clone(), seal(&writer, &scope).await));
            }
        }
    }
    assert_eq!(p.proxy.count("GenerateDataKey"), 4);
    for (scope, sealed) in &sealed {
        opens(&reader, scope, sealed).await;
        opens(&reader, scope, sealed).await;
    }
    assert_eq!(p.proxy.count("Decrypt"), 4, "data keys are kept");
}

#[tokio::test]
async fn kms_sees_account_and_kind_as_context_and_no_more() {
    let p = place().await;
    let account = AccountId::generate();
    let home = scope(&account, Kind::Credential, "a");
    let sealed = seal(&p.cipher(), &home).await;
    // The same place but for its kind: KMS itself refuses, before the associated data is looked at.
    let elsewhere = scope(&account, Kind::App, "a");
    let refused = p.cipher().open(&elsewhere, &sealed).await;
    assert!(matches!(refused, Err(CipherError::DoesNotOpen { .. })), "{refused:?}");
    assert_eq!(p.proxy.count("Decrypt"), 1);
    // Another field: the data key opens, the value does not.
    let other = p.cipher().open(&scope(&account, Kind::Credential, "b"), &sealed).await;
    assert!(matches!(other, Err(CipherError::DoesNotOpen { .. })), "{other:?}");
}

#[tokio::test]
async fn damage_is_found_without_asking_kms() {
    let p = place().await;
    let scope = scope(&AccountId::generate(), Kind::Credential, "a");
    let sealed = seal(&p.cipher(), &scope).await;
    let damaged = Sealed(sealed.0.replacen(':', ":A", 1));
    assert!(p.cipher().open(&scope, &damaged).await.is_err());
    assert_eq!(p.proxy.count("Decrypt"), 0);
}

#[tokio::test]
async fn an_unusable_key_is_told_with_what_to_do() {
    let p = place().await;
    let scope = scope(&AccountId::generate(), Kind::McpServer, "a");
    let sealed = seal(&p.cipher(), &scope).await;
    let cases = [
        ("DisabledException", "is disabled: enable it"),
        ("KMSInvalidStateException", "cancel its deletion"),
        ("AccessDeniedException", "for secrets of kind `mcp`"),
        ("NotFoundException", "does not exist"),
    ];
    for (code, expected) in cases {
        p.proxy.fail("Decrypt", Fault::error(400, code));
        p.proxy.fail("GenerateDataKey", Fault::error(400, code));
        let messages = [
            unusable(p.cipher().open(&scope, &sealed).await),
            unusable(p.cipher().seal(&scope, &SecretString::from("canary-secret")).await),
        ];
        for message in messages {
            assert!(message.contains(expected) && message.contains(&p.arn), "{message}");
            assert!(!message.contains("canary"), "{message}");
        }
    }
    opens(&p.cipher(), &scope, &sealed).await;
}

#[tokio::test]
async fn a_rotated_key_opens_what_was_sealed_before() {
    let p = place().await;
    let scope = scope(&AccountId::generate(), Kind::Credential, "a");
    let sealed = seal(&p.cipher(), &scope).await;
    p.admin.enable_key_rotation().key_id(&p.arn).send().await.unwrap();
    opens(&p.cipher(), &scope, &sealed).await;
    let again = seal(&p.cipher(), &scope).await;
    opens(&p.cipher(), &scope, &again).await;

    let made = p.admin.create_key().send().await.unwrap();
    let other = made.key_metadata.unwrap().arn.unwrap();
    p.proxy.fail("Decrypt", Fault::error(400, "IncorrectKeyException"));
    let refused = KmsCipher::new(&moto::config(p.proxy.url()), &other).open(&scope, &sealed).await;
    assert!(matches!(refused, Err(CipherError::DoesNotOpen { .. })), "{refused:?}");
}

#[tokio::test]
async fn throttles_and_lost_answers_are_tried_again() {
    let p = place().await;
    let scope = scope(&AccountId::generate(), Kind::Credential, "a");
    p.proxy.fail("GenerateDataKey", Fault::error(400, "ThrottlingException"));
    p.proxy.fail("GenerateDataKey", Fault::ResetAfter);
    let sealed = seal(&p.cipher(), &scope).await;
    p.proxy.fail("Decrypt", Fault::error(500, "KMSInternalException"));
    p.proxy.fail("Decrypt", Fault::ResetBefore);
    opens(&p.cipher(), &scope, &sealed).await;
    assert_eq!(p.proxy.left(), 0, "every fault was met");
    assert!(p.moto.url().starts_with("http://127.0.0.1"));
}
