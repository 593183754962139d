//! A language model's service that says what a test has written down, byte for byte.
//!
//! It serves `POST /v1/chat/completions` on a port of its own. Each request takes the next [`Reply`] of the script; the
//! last one is repeated. What was asked is kept. For tests and benches alone.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot set up its service fails"
)]

mod chunks;

pub use chunks::{call, calls, finish, json, text, usage};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, Response},
    routing::post,
};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use serde_json::Value;
use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

/// How long a connection lives on after its last bytes, before it breaks.
const FLUSHED: Duration = Duration::from_millis(50);

/// One part of a reply's body.
#[derive(Clone, Debug)]
pub enum Part {
    /// These bytes.
    Bytes(Bytes),
    /// Nothing more until the test says so.
    Wait(Arc<Notify>),
    /// The connection breaks.
    Die,
}

/// What a request is answered with.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    parts: Vec<Part>,
}

impl Reply {
    /// A stream of chunks as services send it, ended by `[DONE]`.
    pub fn stream(chunks: &[Value]) -> Self {
        Self::open_stream(chunks).raw("data: [DONE]\n\n")
    }

    /// The same without its end.
    pub fn open_stream(chunks: &[Value]) -> Self {
        let empty =
            Self { status: 200, headers: vec![("content-type", "text/event-stream".into())], parts: vec![] };
        chunks.iter().fold(empty, Self::chunk)
    }

    /// A stream that is written out by hand.
    pub fn raw_stream(text: &str) -> Self {
        Self::open_stream(&[]).raw(text)
    }

    /// A JSON document.
    pub fn document(status: u16, body: &Value) -> Self {
        Self::body(status, "application/json", &body.to_string())
    }

    /// Any body.
    pub fn body(status: u16, media_type: &str, body: &str) -> Self {
        let headers = vec![("content-type", media_type.to_owned())];
        Self { status, headers, parts: vec![] }.raw(body)
    }

    /// The same with a header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same with one more chunk.
    pub fn chunk(self, chunk: &Value) -> Self {
        self.raw(&format!("data: {chunk}\n\n"))
    }

    /// The same with more bytes.
    pub fn raw(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// The same with bytes that need not be whole characters.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        self.part(Part::Bytes(Bytes::copy_from_slice(bytes)))
    }

    /// The same with a wait.
    pub fn wait(self, until: &Arc<Notify>) -> Self {
        self.part(Part::Wait(until.clone()))
    }

    /// The same, broken off here.
    pub fn die(self) -> Self {
        self.part(Part::Die)
    }

    fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    fn response(self) -> Response<Body> {
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let parts = stream::iter(self.parts).then(|part| async move {
            match part {
                Part::Bytes(bytes) => Ok(bytes),
                Part::Wait(until) => {
                    until.notified().await;
                    Ok(Bytes::new())
                }
                Part::Die => {
                    // What was written before is on its way by then: a broken connection takes along what is not.
                    tokio::time::sleep(FLUSHED).await;
                    Err(io::Error::other("scripted death"))
                }
            }
        });
        response.body(Body::from_stream(parts)).unwrap()
    }
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The body.
    pub body: Value,
    /// The `Authorization` header.
    pub authorization: Option<String>,
}

/// The service. It ends when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    url: String,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
}

impl ModelServer {
    /// Starts a service with a script.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let script = Mutex::new(script.into_iter().collect());
        let shared = Arc::new(Shared { script, asked: Mutex::default() });
        let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, shared, serving }
    }

    /// The base address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = serde_json::from_slice(&body).unwrap();
    shared.asked.lock().unwrap().push(Asked { body, authorization });
    let reply = {
        let mut script = shared.script.lock().unwrap();
        match script.len() {
            0 => Reply::body(500, "text/plain", "the script is empty"),
            1 => script[0].clone(),
            _ => script.pop_front().unwrap(),
        }
    };
    reply.response()
}
