//! What becomes of a key file that is absent, damaged, or open to others.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher as _, CipherError, Scope},
};
use infra_local_key::LocalKeyCipher;
use secrecy::{ExposeSecret as _, SecretString};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

fn scope() -> Scope {
    Scope::new(&AccountId::generate(), Kind::Credential, "openai", "api_key")
}

fn message(result: Result<LocalKeyCipher, CipherError>) -> String {
    match result {
        Err(error @ CipherError::KeyUnusable(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn key_file(content: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("master.key");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (directory, path)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_key_file_is_for_its_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/directory/master.key");
    LocalKeyCipher::open_or_create(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!((text.len(), text.lines().count()), (45, 1));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left");
}

#[test]
fn of_many_that_make_the_file_all_read_one_key() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("master.key");
    let seen: BTreeSet<String> = std::thread::scope(|scope| {
        let read = || {
            LocalKeyCipher::open_or_create(&path).unwrap();
            fs::read_to_string(&path).unwrap()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(seen.len(), 1);
}

#[test]
fn a_damaged_key_file_is_named_and_kept() {
    let short = "c2hvcnQ=\n";
    let cases: [(&[u8], &str); 5] = [
        (b"", "it holds 0 bytes"),
        (b"not base64!!", "it is not base64"),
        (short.as_bytes(), "it holds 5 bytes instead of 32"),
        (b"\xff\xfe", "it is not a line of text"),
        (&[b'A'; 88], "it holds 66 bytes"),
    ];
    for (content, expected) in cases {
        let (_directory, path) = key_file(content, 0o600);
        let message = message(LocalKeyCipher::open_or_create(&path));
        assert!(message.contains(expected), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert!(message.contains("put back"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), content, "it is not replaced");
    }
}

#[test]
fn a_key_file_open_to_others_is_refused_with_the_remedy() {
    let key = format!("{}\n", "A".repeat(43) + "=");
    for mode in [0o640, 0o604, 0o620, 0o660, 0o666, 0o601] {
        let (_directory, path) = key_file(key.as_bytes(), mode);
        let message = message(LocalKeyCipher::open(&path));
        assert!(message.contains("chmod 600"), "{message}");
        assert!(message.contains(&format!("{mode:03o}")), "{message}");
        assert!(!message.contains("AAAA"), "{message}");
    }
    let (_directory, path) = key_file(key.as_bytes(), 0o400);
    LocalKeyCipher::open(&path).unwrap();
}

#[test]
fn a_missing_key_file_or_directory_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.key");
    assert!(message(LocalKeyCipher::open(&missing)).contains("is missing"));
    assert!(!missing.exists());
    assert!(message(LocalKeyCipher::open(directory.path())).contains("not a file"));
    let (_directory, file) = key_file(b"", 0o600);
    assert!(message(LocalKeyCipher::open_or_create(&file.join("x"))).contains("cannot be made"));
}

#[tokio::test]
async fn another_key_does_not_open_it() {
    let directory = tempfile::tempdir().unwrap();
    let cipher = |name: &str| LocalKeyCipher::open_or_create(&directory.path().join(name)).unwrap();
    let (first, second) = (cipher("first.key"), cipher("second.key"));
    let scope = scope();
    let sealed = first.seal(&scope, &SecretString::from("secret")).await.unwrap();
    let opened = second.open(&scope, &sealed).await;
    assert!(matches!(opened, Err(CipherError::DoesNotOpen { .. })));
    assert_eq!(cipher("first.key").open(&scope, &sealed).await.unwrap().expose_secret(), "secret");
}

/// What is sealed today must open with every later version.
#[tokio::test]
async fn a_value_sealed_by_an_earlier_version_opens() {
    let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    let (_directory, path) = key_file(key.as_bytes(), 0o600);
    let cipher = LocalKeyCipher::open(&path).unwrap();
    let account = AccountId::try_from("acc_1".to_owned()).unwrap();
    let scope = Scope::new(&account, Kind::Credential, "openai", "api_key");
    let sealed = domain::ports::Sealed(include_str!("sealed-v1.txt").trim().to_owned());
    assert_eq!(cipher.open(&scope, &sealed).await.unwrap().expose_secret(), "an old secret");
}
