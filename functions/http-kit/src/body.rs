//! `JsonBody`: a request body as JSON, refused with the place where it is wrong.

use crate::error::ApiError;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use domain::Violation;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use std::fmt::Write as _;

/// The largest request body that is taken, in bytes. Larger things go through `POST /uploads`.
pub const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

/// A JSON body of the shape `T`.
///
/// Malformed JSON is 400 `invalid_json` with line and column; a wrong shape is 422 `invalid_body` with its place.
#[derive(Clone, Copy, Debug)]
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if !says_json(request.headers()) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "send the body as JSON with the header `Content-Type: application/json`",
            ));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                let detail = format!(
                    "the request body is larger than {MAX_BODY_BYTES} bytes; larger things go through POST /uploads"
                );
                ApiError::too_large("body_too_large", detail)
            } else {
                ApiError::bad_request("unreadable_body", "the request body could not be read to its end")
            }
        })?;
        parse(&bytes).map(Self)
    }
}

/// Parses a JSON text into `T`.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = pointer(error.path());
        refusal(&error.into_inner(), path)
    })?;
    json.end().map_err(|error| refusal(&error, String::new()))?;
    Ok(value)
}

fn says_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        return true;
    };
    let kind = kind.to_str().unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}

fn refusal(error: &serde_json::Error, path: String) -> ApiError {
    let message = without_value(&error.to_string());
    if !error.is_data() {
        return ApiError::bad_request("invalid_json", format!("the request body is not JSON: {message}"));
    }
    let message = match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    };
    let at = if path.is_empty() { "the body" } else { &path };
    ApiError::unprocessable("invalid_body", format!("the request body is wrong at {at}: {message}"))
        .with_violations(vec![Violation { path, message }])
}

/// A message of serde without the text that was sent: that may be a secret.
fn without_value(message: &str) -> String {
    match (message.find("string \""), message.rfind("\", expected")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}string{}", &message[..start], &message[end + 1..])
        }
        _ => message.to_owned(),
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        let _ = match segment {
            Segment::Seq { index } => write!(pointer, "/{index}"),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                write!(pointer, "/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Segment::Unknown => Ok(()),
        };
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is used")]
    struct Body {
        name: String,
        #[serde(default)]
        items: Vec<u8>,
    }

    #[test]
    fn each_fault_has_its_status_code_and_place() {
        let cases = [
            ("", 400, "invalid_json", None),
            ("{\"name\":", 400, "invalid_json", None),
            ("{\"name\":\"x\"} y", 400, "invalid_json", None),
            ("{}", 422, "invalid_body", Some("")),
            ("{\"name\":\"x\",\"other\":1}", 422, "invalid_body", Some("/other")),
            ("{\"name\":\"x\",\"items\":[1,\"s3cret\"]}", 422, "invalid_body", Some("/items/1")),
        ];
        for (text, status, code, path) in cases {
            let error = parse::<Body>(text.as_bytes()).unwrap_err();
            let at = error.violations.first().map(|v| v.path.as_str());
            assert_eq!((error.status.as_u16(), error.code, at), (status, code, path), "{text}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn malformed_json_is_told_with_line_and_column() {
        let error = parse::<Body>(b"{\n  \"name\" 1}").unwrap_err();
        assert!(error.detail.contains("line 2 column 10"), "{error}");
    }
}
