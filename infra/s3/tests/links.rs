//! Presigned addresses, used as a stranger uses them; and what goes wrong on the way.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod support;

use bytes::Bytes;
use domain::ports::{BlobError, Blobs as _};
use infra_s3::S3Blobs;
use moto::{Fault, FaultProxy, Moto};
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn anyone_with_a_link_reads_the_blob() {
    let moto = Moto::shared().unwrap();
    let blobs = S3Blobs::new(&moto.config(), &support::create_bucket(&moto.config()).await);
    blobs.put("acc/out/1.txt", Bytes::from_static(b"hello"), "text/plain", None).await.unwrap();
    let link = blobs.link("acc/out/1.txt", HOUR).await.unwrap();
    assert!(link.url.contains("X-Amz-Expires=3600"), "{}", link.url);
    let reply = moto::send("GET", &link.url, &[], "").await.unwrap();
    assert_eq!((reply.status().as_u16(), &reply.body()[..]), (200, &b"hello"[..]));
    assert_eq!(reply.headers()["content-type"], "text/plain");
    let long = blobs.link("acc/out/1.txt", HOUR * 24 * 30).await.unwrap();
    assert!(long.url.contains("X-Amz-Expires=604800"), "seven days are the most: {}", long.url);
}

#[tokio::test]
async fn anyone_with_an_upload_link_writes_the_blob() {
    let moto = Moto::shared().unwrap();
    let blobs = S3Blobs::new(&moto.config(), &support::create_bucket(&moto.config()).await);
    let link = blobs.upload_link("acc/up/1", 100, HOUR).await.unwrap();
    assert!(!link.url.contains("checksum"), "a stranger sends no checksum: {}", link.url);
    let reply = moto::send("PUT", &link.url, &[("content-type", "audio/wav")], "sound").await.unwrap();
    assert_eq!(reply.status().as_u16(), 200, "{reply:?}");
    let blob = blobs.get("acc/up/1", 100).await.unwrap();
    assert_eq!((blob.bytes, blob.info.content_type.as_str()), (Bytes::from_static(b"sound"), "audio/wav"));

    let large = vec![0_u8; 5000];
    moto::send("PUT", &link.url, &[], large).await.unwrap();
    let read = blobs.get("acc/up/1", 100).await;
    assert!(matches!(read, Err(BlobError::TooLarge { limit: 100 })), "{read:?}");
}

#[tokio::test]
async fn faults_on_the_way_are_tried_again_or_told() {
    let moto = Moto::shared().unwrap();
    let proxy = FaultProxy::start(moto.url()).await.unwrap();
    let bucket = support::create_bucket(&moto.config()).await;
    let blobs = S3Blobs::new(&moto::config(proxy.url()), &bucket);
    for fault in [Fault::ResetBefore, Fault::ResetAfter] {
        proxy.fail("PUT", fault.clone());
        proxy.fail("GET", fault);
        blobs.put("acc/it", Bytes::from_static(b"x"), "text/plain", None).await.unwrap();
        assert_eq!(blobs.get("acc/it", 10).await.unwrap().bytes, "x");
    }
    assert_eq!(proxy.left(), 0, "every fault was met");
    let missing = S3Blobs::new(&moto.config(), "no-such-bucket-here");
    let error = missing.put("acc/it", Bytes::new(), "text/plain", None).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("no-such-bucket-here") && cause.contains("create it"), "{cause}");
}
