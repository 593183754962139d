//! A proxy that passes requests on, except for the faults a test has laid in its way.

use crate::http::forward;
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::{net::TcpListener, sync::Semaphore, task::JoinHandle};

/// What happens to one request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is answered so, and goes nowhere.
    Answer {
        /// The status.
        status: u16,
        /// The body, as the service writes its errors.
        body: Value,
    },
    /// The connection breaks before the service sees it.
    ResetBefore,
    /// The service does it, and the connection breaks before the answer.
    ResetAfter,
    /// Of a batch, the service does so many and gives the rest back.
    Unprocessed(usize),
}

impl Fault {
    /// A service's error with a code, as the JSON protocols write it.
    pub fn error(status: u16, code: &str) -> Self {
        let body = json!({"__type": code, "message": format!("{code}, says the test")});
        Self::Answer { status, body }
    }
}

/// The proxy. It ends when dropped.
#[derive(Debug)]
pub struct FaultProxy {
    url: String,
    script: Arc<Mutex<Script>>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Script {
    faults: Vec<(String, Fault)>,
    seen: Vec<String>,
}

impl FaultProxy {
    /// Starts a proxy before the server at `target`.
    pub async fn start(target: &str) -> Result<Self> {
        Self::start_with(target, usize::MAX >> 3).await
    }

    /// Starts a proxy that passes on one request at a time. moto's threads do not isolate two writes of an
    /// item from each other as DynamoDB does.
    pub async fn start_serial(target: &str) -> Result<Self> {
        Self::start_with(target, 1).await
    }

    async fn start_with(target: &str, at_once: usize) -> Result<Self> {
        let turns = Arc::new(Semaphore::new(at_once));
        let target: Arc<str> = target.trim_start_matches("http://").trim_end_matches('/').into();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let script = Arc::<Mutex<Script>>::default();
        let scripted = script.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = Server { target: target.clone(), turns: turns.clone() };
                let script = scripted.clone();
                let service = service_fn(move |request| handle(server.clone(), script.clone(), request));
                // A handler's error ends the connection without an answer: that is the fault.
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        Ok(Self { url, script, accepting })
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lays a fault in the way of the next request for an operation (`PutItem`; for S3, the method). Several
    /// for one operation are met in order.
    pub fn fail(&self, operation: &str, fault: Fault) {
        self.script().faults.push((operation.to_owned(), fault));
    }

    /// How many requests for an operation have come.
    pub fn count(&self, operation: &str) -> usize {
        self.script().seen.iter().filter(|seen| *seen == operation).count()
    }

    /// How many faults nobody has met yet.
    pub fn left(&self) -> usize {
        self.script().faults.len()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// What stands behind the proxy.
#[derive(Clone)]
struct Server {
    target: Arc<str>,
    turns: Arc<Semaphore>,
}

impl Server {
    async fn pass_on(&self, mut request: Request<Full<Bytes>>) -> Result<Response<Bytes>> {
        let _turn = self.turns.acquire().await?;
        request.headers_mut().remove(header::CONTENT_LENGTH);
        forward(&self.target, request).await
    }
}

async fn handle(
    server: Server,
    script: Arc<Mutex<Script>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let operation = match head.headers.get("x-amz-target").and_then(|t| t.to_str().ok()) {
        Some(target) => target.rsplit('.').next().unwrap_or(target).to_owned(),
        None => head.method.to_string(),
    };
    let fault = {
        let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
        script.seen.push(operation.clone());
        let met = script.faults.iter().position(|(name, _)| *name == operation);
        met.map(|at| script.faults.remove(at).1)
    };
    let pass_on = async |body: Bytes| server.pass_on(Request::from_parts(head, Full::new(body))).await;
    match fault {
        None => Ok(pass_on(body).await?.map(Full::new)),
        Some(Fault::ResetBefore) => bail!("reset"),
        Some(Fault::ResetAfter) => {
            pass_on(body).await?;
            bail!("reset")
        }
        Some(Fault::Answer { status, body }) => Ok(Response::builder()
            .status(StatusCode::from_u16(status)?)
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.0")
            .body(Full::new(body.to_string().into()))?),
        Some(Fault::Unprocessed(done)) => {
            let (forwarded, rest) = split(&operation, &body, done)?;
            let (mut head, answer) = pass_on(forwarded).await?.into_parts();
            let mut answer: Value = serde_json::from_slice(&answer)?;
            let name = if operation == "BatchGetItem" { "UnprocessedKeys" } else { "UnprocessedItems" };
            answer[name] = rest;
            head.headers.remove(header::CONTENT_LENGTH);
            Ok(Response::from_parts(head, Full::new(answer.to_string().into())))
        }
    }
}

/// Cuts a batch in two: what goes on, and what is given back.
fn split(operation: &str, body: &[u8], done: usize) -> Result<(Bytes, Value)> {
    let mut request: Value = serde_json::from_slice(body)?;
    let tables = request["RequestItems"].as_object_mut().context("not a batch")?;
    let mut rest = serde_json::Map::new();
    for (table, items) in tables {
        let list = if operation == "BatchGetItem" { &mut items["Keys"] } else { &mut *items };
        let list = list.as_array_mut().context("not a batch")?;
        let back = Value::Array(list.split_off(done.min(list.len())));
        let back = if operation == "BatchGetItem" {
            let mut again = items.clone();
            again["Keys"] = back;
            again
        } else {
            back
        };
        rest.insert(table.clone(), back);
    }
    Ok((request.to_string().into(), rest.into()))
}
