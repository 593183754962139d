//! Why a workflow was not read, written or run.

use crate::problem::GraphProblem;
use domain::{Violation, ports::TableError};

/// Why the service did not do it.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// There is no such workflow or run.
    #[error("{0} was not found")]
    NotFound(String),
    /// A field is not what it may be.
    #[error("`{field}` {message}")]
    Invalid {
        /// Which.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// Another workflow of the account has this name.
    #[error("the tool name `{0}` is taken: choose another, or update the workflow that has it")]
    NameTaken(String),
    /// A published workflow keeps its name, since references hold it.
    #[error("`{0}` has been published under this tool name, which stays: references hold it")]
    NameKept(String),
    /// Somebody else changed it in between.
    #[error("`{0}` was changed by someone else at the same time: read it again and repeat the change")]
    Conflict(String),
    /// The graph breaks rules.
    #[error("the graph has {} problem(s){}", .0.len(), first(.0))]
    Problems(Vec<GraphProblem>),
    /// Nothing is published.
    #[error("the workflow `{0}` is not published: publish it, or debug its draft")]
    NotPublished(String),
    /// The arguments do not meet the start node's declarations.
    #[error("the inputs do not meet what the start node declares")]
    InvalidInputs(Vec<Violation>),
    /// A stored record is not what it should be.
    #[error("the stored record of `{id}` is not readable: {reason}")]
    Corrupt {
        /// The record's id.
        id: String,
        /// Why.
        reason: String,
    },
    /// A fault of ours.
    #[error("internal error: {0}")]
    Internal(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

fn first(problems: &[GraphProblem]) -> String {
    problems.first().map(|p| format!("; the first: {}", p.message)).unwrap_or_default()
}
