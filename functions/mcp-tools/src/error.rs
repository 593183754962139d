//! Errors of servers as HTTP answers.

use domain::ToolError;
use http_kit::ApiError;
use source_mcp::{CallError, ServerError};

/// The answer to an error of `source-mcp`.
pub(crate) fn refusal(error: ServerError) -> ApiError {
    let detail = error.to_string();
    match error {
        ServerError::Invalid(violations) => {
            ApiError::unprocessable("invalid_body", detail).with_violations(violations)
        }
        ServerError::NotAllowed(reason) => ApiError::forbidden("stdio_not_allowed", reason),
        ServerError::Discovery(error) => discovery(error, &detail),
        ServerError::Disabled(_) => ApiError::conflict("disabled", detail),
        ServerError::ToolNotFound { .. } => {
            ApiError::new(http_kit::StatusCode::NOT_FOUND, "not_found", detail)
        }
        ServerError::RevisionChanged { .. } => ApiError::conflict("revision_changed", detail),
        ServerError::Catalog(error) => error.into(),
        ServerError::Table(error) => error.into(),
        ServerError::Cipher(error) => error.into(),
        ServerError::Record(error) => ApiError::internal(error),
    }
}

/// The server did not answer as it should: the statuses are those of a call.
fn discovery(error: CallError, detail: &str) -> ApiError {
    let mut refusal = ApiError::from(ToolError::from(error));
    if refusal.status != http_kit::StatusCode::INTERNAL_SERVER_ERROR {
        refusal.detail = format!("{detail}. Nothing was saved");
    }
    refusal
}
