//! A local stand-in for a vendor's service, driven by data: it answers what it is told to, in order, and keeps what
//! it was sent, for the tests to compare field by field.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

/// What the stand-in answers.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status, headers and a body. `{base}` in a text stands for the stand-in's own address.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    /// Nothing, ever.
    Never,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.to_string().into_bytes(),
        }
    }

    pub(crate) fn of(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::Answer { status, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
    }

    pub(crate) fn with(self, name: &'static str, value: &str) -> Self {
        match self {
            Self::Answer { status, mut headers, body } => {
                headers.push((name, value.to_owned()));
                Self::Answer { status, headers, body }
            }
            Self::Never => Self::Never,
        }
    }
}

/// A running stand-in. It stops when it is dropped.
pub(crate) struct StandIn {
    /// `http://127.0.0.1:PORT`
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Value>>>,
    server: tokio::task::JoinHandle<()>,
}

impl StandIn {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script = Script {
            base: base.clone(),
            replies: Arc::new(Mutex::new(replies.into())),
            seen: Arc::clone(&seen),
        };
        let app = Router::new().fallback(answer).with_state(script);
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { base, seen, server }
    }

    /// Every request so far: `method`, `path`, `query`, `headers` and `body`.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.abort();
    }
}

#[derive(Clone)]
struct Script {
    base: String,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    seen: Arc<Mutex<Vec<Value>>>,
}

async fn answer(State(script): State<Script>, request: Request) -> Response {
    let seen = read(request).await;
    script.seen.lock().unwrap().push(seen);
    let reply = script.replies.lock().unwrap().pop_front();
    let Some(reply) = reply else {
        return Response::builder().status(418).body(Body::from("nothing more was to be asked")).unwrap();
    };
    match reply {
        Reply::Never => std::future::pending().await,
        Reply::Answer { status, headers, body } => {
            let body = match String::from_utf8(body) {
                Ok(text) => text.replace("{base}", &script.base).into_bytes(),
                Err(bytes) => bytes.into_bytes(),
            };
            let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(Body::from(body)).unwrap()
        }
    }
}

async fn read(request: Request) -> Value {
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 8 * 1024 * 1024).await.unwrap();
    let content_type = text_of(&head.headers, "content-type");
    let body = match content_type.split(';').next().unwrap_or_default() {
        "application/json" => serde_json::from_slice(&bytes).unwrap(),
        "application/x-www-form-urlencoded" => pairs(std::str::from_utf8(&bytes).unwrap()),
        _ if bytes.is_empty() => Value::Null,
        _ => json!(String::from_utf8_lossy(&bytes)),
    };
    let headers: Map<_, _> = head
        .headers
        .keys()
        .map(|name| (name.to_string(), json!(text_of(&head.headers, name.as_str()))))
        .collect();
    json!({
        "method": head.method.as_str(),
        "path": head.uri.path(),
        "query": pairs(head.uri.query().unwrap_or_default()),
        "headers": headers,
        "body": body,
    })
}

fn text_of(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn pairs(text: &str) -> Value {
    let pairs = url::form_urlencoded::parse(text.as_bytes());
    Value::Object(pairs.map(|(name, value)| (name.into_owned(), json!(value))).collect())
}
