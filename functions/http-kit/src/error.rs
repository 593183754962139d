//! `ApiError`: the one map from errors of ours to HTTP, with an outside message and an inside one.

use crate::problem::ProblemDocument;
use apps::{credentials::CredentialsError, keys::KeyError};
use axum::response::{IntoResponse, Response};
use domain::{
    ToolError, Violation,
    catalog::CatalogError,
    ports::{BlobError, CipherError, TableError},
};
use http::{HeaderValue, StatusCode, header};
use std::{fmt, time::Duration};

/// The status of a request whose client went away; not registered, and seen in logs alone.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Why a request was refused. As a response it is a problem document (RFC 9457).
///
/// [`ApiError::internal`] keeps its cause for the log: outside, only the request id is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The stable code, for programs.
    pub code: &'static str,
    /// A sentence: what is wrong and what to do.
    pub detail: String,
    /// Where arguments or body are wrong, one by one.
    pub violations: Vec<Violation>,
    /// When to try again.
    pub retry_after: Option<Duration>,
    /// For the log alone.
    pub(crate) cause: Option<String>,
}

impl ApiError {
    /// A refusal.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), violations: Vec::new(), retry_after: None, cause: None }
    }

    /// 400: the request cannot be understood.
    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// 401: there is no key, or it opens nothing.
    pub fn unauthorized(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code, detail)
    }

    /// 403: the key may not do this.
    pub fn forbidden(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, detail)
    }

    /// 404: `what` does not exist for this account.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("{what} was not found"))
    }

    /// 409: what is stored stands against it.
    pub fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// 413: something is larger than is taken.
    pub fn too_large(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, detail)
    }

    /// 422: understood, and wrong in what it says.
    pub fn unprocessable(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    /// 422 `invalid_body`: one place of the body is wrong.
    pub fn invalid_body(path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        let at = if path.is_empty() { "the body" } else { &path };
        let detail = format!("the request body is wrong at {at}: {message}");
        Self::unprocessable("invalid_body", detail).with_violations(vec![Violation { path, message }])
    }

    /// 503: it cannot be done now; trying again later helps.
    pub fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        error.retry_after = Some(Duration::from_secs(1));
        error
    }

    /// 500: a fault of ours. `cause` goes to the log, once; the client is told the request id.
    pub fn internal(cause: impl fmt::Display) -> Self {
        let mut error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "an internal error happened; the server's log has the details under this request id",
        );
        error.cause = Some(cause.to_string());
        error
    }

    /// The same refusal with the places that are wrong.
    pub fn with_violations(self, violations: Vec<Violation>) -> Self {
        Self { violations, ..self }
    }

    /// The same refusal with a time to try again.
    pub fn with_retry_after(self, retry_after: Option<Duration>) -> Self {
        Self { retry_after, ..self }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.code, self.status.as_u16(), self.detail)
    }
}

impl std::error::Error for ApiError {}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = ProblemDocument::of(&self).response(self.status);
        let headers = response.headers_mut();
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ToolError> for ApiError {
    fn from(error: ToolError) -> Self {
        let status = match &error {
            ToolError::InvalidArgs { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            ToolError::NotFound { .. } => StatusCode::NOT_FOUND,
            ToolError::Disabled { .. } => StatusCode::CONFLICT,
            ToolError::MissingCredential { .. } => StatusCode::FAILED_DEPENDENCY,
            ToolError::NeedsApproval { .. } | ToolError::Blocked { .. } => StatusCode::FORBIDDEN,
            ToolError::Upstream { .. } | ToolError::Unreachable { .. } => StatusCode::BAD_GATEWAY,
            ToolError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            ToolError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            ToolError::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            ToolError::Cancelled => {
                StatusCode::from_u16(CLIENT_CLOSED_REQUEST).unwrap_or(StatusCode::BAD_REQUEST)
            }
            ToolError::Internal { message } => return Self::internal(message),
        };
        let refusal = Self::new(status, error.code(), error.for_operator());
        match error {
            ToolError::InvalidArgs { violations } => refusal.with_violations(violations),
            ToolError::RateLimited { retry_after } => refusal.with_retry_after(retry_after),
            _ => refusal,
        }
    }
}

impl From<TableError> for ApiError {
    fn from(error: TableError) -> Self {
        let detail = error.to_string();
        match error {
            TableError::ConditionFailed { .. } => Self::conflict(
                "conflict",
                "it was changed by someone else at the same time: read it again and repeat the change",
            ),
            TableError::Invalid(_) => Self::bad_request("invalid_request", detail),
            TableError::Throttled(_) => Self::unavailable("store_overloaded", detail),
            TableError::ReadOnly(_) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "store_not_writable", detail)
            }
            TableError::Unusable(_) => Self::unavailable("store_unusable", detail),
            TableError::Failed(_) => Self::internal(chain(&error)),
        }
    }
}

impl From<CatalogError> for ApiError {
    fn from(error: CatalogError) -> Self {
        let detail = error.to_string();
        match error {
            CatalogError::NameTaken(_) => Self::conflict("name_taken", detail),
            CatalogError::Conflict(_) => Self::conflict("conflict", detail),
            CatalogError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            CatalogError::TooMany(_) => Self::too_large("too_many_tools", detail),
            CatalogError::Corrupt { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail)
            }
            CatalogError::Table(error) => error.into(),
        }
    }
}

impl From<CipherError> for ApiError {
    fn from(error: CipherError) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        match error {
            CipherError::DoesNotOpen { .. } => {
                Self::new(status, "sealed_value_unreadable", error.to_string())
            }
            CipherError::KeyUnusable(_) => Self::new(status, "key_unusable", error.to_string()),
            CipherError::Failed(_) => Self::internal(chain(&error)),
        }
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        let detail = error.to_string();
        match error {
            BlobError::InvalidKey(_) => Self::bad_request("invalid_request", detail),
            BlobError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            BlobError::TooLarge { .. } => Self::too_large("too_large", detail),
            BlobError::ReadOnly(_) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "store_not_writable", detail)
            }
            BlobError::Failed(_) => Self::internal(chain(&error)),
        }
    }
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        let detail = error.to_string();
        match error {
            KeyError::Unknown => Self::unauthorized("invalid_key", detail),
            KeyError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            KeyError::OwnKey => Self::conflict("own_key", detail),
            KeyError::Invalid { field, message } => Self::invalid_body(format!("/{field}"), message),
            KeyError::Corrupt(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail),
            KeyError::Entropy(_) => Self::internal(detail),
            KeyError::Table(error) => error.into(),
        }
    }
}

impl From<CredentialsError> for ApiError {
    fn from(error: CredentialsError) -> Self {
        let detail = error.to_string();
        match error {
            CredentialsError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            CredentialsError::Invalid { field, message } => Self::invalid_body(format!("/{field}"), message),
            CredentialsError::Corrupt(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail)
            }
            CredentialsError::Table(error) => error.into(),
            CredentialsError::Cipher(error) => error.into(),
        }
    }
}

/// An error with its causes, for the log.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_error_has_the_status_of_the_contract() {
        let what = || "x".to_owned();
        let cases = [
            (ToolError::InvalidArgs { violations: vec![] }, 422),
            (ToolError::NotFound { what: what() }, 404),
            (ToolError::Disabled { what: what() }, 409),
            (ToolError::MissingCredential { what: what() }, 424),
            (ToolError::NeedsApproval { tool: what() }, 403),
            (ToolError::Blocked { reason: what() }, 403),
            (ToolError::Upstream { status: 500, body: what() }, 502),
            (ToolError::Unreachable { reason: what() }, 502),
            (ToolError::Timeout { after: Duration::ZERO }, 504),
            (ToolError::TooLarge { what: what(), limit: 1 }, 413),
            (ToolError::RateLimited { retry_after: None }, 429),
            (ToolError::Cancelled, 499),
            (ToolError::internal("boom"), 500),
        ];
        for (error, status) in cases {
            let code = error.code();
            let refusal = ApiError::from(error);
            assert_eq!((refusal.status.as_u16(), refusal.code), (status, code));
        }
    }

    #[test]
    fn the_cause_of_an_internal_error_stays_inside() {
        let refusal = ApiError::from(ToolError::internal("the disk at /secret/place failed"));
        assert!(!refusal.detail.contains("/secret/place"));
        assert_eq!(refusal.cause.as_deref(), Some("the disk at /secret/place failed"));
    }
}
