//! Publishing: a valid draft becomes a version that never changes.

use super::{Workflows, calls, off_thread};
use crate::{
    error::WorkflowError,
    plan::Plan,
    record::{Published, Version, Workflow},
};
use domain::AccountId;

impl Workflows {
    /// Publishes the draft as the next version. References go to it from now on; runs in flight keep theirs.
    pub async fn publish(&self, account: &AccountId, id: &str) -> Result<Workflow, WorkflowError> {
        let head = self.store().head(account, id).await?;
        let draft = self.store().draft(account, id).await?;
        let graph = draft.record.graph;
        let of = graph.clone();
        let plan = off_thread(move || Plan::of(&of)).await?.map_err(WorkflowError::Problems)?;
        let checked = calls::check(&self.source, account, id, &plan).await?;
        if !checked.problems.is_empty() {
            return Err(WorkflowError::Problems(checked.problems));
        }
        let now = self.clock().now();
        let number = head.record.last_version + 1;
        let workflow = Workflow {
            published: Some(Published {
                version: number,
                at: now,
                annotations: checked.annotations,
                calls: checked.calls,
            }),
            last_version: number,
            updated_at: now,
            ..head.record
        };
        let version = Version {
            number,
            name: workflow.name.clone(),
            tool_call_name: workflow.tool_call_name.clone(),
            description: workflow.description.clone(),
            annotations: checked.annotations,
            graph,
            published_at: now,
        };
        self.store().publish(account, &workflow, head.version, draft.version, &version).await?;
        Ok(workflow)
    }

    /// Takes the workflow back: references to it become problems. Its draft and versions stay.
    pub async fn unpublish(&self, account: &AccountId, id: &str) -> Result<Workflow, WorkflowError> {
        let head = self.store().head(account, id).await?;
        if head.record.published.is_none() {
            return Ok(head.record);
        }
        let workflow = Workflow { published: None, updated_at: self.clock().now(), ..head.record };
        self.store().update(account, &workflow, &workflow.tool_call_name, head.version).await?;
        Ok(workflow)
    }
}
