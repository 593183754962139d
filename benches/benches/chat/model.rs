//! A model whose tokens are the times at which it wrote them.

use anyhow::Context as _;
use axum::{Router, body::Body, extract::State, response::Response, routing::post};
use egress::{Client, Policy};
use futures::{StreamExt as _, stream};
use http::header;
use std::{
    convert::Infallible,
    sync::OnceLock,
    time::{Duration, Instant},
};
use tokio::net::TcpListener;
use url::Url;

/// The pace of tokens.
const PACE: Duration = Duration::from_millis(20);

pub(crate) struct Model {
    url: String,
    http: Client,
}

impl Model {
    pub(crate) async fn start(tokens: usize) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(tokens);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, http: Client::new(Policy::strict().with_loopback(true)) })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The time to the first token of a call without Haft.
    pub(crate) async fn first_token(&self, body: &str) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let mut response = self.call(body).await?;
        response.chunk().await?.context("no token")?;
        Ok(started.elapsed())
    }

    /// How long each token took.
    pub(crate) async fn delays(&self, body: &str) -> anyhow::Result<Vec<Duration>> {
        let mut response = self.call(body).await?;
        let mut delays = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            let text = String::from_utf8_lossy(&chunk).into_owned();
            delays.extend(
                text.split("\"content\":\"").skip(1).filter_map(|rest| delay(rest.split('"').next()?)),
            );
        }
        Ok(delays)
    }

    async fn call(&self, body: &str) -> anyhow::Result<egress::Response> {
        let url = Url::parse(&format!("{}/chat/completions", self.url))?;
        let json = http::HeaderValue::from_static("application/json");
        let request = self.http.post(url).header(header::CONTENT_TYPE, json).body(body.to_owned());
        Ok(request.timeout(Duration::from_secs(60)).send().await?)
    }
}

/// How long ago a token was written.
pub(crate) fn delay(token: &str) -> Option<Duration> {
    let written = Duration::from_nanos(token.trim().parse().ok()?);
    Some(epoch().elapsed().saturating_sub(written))
}

async fn answer(State(tokens): State<usize>) -> Response {
    let chunks = stream::iter(0..tokens).then(|i| async move {
        if i > 0 {
            tokio::time::sleep(PACE).await;
        }
        let now = epoch().elapsed().as_nanos();
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{now}\"}}}}]}}\n\n")
    });
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let chunks = chunks.chain(stream::iter([end.to_owned()])).map(Ok::<_, Infallible>);
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("text/event-stream"));
    response
}

fn epoch() -> &'static Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now)
}
