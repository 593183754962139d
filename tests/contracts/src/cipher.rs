//! The contract of [`Cipher`].

use crate::Subject;
use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher, CipherError, Scope, Sealed},
};
use secrecy::{ExposeSecret as _, SecretString};

/// Makes one test of each case of the cipher's contract.
#[macro_export]
macro_rules! cipher_contract {
    ($subject:expr) => {
        $crate::each_case!($crate::cipher, $subject, [
            a_moved_value_does_not_open
            an_altered_value_does_not_open
            another_instance_opens_what_was_sealed
            sealing_twice_gives_two_texts
            the_secret_is_nowhere_in_clear
        ]);
    };
}

const SECRET: &str = "canary-7f3d1c9a-open-sesame";

fn scope(account: &str) -> Scope {
    let account = AccountId::try_from(account.to_owned()).unwrap();
    Scope::new(&account, Kind::McpServer, "server-1", "headers.authorization")
}

async fn seal(cipher: &dyn Cipher, scope: &Scope, secret: &str) -> Sealed {
    cipher.seal(scope, &SecretString::from(secret)).await.unwrap()
}

async fn assert_closed(cipher: &dyn Cipher, scope: &Scope, sealed: &Sealed, what: &str) {
    match cipher.open(scope, sealed).await {
        Err(error @ CipherError::DoesNotOpen { .. }) => {
            assert!(!format!("{error} {error:?}").contains(SECRET));
        }
        Err(other) => panic!("{what}: {other:?}"),
        Ok(_) => panic!("{what}: it opened"),
    }
}

/// The sealed text is all that another instance needs.
pub async fn another_instance_opens_what_was_sealed(s: Subject<dyn Cipher>) {
    for secret in ["", "x", SECRET, "\u{4f60}\u{597d}\n\0", &"long ".repeat(20_000)] {
        let sealed = seal(&*s.it, &scope("acc_1"), secret).await;
        let opened = s.other.open(&scope("acc_1"), &sealed).await.unwrap();
        assert!(opened.expose_secret() == secret);
    }
}

/// Equal secrets cannot be told apart from outside.
pub async fn sealing_twice_gives_two_texts(s: Subject<dyn Cipher>) {
    let first = seal(&*s.it, &scope("acc_1"), SECRET).await;
    let second = seal(&*s.it, &scope("acc_1"), SECRET).await;
    assert_ne!(first.0, second.0);
}

/// Account, kind, resource and field all bind.
pub async fn a_moved_value_does_not_open(s: Subject<dyn Cipher>) {
    let home = scope("acc_1");
    let sealed = seal(&*s.it, &home, SECRET).await;
    let elsewhere = [
        ("another account", scope("acc_2")),
        ("another kind", Scope { kind: Kind::ApiTool, ..home.clone() }),
        ("another resource", Scope { resource: "server-2".into(), ..home.clone() }),
        ("another field", Scope { field: "headers.cookie".into(), ..home.clone() }),
        (
            "shifted parts",
            Scope { resource: "server-1h".into(), field: "eaders.authorization".into(), ..home },
        ),
    ];
    for (what, scope) in elsewhere {
        assert_closed(&*s.other, &scope, &sealed, what).await;
    }
}

/// Any change of the text is found.
pub async fn an_altered_value_does_not_open(s: Subject<dyn Cipher>) {
    let scope = scope("acc_1");
    let sealed = seal(&*s.it, &scope, SECRET).await;
    let text = &sealed.0;
    for at in (0..text.len()).step_by(1 + text.len() / 40) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let altered = Sealed(String::from_utf8(bytes).unwrap());
        assert_closed(&*s.it, &scope, &altered, &format!("byte {at}")).await;
    }
    let half = &text[..text.len() / 2];
    for malformed in ["", "haft1:", "haft1:AAAA", "haft9:AAAA", "not sealed at all", SECRET, half] {
        assert_closed(&*s.it, &scope, &Sealed(malformed.to_owned()), malformed).await;
    }
}

/// Neither the sealed text nor its `Debug` says anything.
pub async fn the_secret_is_nowhere_in_clear(s: Subject<dyn Cipher>) {
    let sealed = seal(&*s.it, &scope("acc_1"), SECRET).await;
    assert!(!sealed.0.contains("canary"));
    assert_eq!(format!("{sealed:?}"), "Sealed(..)");
    assert!(sealed.0.is_ascii() && !sealed.0.contains(char::is_whitespace));
}
