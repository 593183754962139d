//! Servers that remember what they were sent, and names with scripted answers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use egress::{Client, Policy, Resolve, Resolving};
use http::{HeaderMap, Method};
use tokio::net::TcpListener;
use url::Url;

/// Plays the public internet: on the list of allowed addresses.
pub(crate) const OUTSIDE: &str = "127.0.0.2";
/// Plays the inside: not on the list.
pub(crate) const INSIDE: &str = "127.0.0.3";

/// One request as a server got it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) peer: SocketAddr,
}

/// A running HTTP server.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Starts a server on `ip` that answers with what `answer` makes of a request.
    pub(crate) async fn start(
        ip: &str,
        answer: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let app = Router::new().fallback(move |request: Request| {
            let (answer, log) = (answer.clone(), Arc::clone(&log));
            async move {
                let request = read(request).await;
                log.lock().unwrap().push(request.clone());
                answer(&request)
            }
        });
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, seen, task }
    }

    /// A URL of this server.
    pub(crate) fn url(&self, path: &str) -> Url {
        self.url_as(&self.address.ip().to_string(), path)
    }

    /// A URL of this server under another host name.
    pub(crate) fn url_as(&self, host: &str, path: &str) -> Url {
        let port = self.address.port();
        Url::parse(&format!("http://{host}:{port}{path}")).unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(request: Request) -> Seen {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<axum::extract::ConnectInfo<SocketAddr>>().unwrap().0;
    Seen {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        peer,
    }
}

/// A plain answer.
pub(crate) fn text(body: impl Into<Body>) -> Response {
    Response::new(body.into())
}

/// A redirect.
pub(crate) fn redirect(status: u16, location: &str) -> Response {
    Response::builder().status(status).header("location", location).body(Body::empty()).unwrap()
}

/// A client that may reach [`OUTSIDE`] and nothing else on this machine.
pub(crate) fn client() -> Client {
    Client::new(Policy::parse(OUTSIDE).unwrap())
}

/// Names with scripted answers: each look-up takes the next, the last one stays.
#[derive(Clone, Default)]
pub(crate) struct Names {
    answers: Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    pub(crate) fn with(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|a| a.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.answers.lock().unwrap().insert(name.into(), answers);
        self
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn client(&self, allow: &str) -> Client {
        Client::builder(Policy::parse(allow).unwrap()).resolver(self.clone()).build()
    }
}

impl Resolve for Names {
    fn resolve(&self, host: &str) -> Resolving {
        self.asked.lock().unwrap().push(host.to_owned());
        let mut known = self.answers.lock().unwrap();
        let answer = match known.get_mut(host) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(std::io::Error::other("no such name")),
        };
        Box::pin(std::future::ready(answer))
    }
}
