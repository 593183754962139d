//! What a service says when it refuses, cut to what may be shown.

use domain::ports::ChatError;
use egress::Response;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// The longest message that is passed on, in characters.
const MAX_MESSAGE: usize = 500;
/// The most of a refusal's body that is read, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// Reads the refusal of a request.
pub(super) async fn read(mut response: Response, key: Option<&SecretString>) -> ChatError {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() >= MAX_BODY {
            body.truncate(MAX_BODY);
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let message = match serde_json::from_str::<Value>(&text) {
        Ok(body) => message_of(&body).unwrap_or_else(|| text.trim().to_owned()),
        Err(_) => text.trim().to_owned(),
    };
    ChatError::Refused { status, message: shown(&message, key) }
}

/// The error that stands in a chunk or a body, where one does.
pub(super) fn in_band(chunk: &Value, key: Option<&SecretString>) -> Option<ChatError> {
    let error = chunk.get("error").filter(|error| !error.is_null() && **error != Value::Bool(false))?;
    let message = message_of(chunk).unwrap_or_else(|| error.to_string());
    let message = shown(&message, key);
    let status = ["code", "status", "status_code"].iter().find_map(|name| status_of(error.get(name)?));
    Some(match status {
        Some(status) => ChatError::Refused { status, message },
        None => ChatError::Broken(format!("the service reported: {message}")),
    })
}

/// Whether a service refuses because it does not know `stream_options`.
pub(super) fn names_stream_options(error: &ChatError) -> bool {
    matches!(error, ChatError::Refused { status: 400 | 422, message }
        if message.contains("stream_options") || message.contains("include_usage"))
}

/// A message without the key, and not too long.
pub(super) fn shown(message: &str, key: Option<&SecretString>) -> String {
    let hidden = match key.map(ExposeSecret::expose_secret) {
        Some(key) if !key.is_empty() => message.replace(key, "********"),
        _ => message.to_owned(),
    };
    let mut short: String = hidden.chars().take(MAX_MESSAGE).collect();
    if short.len() < hidden.len() {
        short.push('…');
    }
    short
}

fn message_of(body: &Value) -> Option<String> {
    let places = ["/error/message", "/error/detail", "/error", "/message", "/detail", "/msg"];
    let text = places.iter().find_map(|place| body.pointer(place)?.as_str())?;
    Some(text.to_owned())
}

fn status_of(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_in_a_stream_are_found_in_every_form() {
        let cases = [
            (json!({"error": {"message": "slow down", "code": 429}}), "status 429: slow down"),
            (json!({"error": {"message": "slow down", "code": "429"}}), "status 429: slow down"),
            (json!({"error": "no memory"}), "no memory"),
            (json!({"error": {"code": "x"}}), "{\"code\":\"x\"}"),
        ];
        for (chunk, wanted) in cases {
            let error = in_band(&chunk, None).unwrap().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(in_band(&json!({"error": null, "choices": []}), None).is_none());
    }

    #[test]
    fn a_key_is_never_repeated() {
        let key = SecretString::from("sk-canary".to_owned());
        assert_eq!(shown("bad key sk-canary!", Some(&key)), "bad key ********!");
    }
}
