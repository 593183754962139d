//! Bodies that are too large, too slow, or cut short.

use std::io::Write;
use std::time::Duration;

use axum::body::Body;
use egress::{EgressError, Stage};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::{StreamExt, TryStreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::support::{OUTSIDE, Server, client, text};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_gzip_bomb_is_cut_at_the_cap() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..64 {
        encoder.write_all(&vec![0; MIB]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let server = Server::start(OUTSIDE, move |_| {
        let mut response = text(bomb.clone());
        let gzip = http::HeaderValue::from_static("gzip");
        response.headers_mut().insert("content-encoding", gzip);
        response
    })
    .await;
    let get = || client().get(server.url("/")).max_response_bytes(MIB as u64);
    let capped = get().send().await.unwrap().bytes_capped().await.unwrap();
    assert_eq!((capped.bytes.len(), capped.truncated), (MIB, true));
    let error = get().send().await.unwrap().bytes().await.unwrap_err();
    assert_eq!(error.code(), "too_large");
    let parts: Vec<_> = get().send().await.unwrap().stream().collect().await;
    let good: usize = parts.iter().flatten().map(bytes::Bytes::len).sum();
    assert!(good <= MIB, "{good}");
    assert!(matches!(parts.last(), Some(Err(EgressError::TooLarge { .. }))));
}

#[tokio::test]
async fn the_cap_is_exact() {
    let server = Server::start(OUTSIDE, |_| text("0123456789")).await;
    for (cap, kept, truncated) in [(9, "012345678", true), (10, "0123456789", false)] {
        let get = || client().get(server.url("/")).max_response_bytes(cap);
        let capped = get().send().await.unwrap().bytes_capped().await.unwrap();
        assert_eq!((&capped.bytes[..], capped.truncated), (kept.as_bytes(), truncated));
        let whole = get().send().await.unwrap().bytes().await;
        assert_eq!(whole.is_err(), truncated);
        let parts: Result<Vec<_>, _> = get().send().await.unwrap().stream().try_collect().await;
        assert_eq!(parts.is_err(), truncated);
    }
}

#[tokio::test]
async fn a_body_that_never_ends_times_out() {
    let server = Server::start(OUTSIDE, |_| {
        let first = futures::stream::iter([Ok::<_, std::io::Error>("a")]);
        text(Body::from_stream(first.chain(futures::stream::pending())))
    })
    .await;
    let short = Duration::from_millis(200);
    let requests =
        [client().get(server.url("/")).timeout(short), client().get(server.url("/")).idle_timeout(short)];
    for request in requests {
        let error = request.send().await.unwrap().bytes().await.unwrap_err();
        let EgressError::Timeout { stage, after, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((stage, after), (Stage::Reading, short));
    }
}

/// A server that answers each connection with `answer` and then keeps it open.
async fn raw(answer: Vec<u8>, close: bool) -> (Url, tokio::task::JoinHandle<TcpStream>) {
    let listener = TcpListener::bind((OUTSIDE, 0)).await.unwrap();
    let url = format!("http://{}/p?key=canary", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = [0; 4096];
        let read = socket.read(&mut head).await.unwrap();
        assert!(read > 0);
        // The client may hang up before all is written: that is its right.
        let _ = socket.write_all(&answer).await;
        if close {
            let _ = socket.shutdown().await;
        }
        socket
    });
    (url.parse().unwrap(), task)
}

#[tokio::test]
async fn a_head_that_never_comes_times_out() {
    let (url, _task) = raw(Vec::new(), false).await;
    let request = client().get(url).timeout(Duration::from_millis(200));
    let error = request.send().await.unwrap_err();
    assert!(matches!(error, EgressError::Timeout { stage: Stage::Waiting, .. }));
    assert!(!error.was_never_sent());
}

#[tokio::test]
async fn broken_answers_are_protocol_errors() {
    let huge = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a".repeat(MIB));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(5000));
    let short = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_owned();
    let noise = "SSH-2.0-OpenSSH_9.9\r\n".to_owned();
    for answer in [huge, many, short, noise, String::new()] {
        let start = answer.chars().take(40).collect::<String>();
        let (url, task) = raw(answer.into_bytes(), true).await;
        let outcome = match client().get(url).send().await {
            Ok(response) => response.bytes().await.map(drop),
            Err(error) => Err(error),
        };
        let error = outcome.expect_err(&start);
        assert_eq!(error.code(), "protocol", "{start}: {error}");
        assert!(!format!("{error} {error:?}").contains("canary"));
        task.abort();
    }
}

#[tokio::test]
async fn dropping_cancels() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec();
    let (url, task) = raw(head, false).await;
    let response = client().get(url).send().await.unwrap();
    let mut socket = task.await.unwrap();
    drop(response);
    // The server sees the end of the connection, as an end or as a reset.
    let end = socket.read(&mut [0; 16]).await;
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}
