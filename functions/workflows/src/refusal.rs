//! Which error of the service is which refusal.

use domain::Violation;
use http_kit::{ApiError, StatusCode};
use source_workflow::{GraphProblem, WorkflowError};

/// An error of the service as a refusal.
pub(crate) fn refusal(error: WorkflowError) -> ApiError {
    let detail = error.to_string();
    match error {
        WorkflowError::NotFound(_) => ApiError::new(StatusCode::NOT_FOUND, "not_found", detail),
        WorkflowError::Invalid { field, message } => {
            ApiError::invalid_body(format!("/{field}"), format!("`{field}` {message}"))
        }
        WorkflowError::NameTaken(_) => ApiError::conflict("name_taken", detail),
        WorkflowError::NameKept(_) => ApiError::conflict("name_kept", detail),
        WorkflowError::Conflict(_) => ApiError::conflict("conflict", detail),
        WorkflowError::NotPublished(_) => ApiError::conflict("not_published", detail),
        WorkflowError::Problems(problems) => ApiError::unprocessable("invalid_workflow", detail)
            .with_violations(problems.iter().map(violation).collect()),
        WorkflowError::InvalidInputs(violations) => {
            ApiError::unprocessable("invalid_args", detail).with_violations(violations)
        }
        WorkflowError::Corrupt { .. } => {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail)
        }
        WorkflowError::Internal(cause) => ApiError::internal(cause),
        WorkflowError::Table(error) => error.into(),
    }
}

/// A problem of a graph as a violation: the path names the node or edge and the field.
fn violation(problem: &GraphProblem) -> Violation {
    let mut path = String::new();
    if let Some(edge) = &problem.edge_id {
        path = format!("/edges/{edge}");
    } else if let Some(node) = &problem.node_id {
        path = format!("/nodes/{node}");
    }
    if let Some(field) = &problem.field {
        path = format!("{path}/{field}");
    }
    Violation { path, message: format!("{}: {}", problem.code.as_str(), problem.message) }
}
