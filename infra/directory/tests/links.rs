//! Links, uploads, sweeping, and files as they lie on the disk.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use contracts::ManualClock;
use domain::ports::{BlobError, BlobLink, Blobs as _};
use futures::stream;
use infra_directory::{DirectoryBlobs, LinkError};
use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

const HOUR: Duration = Duration::from_hours(1);

struct Place {
    blobs: DirectoryBlobs,
    clock: Arc<ManualClock>,
    root: tempfile::TempDir,
}

fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let blobs = DirectoryBlobs::with_clock(root.path(), "https://haft.example/", clock.clone()).unwrap();
    Place { blobs, clock, root }
}

fn token(link: &BlobLink) -> &str {
    link.url.strip_prefix("https://haft.example/blobs/").unwrap()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn body(chunks: &[&'static str]) -> impl futures::Stream<Item = Result<Bytes, io::Error>> + use<> {
    stream::iter(chunks.iter().map(|c| Ok(Bytes::from_static(c.as_bytes()))).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_link_opens_its_blob_until_it_expires() {
    let place = place();
    place.blobs.put("a/out/1.txt", Bytes::from_static(b"hello"), "text/plain", None).await.unwrap();
    let link = place.blobs.link("a/out/1.txt", HOUR).await.unwrap();
    let opened = place.blobs.open_link(token(&link)).await.unwrap();
    assert_eq!((opened.info.size, opened.key.as_str()), (5, "a/out/1.txt"));
    assert_eq!(opened.read(5).await.unwrap().bytes, "hello");

    place.clock.advance(HOUR);
    let late = place.blobs.open_link(token(&link)).await;
    assert!(matches!(late, Err(LinkError::Expired)), "{late:?}");
    let fresh = place.blobs.link("a/out/1.txt", HOUR).await.unwrap();
    place.blobs.delete("a/out/1.txt").await.unwrap();
    let gone = place.blobs.open_link(token(&fresh)).await;
    assert!(matches!(gone, Err(LinkError::Blob(BlobError::NotFound(_)))), "{gone:?}");
}

#[tokio::test]
async fn a_forged_or_altered_link_is_refused() {
    let place = place();
    place.blobs.put("a/secret", Bytes::from_static(b"s"), "text/plain", None).await.unwrap();
    let link = place.blobs.link("a/mine", HOUR).await.unwrap();
    let (claims, signature) = token(&link).split_once('.').unwrap();
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    let other = URL_SAFE_NO_PAD.encode(text.replace("a/mine", "a/secret"));
    let upload = place.blobs.upload_link("a/secret", 10, HOUR).await.unwrap();
    let elsewhere = self::place();
    let foreign = elsewhere.blobs.link("a/secret", HOUR).await.unwrap();
    let forged = [
        format!("{other}.{signature}"),
        format!("{claims}."),
        format!("{claims}.AAAA"),
        claims.to_owned(),
        String::new(),
        "..".to_owned(),
        "x".repeat(100_000),
        token(&upload).to_owned(),
        token(&foreign).to_owned(),
    ];
    for token in &forged {
        let opened = place.blobs.open_link(token).await;
        assert!(matches!(opened, Err(LinkError::Invalid)), "{token}: {opened:?}");
    }
    let read = place.blobs.link("a/secret", HOUR).await.unwrap();
    let written = place.blobs.accept_upload(token(&read), None, body(&["x"])).await;
    assert!(matches!(written, Err(LinkError::Invalid)), "a link to read is none to write: {written:?}");
}

#[tokio::test]
async fn an_upload_is_stored_whole_or_not_at_all() {
    let place = place();
    let link = place.blobs.upload_link("a/up/1", 10, HOUR).await.unwrap();
    let too_large = place.blobs.accept_upload(token(&link), None, body(&["12345", "67890", "!"])).await;
    assert!(matches!(too_large, Err(LinkError::Blob(BlobError::TooLarge { limit: 10 }))));
    let broken = stream::iter([Ok(Bytes::from_static(b"123")), Err(io::Error::other("reset"))]);
    let broken = place.blobs.accept_upload(token(&link), None, broken).await;
    assert!(matches!(broken, Err(LinkError::Interrupted(_))), "{broken:?}");
    assert!(matches!(place.blobs.info("a/up/1").await, Err(BlobError::NotFound(_))));
    assert_eq!(files(&place.root.path().join("drafts")), Vec::<PathBuf>::new());

    let info =
        place.blobs.accept_upload(token(&link), Some("audio/wav"), body(&["12345", "67890"])).await.unwrap();
    assert_eq!((info.size, info.content_type.as_str()), (10, "audio/wav"));
    let blob = place.blobs.get("a/up/1", 10).await.unwrap();
    assert_eq!((blob.bytes, blob.info), (Bytes::from_static(b"1234567890"), info));
    place.clock.advance(HOUR);
    let late = place.blobs.accept_upload(token(&link), None, body(&["x"])).await;
    assert!(matches!(late, Err(LinkError::Expired)), "{late:?}");
    place.clock.advance(HOUR * 24);
    assert!(matches!(place.blobs.info("a/up/1").await, Err(BlobError::NotFound(_))));
}

#[tokio::test]
async fn a_sweep_removes_what_has_expired_and_nothing_else() {
    let place = place();
    for (key, keep) in [("a/short", Some(HOUR)), ("a/long", Some(HOUR * 48)), ("a/ever", None)] {
        place.blobs.put(key, Bytes::from_static(b"x"), "text/plain", keep).await.unwrap();
    }
    let strange = place.root.path().join("blobs/ff/not-a-blob");
    fs::create_dir_all(strange.parent().unwrap()).unwrap();
    fs::write(&strange, "someone's own file").unwrap();
    place.clock.advance(HOUR * 2);
    assert_eq!(place.blobs.sweep().await.unwrap(), 1);
    assert_eq!(place.blobs.sweep().await.unwrap(), 0);
    assert!(strange.exists());
    assert!(place.blobs.info("a/long").await.is_ok() && place.blobs.info("a/ever").await.is_ok());
    assert_eq!(files(&place.root.path().join("blobs")).len(), 3);
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let place = place();
    place.blobs.put("a/b/c", Bytes::from_static(b"x"), "text/plain", None).await.unwrap();
    let all = files(place.root.path());
    assert_eq!(all.len(), 2, "the blob and the key of the links: {all:?}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for file in &all {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(&place.root.path().join("blobs")), 0o700);
}

#[tokio::test]
async fn a_damaged_file_is_an_error_not_a_blob() {
    let place = place();
    place.blobs.put("a/b", Bytes::from_static(b"x"), "text/plain", None).await.unwrap();
    let path = files(&place.root.path().join("blobs")).remove(0);
    for content in [
        "",
        "no line",
        "{}\n",
        "{\"haft_blob\":1,\"key\":\"a/other\",\"content_type\":\"\",\"expires\":null}\nx",
    ] {
        fs::write(&path, content).unwrap();
        let read = place.blobs.get("a/b", 10).await;
        assert!(matches!(read, Err(BlobError::Failed(_))), "{content}: {read:?}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_said() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let error = DirectoryBlobs::open(file.join("blobs"), "http://x").map(drop).unwrap_err();
    assert!(matches!(&error, BlobError::ReadOnly(_)), "{error:?}");
    assert!(error.to_string().contains("file/blobs"), "{error}");

    let place = place();
    fs::write(place.root.path().join("link.key"), "short").unwrap();
    let error = DirectoryBlobs::open(place.root.path(), "http://x").map(drop).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("link.key") && cause.contains("remove it"), "{cause}");
}
