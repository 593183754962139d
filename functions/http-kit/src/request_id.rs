//! `RequestId`: one id per request, in the answer, in the log and in the audit.

use axum::{
    extract::{FromRequestParts, Request},
    middleware::Next,
    response::Response,
};
use http::{HeaderName, HeaderValue, request::Parts};
use std::convert::Infallible;
use tracing::Instrument as _;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over from a client.
const MAX_LEN: usize = 128;

/// The request's id: the client's `x-request-id` where it is sane, else a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub String);

impl RequestId {
    fn generate() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let id = parts.extensions.get_or_insert_with(Self::generate);
        Ok(id.clone())
    }
}

/// Gives the request its id and the answer the same.
pub(crate) async fn assign(mut request: Request, next: Next) -> Response {
    let given = request.headers().get(&HEADER).and_then(|value| value.to_str().ok());
    let id = match given {
        Some(id) if is_sane(id) => RequestId(id.to_owned()),
        _ => RequestId::generate(),
    };
    request.extensions_mut().insert(id.clone());
    let span = tracing::info_span!("request", request_id = %id.0);
    let mut response = next.run(request).instrument(span).await;
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

/// The id that [`assign`] gave.
pub(crate) fn of(request: &Request) -> String {
    let id = request.extensions().get::<RequestId>();
    id.map(|id| id.0.clone()).unwrap_or_default()
}

fn is_sane(id: &str) -> bool {
    let legal =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':' | b'=' | b'/' | b'+');
    !id.is_empty() && id.len() <= MAX_LEN && id.bytes().all(legal)
}
