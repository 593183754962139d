//! One message to a server, and what its HTTP answer means.

use crate::client::{
    MAX_MESSAGE, OnChange,
    era::Era,
    error::{CallError, excerpt},
    message::{Incoming, RpcError},
};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use egress::Response;
use serde_json::Value;
use std::{
    sync::atomic::{AtomicI64, Ordering::Relaxed},
    time::Duration,
};
use url::Url;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// How much of an HTTP error's body is read.
const MAX_ERROR_BODY: u64 = 64 * 1024;
/// How much a stream of events may bring in all while a request waits on it.
pub(super) const MAX_STREAM: u64 = 4 * MAX_MESSAGE as u64;

/// Where messages go and what they carry along.
pub(crate) struct Wire {
    egress: egress::Client,
    url: Url,
    headers: HeaderMap,
    next_id: AtomicI64,
    on_change: OnChange,
}

/// What a server sent back.
pub(super) enum Reply {
    /// Messages in one piece.
    Json(Vec<Incoming>),
    /// Messages to come.
    Events(Response),
    /// Nothing but that it was taken.
    Accepted,
}

impl Wire {
    /// A wire to `url` with the account's own headers, whose values are secrets.
    pub(crate) fn new(egress: egress::Client, url: Url, headers: HeaderMap, on_change: OnChange) -> Self {
        Self { egress, url, headers, next_id: AtomicI64::new(1), on_change }
    }

    pub(super) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Relaxed)
    }

    /// The server says that its tools have changed.
    pub(super) fn changed(&self) {
        (self.on_change)();
    }

    /// Sends a message. `headers` come on top of the account's own; each wait for the answer is at most `wait`,
    /// and it has at most `most` bytes.
    pub(super) async fn post(
        &self,
        message: &Value,
        headers: HeaderMap,
        wait: Duration,
        most: u64,
    ) -> Result<Response, CallError> {
        let mut all = self.headers.clone();
        all.extend(headers);
        all.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        all.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        let body = serde_json::to_vec(message).map_err(|e| CallError::Internal(e.to_string()))?;
        let request = self.egress.post(self.url.clone()).headers(all).body(body);
        let request = request.idle_timeout(wait).max_response_bytes(most);
        Box::pin(request.send()).await.map_err(CallError::from_egress)
    }

    /// Opens a stream of events, from after `last_event` where that is given.
    pub(super) async fn open_stream(
        &self,
        last_event: Option<&str>,
        mut headers: HeaderMap,
        idle: Duration,
        most: u64,
    ) -> Result<Response, CallError> {
        let mut all = self.headers.clone();
        if let Some(id) = last_event.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT, id);
        }
        all.extend(headers);
        all.insert(header::ACCEPT, HeaderValue::from_static(EVENTS));
        let request = self.egress.get(self.url.clone()).headers(all);
        let request = request.idle_timeout(idle).max_response_bytes(most);
        let response = Box::pin(request.send()).await.map_err(CallError::from_egress)?;
        if response.status().is_success() && has_type(&response, EVENTS) {
            return Ok(response);
        }
        Err(CallError::Http { status: response.status().as_u16(), body: String::new(), retry_after: None })
    }

    /// Ends a session.
    pub(super) async fn delete(&self, headers: HeaderMap, timeout: Duration) -> Result<(), CallError> {
        let mut all = self.headers.clone();
        all.extend(headers);
        let request = self.egress.request(Method::DELETE, self.url.clone());
        let sent = Box::pin(request.headers(all).timeout(timeout).send()).await;
        sent.map(drop).map_err(CallError::from_egress)
    }
}

impl Reply {
    /// Understands an HTTP answer. `asked` is what was sent in which era.
    pub(super) async fn read(response: Response, asked: &Asked) -> Result<Self, CallError> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(Self::Accepted);
        }
        if !status.is_success() {
            return Err(failure(response, asked).await);
        }
        if has_type(&response, EVENTS) {
            return Ok(Self::Events(response));
        }
        if !asked.wants_answer {
            return Ok(Self::Accepted);
        }
        let is_json = has_type(&response, JSON);
        let body = read_body(response, MAX_MESSAGE).await?;
        let message: Value = serde_json::from_slice(&body).map_err(|e| {
            let text = excerpt(&String::from_utf8_lossy(&body[..body.len().min(300)]));
            let kind = if is_json { "" } else { " and not declared as JSON" };
            CallError::Protocol(format!("it is not JSON{kind} ({e}): {text}"))
        })?;
        let messages = match message {
            Value::Array(batch) => batch,
            one => vec![one],
        };
        Ok(Self::Json(messages.into_iter().filter_map(Incoming::read).collect()))
    }
}

/// What was sent, as far as the meaning of the answer depends on it.
pub(super) struct Asked {
    pub(super) era: Era,
    /// The server has already answered in this era.
    pub(super) era_proven: bool,
    pub(super) in_session: bool,
    pub(super) wants_answer: bool,
}

async fn failure(response: Response, asked: &Asked) -> CallError {
    let status = response.status();
    let retry_after = retry_after(&response);
    if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
        return CallError::Unauthorized { status: status.as_u16() };
    }
    if status == StatusCode::NOT_FOUND && asked.in_session {
        return CallError::SessionExpired;
    }
    let body = match read_start(response).await {
        Ok(body) => body,
        Err(error) => return error,
    };
    let said = serde_json::from_slice::<Value>(&body).ok();
    let rpc = said.as_ref().and_then(|v| v.get("error")).filter(|e| e.is_object());
    let rpc = rpc.map(RpcError::read);
    let text = || excerpt(&String::from_utf8_lossy(&body));
    // Many servers answer 400 instead of 404 for a session that they do not know.
    if status == StatusCode::BAD_REQUEST && asked.in_session && text().to_lowercase().contains("session") {
        return CallError::SessionExpired;
    }
    let is_modern_error = rpc.as_ref().is_some_and(|e| crate::client::era::is_modern_error(e.code));
    if asked.era.is_modern() && !asked.era_proven && status.is_client_error() && !is_modern_error {
        return CallError::EraChanged;
    }
    match rpc {
        Some(error) if status != StatusCode::TOO_MANY_REQUESTS => error.into(),
        _ => CallError::Http { status: status.as_u16(), body: text(), retry_after },
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?;
    value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

pub(super) fn has_type(response: &Response, wanted: &str) -> bool {
    let value = response.headers().get(header::CONTENT_TYPE);
    let essence = value.and_then(|v| v.to_str().ok()).and_then(|v| v.split(';').next());
    essence.is_some_and(|e| e.trim().eq_ignore_ascii_case(wanted))
}

async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(CallError::from_egress)? {
        if body.len() + chunk.len() > limit {
            return Err(CallError::TooLarge { limit: limit as u64 });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads the beginning of a body and lets go of the rest.
async fn read_start(mut response: Response) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while (body.len() as u64) < MAX_ERROR_BODY {
        match response.chunk().await.map_err(CallError::from_egress)? {
            Some(chunk) => body.extend_from_slice(&chunk),
            None => break,
        }
    }
    Ok(body)
}
