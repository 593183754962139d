//! Problem documents (RFC 9457): the one shape of every refusal.

use crate::error::ApiError;
use axum::{
    body::Body,
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::Violation;
use http::{HeaderValue, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema as _, ToSchema,
    openapi::{RefOr, schema::Schema},
};

const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");
/// How much of a plain-text refusal is taken over, in bytes.
const MAX_TEXT: usize = 4096;

/// Why a request was refused.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProblemDocument {
    /// Always `about:blank`: the code tells problems apart.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// The stable code, for programs.
    pub code: String,
    /// A sentence: what is wrong and what to do.
    pub detail: String,
    /// Where arguments or body are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// The request's id, under which the server's log speaks of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// What an operation answers when it refuses, for the OpenAPI description.
#[derive(utoipa::IntoResponses)]
#[response(
    status = "default",
    description = "Refused: a problem document (RFC 9457)",
    content_type = "application/problem+json"
)]
pub struct Refusals(
    #[to_schema]
    #[expect(dead_code, reason = "describes the body; never built")]
    ProblemDocument,
);

impl ProblemDocument {
    /// The schemas of this document, by name: [`Refusals`] refers to them, and does not bring them along.
    pub fn components() -> Vec<(String, RefOr<Schema>)> {
        let mut schemas = vec![(Self::name().into_owned(), Self::schema())];
        <Self as ToSchema>::schemas(&mut schemas);
        schemas
    }

    pub(crate) fn of(error: &ApiError) -> Self {
        Self {
            kind: "about:blank".to_owned(),
            title: title(error.status).to_owned(),
            status: error.status.as_u16(),
            code: error.code.to_owned(),
            detail: error.detail.clone(),
            violations: error.violations.clone(),
            request_id: None,
        }
    }

    pub(crate) fn response(&self, status: StatusCode) -> Response {
        let mut response = (status, self.to_json()).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, MEDIA_TYPE);
        response
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Makes every refusal a problem document that tells the request id, and logs what is ours to mend.
///
/// Handlers refuse with [`ApiError`]; the framework's own refusals (a path or query that does not parse) are
/// plain text and become problem documents here.
pub(crate) async fn finish(request: Request, next: Next) -> Response {
    let id = crate::request_id::of(&request);
    let mut response = next.run(request).await;
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let error = match response.extensions_mut().remove::<ApiError>() {
        Some(error) => error,
        None if is_plain(&response) => {
            let (parts, body) = response.into_parts();
            let error = ApiError::new(status, code_of(status), text_of(body, status).await);
            response = Response::from_parts(parts, Body::empty());
            error
        }
        None => return response,
    };
    if let Some(cause) = &error.cause {
        tracing::error!(request_id = %id, error = %cause, "a request failed inside");
    }
    let mut document = ProblemDocument::of(&error);
    document.request_id = Some(id);
    let json = document.to_json();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, MEDIA_TYPE);
    *response.body_mut() = Body::from(json);
    response
}

/// 404 for a path that no function serves.
pub(crate) async fn no_such_route() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "no_such_route",
        "there is no such route; GET /openapi.json describes all of them",
    )
}

/// 405 for a method that the path does not serve.
pub(crate) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this route does not serve this method; GET /openapi.json describes all of them",
    )
}

fn is_plain(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_none_or(|k| k.as_bytes().starts_with(b"text/plain"))
}

async fn text_of(body: Body, status: StatusCode) -> String {
    let text = match Limited::new(body, MAX_TEXT).collect().await {
        Ok(collected) => String::from_utf8_lossy(&collected.to_bytes()).into_owned(),
        Err(_) => String::new(),
    };
    if text.is_empty() { title(status).to_owned() } else { text }
}

fn title(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Client Closed Request")
}

const fn code_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::PAYLOAD_TOO_LARGE => "body_too_large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
        _ if status.as_u16() < 500 => "invalid_request",
        _ => "internal",
    }
}
