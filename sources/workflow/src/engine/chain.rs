//! Workflows in workflows: how deep, and not in a circle.

use super::RunError;
use std::{future::Future, sync::Arc};

tokio::task_local! {
    /// The workflows around what runs in this task, outermost first.
    static AROUND: Vec<Arc<str>>;
}

/// The check before a workflow runs inside others.
#[derive(Debug)]
pub struct Nesting;

impl Nesting {
    /// How deep workflows may call each other.
    pub const MAX_DEPTH: u8 = 5;

    /// Runs `work` as the workflow `id`, unless that workflow is around it already, or too many are.
    ///
    /// The circle is seen within one process; across processes the depth ends it.
    pub async fn enter<T, F: Future<Output = T>>(id: &str, depth: u8, work: F) -> Result<T, RunError> {
        let mut around = AROUND.try_with(Clone::clone).unwrap_or_default();
        let refuse =
            |code: &str, message: String| Err(RunError { code: code.to_owned(), message, node_id: None });
        if around.iter().any(|other| **other == *id) {
            return refuse("workflow_cycle", format!("the workflow `{id}` would run inside itself"));
        }
        if depth >= Self::MAX_DEPTH {
            let message = format!("workflows are nested more than {} deep", Self::MAX_DEPTH);
            return refuse("workflow_too_deep", message);
        }
        around.push(id.into());
        Ok(AROUND.scope(around, work).await)
    }
}
