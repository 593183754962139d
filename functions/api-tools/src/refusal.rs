//! From the service's errors to refusals.

use domain::{Problem, ProblemCode, Violation};
use http_kit::{ApiError, StatusCode};
use source_api::{
    compile::DocumentError,
    credentials::CredentialProblem,
    report::{Outcome, Report},
    service::ServiceError,
};

/// How many operations a refusal names.
const MAX_NAMED: usize = 50;

/// The refusal for an error.
pub(crate) fn refused(error: ServiceError) -> ApiError {
    let detail = error.to_string();
    match error {
        ServiceError::Invalid { path, message } => ApiError::invalid_body(path, message),
        ServiceError::Document(error) => document(&error, detail),
        ServiceError::Selection(error) => ApiError::invalid_body("/select", error.to_string()),
        ServiceError::NoTools(report) => {
            ApiError::unprocessable("no_tools", detail).with_violations(lost(&report))
        }
        ServiceError::NoServer(message) => {
            let violation = Violation { path: "/server".into(), message };
            ApiError::unprocessable("server_needed", detail).with_violations(vec![violation])
        }
        ServiceError::OriginChanged { .. } => ApiError::unprocessable("credentials_needed", detail),
        ServiceError::Credential(problem) => credential(problem),
        ServiceError::Fetch(error) => match error.code() {
            "blocked" => ApiError::forbidden("blocked", detail),
            "timeout" => ApiError::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail),
            "too_large" => ApiError::too_large("document_too_large", detail),
            "setup" => ApiError::internal(detail),
            _ => ApiError::new(StatusCode::BAD_GATEWAY, "unreachable", detail),
        },
        ServiceError::NotADocument { .. } => ApiError::unprocessable("not_a_document", detail),
        ServiceError::Unresolved(problem) => unresolved(&problem),
        ServiceError::ToolNotFound { .. } => ApiError::new(StatusCode::NOT_FOUND, "not_found", detail),
        ServiceError::Catalog(error) => error.into(),
        ServiceError::Blob(error) => error.into(),
        ServiceError::Internal(cause) => ApiError::internal(cause),
    }
}

fn document(error: &DocumentError, detail: String) -> ApiError {
    match error {
        DocumentError::TooLarge(_) => ApiError::too_large("document_too_large", detail),
        DocumentError::Narrow(errors) => {
            let violation = |error: &source_api::narrow::NarrowError| Violation {
                path: error.pointer.clone(),
                message: error.message.clone(),
            };
            ApiError::unprocessable("invalid_document", detail)
                .with_violations(errors.0.iter().map(violation).collect())
        }
        _ => ApiError::unprocessable("invalid_document", detail),
    }
}

/// Why each operation of a document that gives no tool is lost, by its place in the document.
fn lost(report: &Report) -> Vec<Violation> {
    let reasons = report.operations.iter().filter_map(|operation| match &operation.outcome {
        Outcome::Lost { reason } => Some(Violation {
            path: reason.pointer.clone(),
            message: format!("{} {}: {}", operation.method, operation.path, reason.message),
        }),
        _ => None,
    });
    reasons.take(MAX_NAMED).collect()
}

fn credential(problem: CredentialProblem) -> ApiError {
    match problem {
        CredentialProblem::Unfit { name, reason } => {
            let name = name.replace('~', "~0").replace('/', "~1");
            ApiError::invalid_body(format!("/credentials/{name}"), reason)
        }
        CredentialProblem::Header { name, reason } => {
            ApiError::invalid_body("/headers", format!("the header `{name}` {reason}"))
        }
        CredentialProblem::Cipher(error) => error.into(),
    }
}

fn unresolved(problem: &Problem) -> ApiError {
    let status = match problem.code {
        ProblemCode::ProviderNotFound | ProblemCode::ToolNotFound => StatusCode::NOT_FOUND,
        ProblemCode::Disabled => StatusCode::CONFLICT,
        ProblemCode::StoreFailed => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    ApiError::new(status, problem.code.as_str(), problem.message.clone())
}
