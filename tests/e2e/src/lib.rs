//! The harness of end-to-end tests: the real router of the gateway on a free port over a directory of its own.
//!
//! ```no_run
//! # async fn example() {
//! use e2e::Haft;
//! let haft = Haft::start().await;
//! let tools = haft.admin().get("/tools").await.expect(200);
//! haft.stop().await;
//! # }
//! ```
//!
//! Tests speak HTTP and nothing else; what HTTP cannot make (a second account) comes from the services behind it.
#![expect(clippy::expect_used, clippy::panic, reason = "a harness that cannot go on fails its test")]

use apps::keys::NewKey;
use domain::{AccountId, Role};
use haft::{data::DataDir, serve::Server};
use http::{HeaderMap, Method, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path, sync::Arc};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};

/// A running gateway.
pub struct Haft {
    url: String,
    admin: Client,
    keys: Arc<apps::keys::Keys>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
    data: TempDir,
}

/// Who asks: an address and, mostly, a key.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<String>,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body's bytes.
    pub bytes: Vec<u8>,
}

impl Haft {
    /// Starts a gateway over a new directory.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts one with variables of its environment.
    pub async fn start_with(variables: &[(&str, &str)]) -> Self {
        let data = TempDir::new().expect("a temporary directory");
        Self::start_in(data, variables).await
    }

    /// Starts one over a directory that another may have used before.
    pub async fn start_in(data: TempDir, variables: &[(&str, &str)]) -> Self {
        let environment: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let address = "127.0.0.1:0".parse().expect("an address");
        let server = Server::bind(address, &DataDir::new(data.path()), &environment).await;
        let server = server.expect("the gateway starts");
        let url = server.url().to_owned();
        let admin = Client::new(&url, Some(server.app().admin_key.expose_secret().to_owned()));
        let keys = server.app().services.keys.clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(async move {
            let ended = async move {
                let _ = stopped.await;
            };
            server.run(ended).await.expect("the gateway ends well");
        });
        Self { url, admin, keys, stop, running, data }
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its directory.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// The first account's admin.
    pub fn admin(&self) -> &Client {
        &self.admin
    }

    /// Someone without a key.
    pub fn nobody(&self) -> Client {
        Client { key: None, ..self.admin.clone() }
    }

    /// Someone with this key.
    pub fn with_key(&self, key: &str) -> Client {
        Client { key: Some(key.to_owned()), ..self.admin.clone() }
    }

    /// Someone of the first account with this role.
    pub async fn role(&self, role: Role) -> Client {
        let body = serde_json::json!({"name": role.as_str(), "role": role});
        let made = self.admin.post("/keys", &body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
        self.with_key(made.json()["key"].as_str().expect("a key"))
    }

    /// The admin of another account.
    pub async fn stranger(&self) -> Client {
        let new = NewKey { name: "stranger".into(), role: Role::Admin, expires_at: None, app_id: None };
        let (_, key): (_, SecretString) =
            self.keys.create(&AccountId::generate(), new).await.expect("a key of another account");
        self.with_key(key.expose_secret())
    }

    /// Ends it as a signal would, waits for its end, and gives its directory.
    pub async fn stop(self) -> TempDir {
        let _ = self.stop.send(());
        self.running.await.expect("the gateway ends without a panic");
        self.data
    }
}

impl Client {
    #[expect(clippy::disallowed_methods, reason = "tests call their own gateway")]
    fn new(url: &str, key: Option<String>) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("an HTTP client");
        Self { http, url: url.to_owned(), key }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    /// POST.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    /// PUT.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Any request.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(body);
        }
        Self::answer(request).await
    }

    /// A request to be changed before it is sent with [`Client::answer`].
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request.
    pub async fn answer(request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.expect("a whole answer").to_vec();
        Answer { status, headers, bytes }
    }
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|e| panic!("{} is not JSON ({e}): {text}", self.status))
    }

    /// The body as JSON, where the status must be this one.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.bytes));
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// The stable code of a refusal, which must be a whole problem document with this status.
    #[track_caller]
    pub fn problem(&self, status: u16) -> String {
        let problem = self.expect(status);
        let kind = self.headers.get("content-type").and_then(|value| value.to_str().ok());
        assert_eq!(kind, Some("application/problem+json"), "{problem}");
        assert_eq!(problem["type"], "about:blank", "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert!(problem["title"].as_str().is_some_and(|t| !t.is_empty()), "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|t| !t.is_empty()), "{problem}");
        let id = self.headers.get("x-request-id").and_then(|value| value.to_str().ok());
        assert_eq!(problem["request_id"].as_str(), id, "{problem}");
        problem["code"].as_str().expect("a code").to_owned()
    }
}
