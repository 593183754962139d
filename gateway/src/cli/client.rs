//! `Api`: the public HTTP API, called over the network or in this process. No command knows which.

use super::{args::Global, failure::Failure, screen};
use crate::{app::App, data::DataDir};
use axum::{Router, body::Body};
use boot::{Config, Defaults, Environment};
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use http_kit::{LogFormat, ProblemDocument};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::time::Duration;
use tower::ServiceExt as _;
use url::{Host, Url};

/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// How many items of a list are read.
const MAX_ITEMS: usize = 100_000;
/// What stands in a path segment as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The API, with a key.
pub(crate) struct Api {
    reached: Reached,
    key: SecretString,
}

enum Reached {
    Server { url: Url, client: reqwest::Client },
    Here { router: Router, app: Box<App> },
}

impl Api {
    /// Finds the server that the options name or that holds the data directory; else opens the directory here.
    pub(crate) async fn connect(global: &Global, environment: &dyn Environment) -> Result<Self, Failure> {
        let data = DataDir::new(&global.data);
        let key = environment.get("HAFT_API_KEY").map(SecretString::from);
        if let Some(url) = &global.url {
            return Self::named_server(url, key, &data);
        }
        if let Some(holder) = data.holder() {
            let url = Url::parse(&holder.url).map_err(|e| Failure::new(format!("{}: {e}", holder.url)))?;
            return Self::server(url, key_or_own(key, &data)?);
        }
        Self::here(&data, key, environment).await
    }

    fn named_server(url: &Url, key: Option<SecretString>, data: &DataDir) -> Result<Self, Failure> {
        if key.is_none() && !is_this_machine(url) {
            let message =
                format!("{url} is another machine, and the key of this data directory is not sent there");
            return Err(Failure::new(message).hint("set HAFT_API_KEY to a key of that server"));
        }
        Self::server(url.clone(), key_or_own(key, data)?)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the command line calls the server that its user names; the egress guard is for what tools call"
    )]
    fn server(url: Url, key: SecretString) -> Result<Self, Failure> {
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_mins(11))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|e| Failure::new(format!("no HTTP client can be made: {e}")))?;
        Ok(Self { reached: Reached::Server { url, client }, key })
    }

    async fn here(
        data: &DataDir,
        key: Option<SecretString>,
        environment: &dyn Environment,
    ) -> Result<Self, Failure> {
        let defaults = Defaults { data: data.path().to_owned(), loopback_only: true, log: "warn" };
        let config = Config::read(environment, &defaults).map_err(anyhow::Error::from)?;
        http_kit::init_logging(&config.log, LogFormat::Text).map_err(Failure::new)?;
        data.create()?;
        let app = App::open(&config, data).await?;
        let key = key.unwrap_or_else(|| app.admin_key.clone());
        Ok(Self { reached: Reached::Here { router: app.router.clone(), app: Box::new(app) }, key })
    }

    /// The server's address; none when the API is called in this process.
    pub(crate) fn url(&self) -> Option<&Url> {
        match &self.reached {
            Reached::Server { url, .. } => Some(url),
            Reached::Here { .. } => None,
        }
    }

    /// Ends what was opened here.
    pub(crate) async fn close(&self) {
        if let Reached::Here { app, .. } = &self.reached {
            app.close().await;
        }
    }

    /// GET.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send(Method::GET, path, None).await
    }

    /// POST.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// PUT.
    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::PUT, path, Some(body)).await
    }

    /// DELETE.
    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.send(Method::DELETE, path, None).await
    }

    /// Every item of a list.
    pub(crate) async fn list(&self, path: &str) -> Result<Vec<Value>, Failure> {
        let mut items = Vec::new();
        let mut next = Some(String::new());
        while let Some(cursor) = next.take() {
            let join = if path.contains('?') { '&' } else { '?' };
            let after =
                if cursor.is_empty() { String::new() } else { format!("&cursor={}", segment(&cursor)) };
            let mut page = self.get(&format!("{path}{join}limit=1000{after}")).await?;
            if let Some(Value::Array(more)) = page.get_mut("items").map(Value::take) {
                items.extend(more);
            }
            if items.len() < MAX_ITEMS {
                next = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            }
        }
        Ok(items)
    }

    /// Puts a large body where `POST /uploads` says, and gives its `upload_id`.
    pub(crate) async fn upload(&self, bytes: Vec<u8>) -> Result<String, Failure> {
        let upload = self.send(Method::POST, "/uploads", None).await?;
        let url = screen::field(&upload, "url");
        let url =
            Url::parse(&url).map_err(|e| Failure::new(format!("the server gave no upload address: {e}")))?;
        let request = |uri: &str| {
            Request::put(uri)
                .header(header::CONTENT_TYPE, "application/octet-stream")
                .body(Bytes::from(bytes))
                .map_err(|e| Failure::new(e.to_string()))
        };
        match &self.reached {
            Reached::Server { .. } => self.answer(request(url.as_str())?).await?,
            Reached::Here { .. } => self.answer(request(url.path())?).await?,
        };
        Ok(screen::field(&upload, "upload_id"))
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let uri = match &self.reached {
            Reached::Server { url, .. } => format!("{}{path}", url.as_str().trim_end_matches('/')),
            Reached::Here { .. } => path.to_owned(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key.expose_secret()));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let bytes = body.map(ToString::to_string).unwrap_or_default();
        let request = request
            .body(Bytes::from(bytes))
            .map_err(|_| Failure::new("the key in HAFT_API_KEY cannot stand in a header"))?;
        self.answer(request).await
    }

    async fn answer(&self, request: Request<Bytes>) -> Result<Value, Failure> {
        let (status, bytes) = match &self.reached {
            Reached::Server { url, client } => over_network(url, client, request).await?,
            Reached::Here { router, .. } => in_process(router, request).await?,
        };
        if status.is_success() {
            if bytes.is_empty() {
                return Ok(Value::Null);
            }
            return serde_json::from_slice(&bytes)
                .map_err(|e| Failure::new(format!("the answer is not JSON ({e}): is this a haft server?")));
        }
        Err(match serde_json::from_slice::<ProblemDocument>(&bytes) {
            Ok(problem) => problem.into(),
            Err(_) => {
                Failure::new(format!("the server answered with status {status} and no reason: is it haft's?"))
            }
        })
    }
}

async fn over_network(
    url: &Url,
    client: &reqwest::Client,
    request: Request<Bytes>,
) -> Result<(StatusCode, Bytes), Failure> {
    let unreachable = |error: reqwest::Error| {
        Failure::new(format!("the server at {url} does not answer: {}", error.without_url()))
            .hint("see that it runs, or give its address with --url")
    };
    let request = reqwest::Request::try_from(request).map_err(unreachable)?;
    let response = client.execute(request).await.map_err(unreachable)?;
    let status = response.status();
    let body = reqwest::Body::from(response);
    let bytes = Limited::new(body, MAX_ANSWER)
        .collect()
        .await
        .map_err(|e| Failure::new(format!("the answer of {url} could not be read: {e}")))?;
    Ok((status, bytes.to_bytes()))
}

async fn in_process(router: &Router, request: Request<Bytes>) -> Result<(StatusCode, Bytes), Failure> {
    let response = match router.clone().oneshot(request.map(Body::from)).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    let bytes = Limited::new(response.into_body(), MAX_ANSWER)
        .collect()
        .await
        .map_err(|e| Failure::new(format!("the answer could not be read: {e}")))?;
    Ok((status, bytes.to_bytes()))
}

fn key_or_own(key: Option<SecretString>, data: &DataDir) -> Result<SecretString, Failure> {
    if let Some(key) = key {
        return Ok(key);
    }
    data.admin_key()?.ok_or_else(|| {
        Failure::new(format!("there is no key: {} does not exist", data.admin_key_path().display()))
            .hint("set HAFT_API_KEY, or give the server's data directory with --data")
    })
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A text as one segment of a path, or as one value of a query.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}
