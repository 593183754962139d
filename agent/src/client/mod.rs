//! OpenAI-compatible chat completions over any base address.
//!
//! | module | purpose |
//! |---|---|
//! | `request` | a turn as the body that is sent |
//! | `delta` | chunks of an answer, in every form they are seen in, to text and tool calls |
//! | `stream` | the bytes of an answer to events |
//! | `refusal` | what a service says when it refuses |
//!
//! Bodies are read as loose JSON on purpose: services that call themselves compatible differ in nearly every field.

mod delta;
mod refusal;
mod request;
mod stream;

use async_trait::async_trait;
use bytes::Bytes;
use domain::ports::{ChatError, ChatEvent, ChatModel, ChatRequest, ChatStream, ModelEndpoint, ModelFactory};
use egress::EgressError;
use futures::StreamExt as _;
use http::{HeaderName, HeaderValue, header};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use url::Url;

/// How often a turn is begun anew before anything of it was shown.
const ATTEMPTS: u32 = 3;
/// The wait before the second attempt; it doubles.
const BACKOFF: Duration = Duration::from_millis(250);
/// The longest wait that a service may ask for.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The largest answer, in bytes on the wire.
const MAX_ANSWER: u64 = 32 * 1024 * 1024;

/// Makes clients of OpenAI-compatible services.
#[derive(Clone, Debug)]
pub struct OpenAiModels {
    http: egress::Client,
}

impl OpenAiModels {
    /// Clients that connect through `http`.
    pub fn new(http: egress::Client) -> Self {
        Self { http }
    }
}

impl ModelFactory for OpenAiModels {
    fn open(&self, endpoint: ModelEndpoint) -> Result<Arc<dyn ChatModel>, ChatError> {
        let url = completions_url(&endpoint.base_url)?;
        self.http.check_url(&url).map_err(|error| of_egress(&error))?;
        Ok(Arc::new(OpenAiModel {
            http: self.http.clone(),
            url,
            endpoint,
            plain_stream: AtomicBool::new(false),
        }))
    }
}

/// One model of one service.
struct OpenAiModel {
    http: egress::Client,
    url: Url,
    endpoint: ModelEndpoint,
    /// The service knows no `stream_options`: learnt from its refusal.
    plain_stream: AtomicBool,
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// Why an attempt gave nothing, and when to try again.
struct Failure {
    error: ChatError,
    wait: Option<Duration>,
}

impl From<ChatError> for Failure {
    fn from(error: ChatError) -> Self {
        Self { error, wait: None }
    }
}

#[async_trait]
impl ChatModel for OpenAiModel {
    async fn chat(&self, request: ChatRequest) -> Result<ChatStream, ChatError> {
        let mut attempt = 1;
        let mut backoff = BACKOFF;
        loop {
            let with_usage = !self.plain_stream.load(Ordering::Relaxed);
            let body = request::body(&self.endpoint, &request, with_usage);
            let failure = match self.attempt(body).await {
                Ok(stream) => return Ok(stream),
                Err(failure) => failure,
            };
            if with_usage && refusal::names_stream_options(&failure.error) {
                self.plain_stream.store(true, Ordering::Relaxed);
                continue;
            }
            if attempt == ATTEMPTS || !failure.error.is_transient() {
                return Err(failure.error);
            }
            tracing::debug!(model = %self.endpoint.model, attempt, error = %failure.error, "a turn is begun anew");
            tokio::time::sleep(failure.wait.unwrap_or(backoff).min(MAX_WAIT)).await;
            attempt += 1;
            backoff *= 2;
        }
    }
}

impl OpenAiModel {
    /// One exchange up to the first event. What fails before that may be tried again: nothing was shown.
    async fn attempt(&self, body: Bytes) -> Result<ChatStream, Failure> {
        let json = HeaderValue::from_static("application/json");
        let accept = HeaderValue::from_static("text/event-stream, application/json");
        let mut request = self
            .http
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, json)
            .header(header::ACCEPT, accept)
            .idle_timeout(self.endpoint.timeout)
            .max_response_bytes(MAX_ANSWER)
            .max_redirects(0)
            .body(body);
        if let Some(key) = &self.endpoint.api_key {
            request = request.bearer(key);
        }
        let response = request.send().await.map_err(|error| of_egress(&error))?;
        if !response.status().is_success() {
            let wait = retry_after(response.headers());
            let error = refusal::read(response, self.endpoint.api_key.as_ref()).await;
            return Err(Failure { error, wait });
        }
        let mut events = stream::events(response, self.endpoint.api_key.clone());
        match events.next().await {
            Some(Ok(first)) => Ok(after(first, events)),
            Some(Err(error)) => Err(error.into()),
            None => Err(ChatError::Broken("it is empty".into()).into()),
        }
    }
}

fn after(first: ChatEvent, events: ChatStream) -> ChatStream {
    futures::stream::iter([Ok(first)]).chain(events).boxed()
}

/// The address of chat completions below a base address.
fn completions_url(base: &str) -> Result<Url, ChatError> {
    const PATH: &str = "/chat/completions";
    let base = base.trim().trim_end_matches('/');
    let text = if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") };
    Url::parse(&text)
        .map_err(|error| ChatError::Unreachable(format!("`base_url` is not an address: {error}")))
}

/// What the guard and the network say, in the port's words.
pub(crate) fn of_egress(error: &EgressError) -> ChatError {
    match error {
        EgressError::Blocked(blocked) => ChatError::Blocked(blocked.to_string()),
        EgressError::InvalidUrl { .. } => ChatError::Blocked(error.to_string()),
        EgressError::Timeout { .. } => ChatError::Timeout,
        EgressError::TooLarge { .. } | EgressError::Protocol { .. } => ChatError::Broken(error.to_string()),
        other => ChatError::Unreachable(other.to_string()),
    }
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let millis = HeaderName::from_static("retry-after-ms");
    let number = |name: &HeaderName| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number(&millis).map(|ms| ms / 1000.0).or_else(|| number(&header::RETRY_AFTER))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_completions_is_found_below_any_base() {
        for (base, wanted) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
            ("http://localhost:11434/v1/chat/completions", "http://localhost:11434/v1/chat/completions"),
            (
                "https://example.com/compatible-mode/v1 ",
                "https://example.com/compatible-mode/v1/chat/completions",
            ),
        ] {
            assert_eq!(completions_url(base).unwrap().as_str(), wanted);
        }
        assert!(completions_url("not an address").is_err());
    }
}
