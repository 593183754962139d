//! A server that remembers every request and answers what the test has put in line, else an echo.

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    response::Response,
};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

/// A request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query, as on the wire.
    pub(crate) target: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

type Answer = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Response> + Send>> + Send>;

#[derive(Clone, Default)]
struct Shared {
    seen: Arc<Mutex<Vec<Seen>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

pub(crate) struct Upstream {
    pub(crate) url: String,
    shared: Shared,
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let shared = Shared::default();
        let router = Router::new().fallback(handle).with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, shared }
    }

    /// The answer to the next request that has none yet.
    pub(crate) fn then(&self, status: u16, headers: &[(&str, &str)], body: impl Into<Body>) {
        let response = respond(status, headers, body);
        self.then_do(|| async { response });
    }

    /// The same, made when the request is there.
    pub(crate) fn then_do<F: Future<Output = Response> + Send + 'static>(
        &self,
        answer: impl FnOnce() -> F + Send + 'static,
    ) {
        self.shared.answers.lock().unwrap().push_back(Box::new(move || Box::pin(answer())));
    }

    /// What was sent since the last time this was asked.
    pub(crate) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.shared.seen.lock().unwrap())
    }

    /// The one request that was sent since the last time.
    pub(crate) fn one(&self) -> Seen {
        let mut seen = self.take();
        assert_eq!(seen.len(), 1, "{seen:#?}");
        seen.remove(0)
    }
}

pub(crate) fn respond(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let mut response = axum::http::Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body.into()).unwrap()
}

async fn handle(State(shared): State<Shared>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let seen = Seen {
        method: head.method.to_string(),
        target: head.uri.to_string(),
        headers: head.headers,
        body: to_bytes(body, usize::MAX).await.unwrap(),
    };
    let echo = echo(&seen);
    shared.seen.lock().unwrap().push(seen);
    let answer = shared.answers.lock().unwrap().pop_front();
    match answer {
        Some(answer) => answer().await,
        None => respond(200, &[("content-type", "application/json")], echo.to_string()),
    }
}

fn echo(seen: &Seen) -> Value {
    json!({"method": seen.method, "target": seen.target})
}
