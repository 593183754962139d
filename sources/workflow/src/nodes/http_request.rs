//! `http_request`: one request through the egress guard.

use super::{NodeError, outputs};
use crate::graph::{
    Variable,
    kinds::{BodyForm, HttpRequest, Method},
};
use egress::{Client, EgressError};
use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use std::time::Duration;
use url::Url;

/// The largest body of an answer that is taken, in bytes.
const MAX_BODY: u64 = 1024 * 1024;
/// How long a request takes where its node sets no timeout.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// What stays as it is in a part of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Where an input goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Query,
    Header,
    Body,
    Path,
}

impl Place {
    /// Where an input says it goes.
    pub(crate) fn of(input: &Variable) -> Option<Self> {
        match input.meta.get("type").and_then(Value::as_str)? {
            "params" => Some(Self::Query),
            "headers" => Some(Self::Header),
            "body" => Some(Self::Body),
            "path" => Some(Self::Path),
            _ => None,
        }
    }
}

/// The names between braces in an address.
pub(crate) fn placeholders(url: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = url;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        names.push(name.to_owned());
        rest = after;
    }
    names
}

/// Sends the request. Any status is a result; what brings no answer is an error.
pub(crate) async fn send(
    client: &Client,
    node: &HttpRequest,
    inputs: &Map<String, Value>,
    timeout: Duration,
) -> Result<Map<String, Value>, NodeError> {
    let at = |place| {
        node.inputs
            .iter()
            .filter(move |v| Place::of(v) == Some(place))
            .filter_map(|v| inputs.get_key_value(&v.name))
    };
    let url = address(&node.url, at(Place::Path))?;
    let mut request = client.request(method(node.method), url).timeout(timeout).max_response_bytes(MAX_BODY);
    let query: Vec<(&str, String)> = at(Place::Query).flat_map(|(name, value)| pairs(name, value)).collect();
    if !query.is_empty() {
        request = request.query(&query);
    }
    let body: Map<String, Value> =
        at(Place::Body).map(|(name, value)| (name.clone(), value.clone())).collect();
    if !body.is_empty() {
        request = match node.body_type {
            BodyForm::Json => request.json(&body),
            BodyForm::Form => {
                request.form(&body.iter().flat_map(|(name, value)| pairs(name, value)).collect::<Vec<_>>())
            }
            BodyForm::Raw => request.body(body.values().map(text).collect::<String>()),
        };
    }
    let response =
        request.headers(headers(at(Place::Header))?).send().await.map_err(|error| failed(&error))?;
    let status = response.status().as_u16();
    let received = received_headers(response.headers());
    let body = response.bytes().await.map_err(|error| failed(&error))?;
    let json = match received.get("content-type").and_then(Value::as_str) {
        Some(kind) if kind.contains("json") => serde_json::from_slice(&body).unwrap_or_default(),
        _ => Value::Null,
    };
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(outputs([
        ("status_code", status.into()),
        ("text", text.into()),
        ("headers", received.into()),
        ("json", json),
    ]))
}

fn address<'a>(
    template: &str,
    values: impl Iterator<Item = (&'a String, &'a Value)>,
) -> Result<Url, NodeError> {
    let mut filled = template.to_owned();
    for (name, value) in values {
        let value = text(value);
        // Dots alone would climb up the path.
        if value.is_empty() || value == "." || value == ".." {
            let message = format!("`{name}` cannot stand in the address: it is empty, `.` or `..`");
            return Err(NodeError::new("http_invalid", message));
        }
        let value = utf8_percent_encode(&value, SEGMENT).to_string();
        filled = filled.replace(&format!("{{{name}}}"), &value);
    }
    Url::parse(&filled)
        .map_err(|error| NodeError::new("http_invalid", format!("the address cannot be read: {error}")))
}

fn headers<'a>(values: impl Iterator<Item = (&'a String, &'a Value)>) -> Result<HeaderMap, NodeError> {
    let mut headers = HeaderMap::new();
    for (name, value) in values {
        let invalid =
            || NodeError::new("http_invalid", format!("the header `{name}` cannot be sent as it is"));
        let header = HeaderName::try_from(name).map_err(|_| invalid())?;
        let mut value = HeaderValue::try_from(text(value)).map_err(|_| invalid())?;
        // What a header holds may be a key: it does not follow a redirect to somewhere else.
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn received_headers(headers: &HeaderMap) -> Map<String, Value> {
    let mut received = Map::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        received.entry(name.as_str()).or_insert_with(|| value.into());
    }
    received
}

fn method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
        Method::Head => http::Method::HEAD,
        Method::Options => http::Method::OPTIONS,
    }
}

/// A list is sent as the same name again and again.
fn pairs<'a>(name: &'a str, value: &Value) -> Vec<(&'a str, String)> {
    match value {
        Value::Array(items) => items.iter().map(|item| (name, text(item))).collect(),
        other => vec![(name, text(other))],
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn failed(error: &EgressError) -> NodeError {
    let message = error.to_string();
    match error {
        EgressError::Blocked(_) => NodeError::new("blocked", message),
        EgressError::Timeout { .. } => NodeError::passing("timeout", message),
        EgressError::TooLarge { .. } => NodeError::new("too_large", message),
        EgressError::InvalidUrl { .. } | EgressError::InvalidRequest { .. } => {
            NodeError::new("http_invalid", message)
        }
        _ => NodeError::passing("unreachable", message),
    }
}
