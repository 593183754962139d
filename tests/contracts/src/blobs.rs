//! The contract of [`Blobs`]. What is behind a link is each adapter's own to test: it takes an HTTP server.

use crate::Subject;
use bytes::Bytes;
use domain::ports::{BlobError, Blobs, Clock as _};
use futures::future::join_all;
use std::time::Duration;

/// Makes one test of each case of the blob store's contract.
#[macro_export]
macro_rules! blobs_contract {
    ($subject:expr) => {
        $crate::each_case!($crate::blobs, $subject, [
            a_blob_comes_back_as_it_was_put
            a_replaced_blob_is_never_seen_in_parts
            an_expired_blob_is_gone
            keys_cannot_leave_the_store
            links_expire_when_they_say
        ]);
    };
}

const MAX: u64 = 64 << 20;

/// Bytes, type and size; through any instance; of any size.
pub async fn a_blob_comes_back_as_it_was_put(s: Subject<dyn Blobs>) {
    let contents = [Bytes::new(), Bytes::from_static(b"\0\n\xff{}"), Bytes::from(vec![7; 9 << 20])];
    for (i, bytes) in contents.iter().enumerate() {
        let key = format!("acc_1/audio/{i}.wav");
        s.it.put(&key, bytes.clone(), "audio/wav; codecs=\"1\"", None).await.unwrap();
        let blob = s.other.get(&key, MAX).await.unwrap();
        assert!(blob.bytes == bytes);
        assert_eq!(blob.info.content_type, "audio/wav; codecs=\"1\"");
        assert_eq!((blob.info.size, blob.info.expires_at), (bytes.len() as u64, None));
        assert_eq!(s.other.info(&key).await.unwrap(), blob.info);
    }
    // A key may be the beginning of another.
    s.it.put("acc_1/audio", Bytes::from_static(b"up"), "text/plain", None).await.unwrap();
    s.it.put("acc_1/audio/0.wav/more", Bytes::from_static(b"down"), "text/plain", None).await.unwrap();
    assert_eq!(s.it.get("acc_1/audio", MAX).await.unwrap().bytes, "up");
    assert_eq!(s.it.get("acc_1/audio/0.wav/more", MAX).await.unwrap().bytes, "down");

    let large = s.it.get("acc_1/audio/2.wav", 1 << 20).await;
    assert!(matches!(large, Err(BlobError::TooLarge { limit }) if limit == 1 << 20), "{large:?}");
    s.it.delete("acc_1/audio/2.wav").await.unwrap();
    s.other.delete("acc_1/audio/2.wav").await.unwrap();
    assert_gone(&*s.it, "acc_1/audio/2.wav").await;
    assert_gone(&*s.it, "acc_1/never").await;
}

async fn assert_gone(blobs: &dyn Blobs, key: &str) {
    let read = blobs.get(key, MAX).await;
    assert!(matches!(&read, Err(BlobError::NotFound(k)) if k == key), "{read:?}");
    let info = blobs.info(key).await;
    assert!(matches!(&info, Err(BlobError::NotFound(k)) if k == key), "{info:?}");
}

/// A reader sees the old or the new.
pub async fn a_replaced_blob_is_never_seen_in_parts(s: Subject<dyn Blobs>) {
    const SIZE: usize = 300_000;
    let key = "acc_1/doc/one";
    s.it.put(key, vec![0; SIZE].into(), "text/0", None).await.unwrap();
    let writers = (1..5_u8).map(|seed| {
        let blobs = if seed % 2 == 0 { s.it.clone() } else { s.other.clone() };
        tokio::spawn(async move {
            for _ in 0..6 {
                let bytes = vec![seed; SIZE].into();
                blobs.put(key, bytes, &format!("text/{seed}"), None).await.unwrap();
            }
        })
    });
    let readers = (0..3).map(|_| {
        let blobs = s.other.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                let blob = blobs.get(key, MAX).await.unwrap();
                let seed = blob.bytes[0];
                assert!(blob.bytes.len() == SIZE && blob.bytes.iter().all(|b| *b == seed));
                assert_eq!(blob.info.content_type, format!("text/{seed}"));
            }
        })
    });
    let tasks: Vec<_> = writers.chain(readers).collect();
    join_all(tasks).await.into_iter().for_each(Result::unwrap);
}

/// Expiry counts from the write, and a new write without it stays.
pub async fn an_expired_blob_is_gone(s: Subject<dyn Blobs>) {
    let key = "acc_1/out/result";
    let keep = Duration::from_mins(10);
    let bytes = Bytes::from_static(b"for a while");
    s.it.put(key, bytes.clone(), "text/plain", Some(keep)).await.unwrap();
    let info = s.other.info(key).await.unwrap();
    assert_eq!(info.expires_at, Some(s.clock.after(keep)));
    s.clock.advance(keep);
    assert_gone(&*s.other, key).await;

    s.it.put(key, bytes.clone(), "text/plain", None).await.unwrap();
    s.clock.advance(Duration::from_hours(10_000));
    assert_eq!(s.other.get(key, MAX).await.unwrap().bytes, bytes);
}

/// No key reads or writes elsewhere.
pub async fn keys_cannot_leave_the_store(s: Subject<dyn Blobs>) {
    let long = "a/".repeat(600);
    let keys = [
        "",
        "/",
        "/etc/passwd",
        "..",
        "a/../b",
        "../a",
        "a/..",
        "a/./b",
        ".",
        "a//b",
        "a/",
        "a b",
        "a\\b",
        "a\0b",
        "a%2e%2e/b",
        "\u{e9}",
        "a?b",
        "a\nb",
        &long,
    ];
    for key in keys {
        let refused = |error: BlobError| matches!(error, BlobError::InvalidKey(_));
        let put = s.it.put(key, Bytes::new(), "text/plain", None).await;
        assert!(put.is_err_and(refused), "{key:?}");
        assert!(s.it.get(key, MAX).await.is_err_and(refused), "{key:?}");
        assert!(s.it.info(key).await.is_err_and(refused), "{key:?}");
        assert!(s.it.delete(key).await.is_err_and(refused), "{key:?}");
        assert!(s.it.link(key, Duration::from_secs(1)).await.is_err_and(refused), "{key:?}");
        assert!(s.it.upload_link(key, 1, Duration::from_secs(1)).await.is_err_and(refused), "{key:?}");
    }
}

/// A link tells when it ends, and is an address.
pub async fn links_expire_when_they_say(s: Subject<dyn Blobs>) {
    let key = "acc_1/out/link";
    s.it.put(key, Bytes::from_static(b"x"), "text/plain", None).await.unwrap();
    let keep = Duration::from_mins(5);
    for link in [s.it.link(key, keep).await.unwrap(), s.it.upload_link(key, 10, keep).await.unwrap()] {
        assert!(link.url.starts_with("http"), "{}", link.url);
        let left = link.expires_at.duration_since(s.clock.now());
        assert!((290..=310).contains(&left.as_secs()), "{left:?}");
    }
}
