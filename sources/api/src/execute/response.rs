//! From an answer to a tool's output: JSON as data, text by its charset, bytes as a resource; and a refusal
//! by the service as an error a model can act on.

use super::{
    send::{Bounds, asked_wait, translate},
    text,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::{Content, ToolError, ToolOutput};
use egress::{Capped, Response};
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// How much of a refusal's body is handed on, in bytes.
const MAX_ERROR_BYTES: usize = 4 * 1024;
/// Headers of a `HEAD` answer that say nothing of what was asked for.
const HOP_HEADERS: &[&str] =
    &["connection", "keep-alive", "set-cookie", "transfer-encoding", "date", "server"];

/// Reads the answer to its end or its cap.
///
/// # Errors
/// [`ToolError::Upstream`] for every status but 2xx.
pub(crate) async fn read(
    method: &Method,
    response: Response,
    bounds: Bounds,
) -> Result<ToolOutput, ToolError> {
    let status = response.status();
    let headers = response.headers().clone();
    let uri = egress::safe_url(response.url());
    let body = response.bytes_capped().await.map_err(|error| translate(&error, bounds.timeout))?;
    if !status.is_success() {
        return Err(refusal(status, &headers, &body));
    }
    if method == Method::HEAD {
        return Ok(head(status, &headers));
    }
    output(status, &headers, &uri, &body, bounds.max_bytes)
}

fn output(
    status: StatusCode,
    headers: &HeaderMap,
    uri: &str,
    body: &Capped,
    limit: u64,
) -> Result<ToolOutput, ToolError> {
    if body.bytes.is_empty() {
        return Ok(ToolOutput::text_of(empty(status, headers)));
    }
    let content_type = content_type(headers);
    let Some(text) = text::decode(&content_type, &body.bytes) else {
        return binary(&content_type, uri, body, limit);
    };
    if body.truncated {
        return Ok(ToolOutput::text_of(format!(
            "{text}\n\n[The answer is longer: it was cut after {limit} bytes. Ask for less at a time.]"
        )));
    }
    match text::json(&content_type, &text) {
        Some(value) => Ok(ToolOutput::structured(text, value)),
        None => Ok(ToolOutput::text_of(text)),
    }
}

/// A part of a file is of no use to anyone: a file over the cap is an error.
fn binary(content_type: &str, uri: &str, body: &Capped, limit: u64) -> Result<ToolOutput, ToolError> {
    if body.truncated {
        return Err(ToolError::TooLarge { what: "the file that the service answered with".into(), limit });
    }
    let media_type = match text::essence(content_type) {
        "" => "application/octet-stream",
        essence => essence,
    };
    Ok(ToolOutput {
        content: vec![Content::blob(uri, media_type, &BASE64_STANDARD.encode(&body.bytes))],
        ..ToolOutput::default()
    })
}

fn empty(status: StatusCode, headers: &HeaderMap) -> String {
    let mut text = format!("{status}: the answer has no content");
    if let Some(location) = headers.get(header::LOCATION).and_then(|l| l.to_str().ok()) {
        text.push_str("; location: ");
        text.push_str(location);
    }
    text
}

/// What a `HEAD` request is made for: the status and the headers.
fn head(status: StatusCode, headers: &HeaderMap) -> ToolOutput {
    let mut members = Map::new();
    for (name, value) in headers {
        if !HOP_HEADERS.contains(&name.as_str()) {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            members.insert(name.as_str().to_owned(), Value::String(text));
        }
    }
    let value = json!({"status": status.as_u16(), "headers": members});
    ToolOutput::structured(value.to_string(), value)
}

fn refusal(status: StatusCode, headers: &HeaderMap, body: &Capped) -> ToolError {
    let content_type = content_type(headers);
    let mut text = match text::decode(&content_type, &body.bytes) {
        Some(text) => shortened(text.trim(), body.truncated),
        None => format!("({} of {} bytes)", text::essence(&content_type), body.bytes.len()),
    };
    if status.is_redirection()
        && let Some(location) = headers.get(header::LOCATION).and_then(|l| l.to_str().ok())
    {
        text = format!("redirects to {location}; only requests that change nothing are redirected. {text}");
    }
    if let Some(wait) = asked_wait(status, headers, SystemTime::now()) {
        text = format!("try again after {} s. {text}", wait.as_secs().max(1));
    }
    ToolError::Upstream { status: status.as_u16(), body: text.trim().to_owned() }
}

fn shortened(text: &str, truncated: bool) -> String {
    if text.len() <= MAX_ERROR_BYTES && !truncated {
        return text.to_owned();
    }
    format!("{} [cut]", &text[..text.floor_char_boundary(MAX_ERROR_BYTES)])
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
