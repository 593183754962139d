//! The tools of a provider: listed, read, switched, renamed.

use super::{ApiTools, ServiceError, ToolPatch, ToolView, read::Paged};
use crate::{
    normal::Operation,
    record::{MAX_RESPONSE_BYTES, MAX_TIMEOUT, ProviderRecord, ToolOverride},
    source::{nearest, read},
};
use domain::{
    AccountId,
    catalog::{CatalogError, Head},
    toolset::is_legal_name,
};
use std::sync::Arc;

/// How often a change is tried again when somebody else changes the provider at the same time.
const MAX_TRIES: usize = 4;
const MAX_TITLE: usize = 200;
const MAX_DESCRIPTION: usize = 8000;

impl ApiTools {
    /// Lists a provider's tools by name, a page at a time; `q` is looked for in names, titles, descriptions
    /// and paths.
    pub async fn tools(
        &self,
        account: &AccountId,
        id: &str,
        q: Option<&str>,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<Paged<ToolView>, ServiceError> {
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        let q = q.map(str::to_lowercase).filter(|q| !q.is_empty());
        let mut items = Vec::new();
        let mut cursor = cursor;
        loop {
            let piece = limit - items.len();
            let (bodies, next) = self.catalog.list_bodies(account, &head, piece, cursor).await?;
            for (name, body) in bodies {
                let Some(operation) = read(id, &name, body) else {
                    continue;
                };
                let view = view(&head, &operation);
                if q.as_ref().is_none_or(|q| matches(&view, q)) {
                    items.push(view);
                }
            }
            match next {
                Some(next) if items.len() < limit => cursor = Some(next),
                next => return Ok((items, next)),
            }
        }
    }

    /// One tool.
    pub async fn tool(&self, account: &AccountId, id: &str, tool: &str) -> Result<ToolView, ServiceError> {
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        let operation = self.operation(account, &head, tool).await?;
        Ok(view(&head, &operation))
    }

    /// Changes a tool, and tells how it is now. The provider's revision stays.
    pub async fn patch_tool(
        &self,
        account: &AccountId,
        id: &str,
        tool: &str,
        patch: ToolPatch,
    ) -> Result<ToolView, ServiceError> {
        check(&patch)?;
        let mut tries = 1;
        loop {
            let mut head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
            let operation = self.operation(account, &head, tool).await?;
            let mut record = head.record.clone();
            let mut changes = record.overrides.remove(tool).unwrap_or_default();
            apply(&patch, &mut changes);
            if !changes.is_empty() {
                record.overrides.insert(tool.to_owned(), changes);
            }
            record.updated_at = self.clock.now();
            match self.catalog.update_record(account, &head, &record.name, &record).await {
                Ok(()) => {
                    head.record = record;
                    return Ok(view(&head, &operation));
                }
                Err(CatalogError::Conflict(_)) if tries < MAX_TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn operation(
        &self,
        account: &AccountId,
        head: &Head<ProviderRecord>,
        tool: &str,
    ) -> Result<Arc<Operation>, ServiceError> {
        let mut bodies = self.catalog.bodies(account, &[(head, tool)]).await?;
        let body = bodies.pop().flatten();
        if let Some(operation) = body.and_then(|body| read(&head.id, tool, body)) {
            return Ok(operation);
        }
        let all = self.catalog.all_bodies(account, head).await?;
        let names: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
        Err(ServiceError::ToolNotFound {
            provider: head.record.name.clone(),
            tool: tool.to_owned(),
            hint: match nearest(tool, &names).as_slice() {
                [] => String::new(),
                near => format!("; near it are {}", near.join(", ")),
            },
        })
    }
}

fn view(head: &Head<ProviderRecord>, operation: &Operation) -> ToolView {
    let changes = head.record.override_of(&operation.name);
    ToolView::of(operation, changes.unwrap_or(&ToolOverride::default()))
}

fn matches(tool: &ToolView, q: &str) -> bool {
    let rename = tool.rename.as_deref().unwrap_or_default();
    [rename, &tool.name, &tool.title, &tool.description, &tool.path]
        .iter()
        .any(|text| text.to_lowercase().contains(q))
}

fn check(patch: &ToolPatch) -> Result<(), ServiceError> {
    if patch.rename.value().is_some_and(|name| !is_legal_name(name)) {
        let message = "must begin with a letter and hold letters, digits, `_` and `-` only, at most 64";
        return Err(ServiceError::invalid("/rename", message));
    }
    let texts = [("/title", &patch.title, MAX_TITLE), ("/description", &patch.description, MAX_DESCRIPTION)];
    for (path, text, limit) in texts {
        if text.value().is_some_and(|text| text.trim().is_empty() || text.len() > limit) {
            return Err(ServiceError::invalid(path, format!("must have 1 to {limit} bytes")));
        }
    }
    let longest = MAX_TIMEOUT.as_secs();
    if patch.timeout_s.value().is_some_and(|s| *s == 0 || u64::from(*s) > longest) {
        return Err(ServiceError::invalid("/timeout_s", format!("must be 1 to {longest}")));
    }
    if patch.max_response_bytes.value().is_some_and(|bytes| *bytes == 0 || *bytes > MAX_RESPONSE_BYTES) {
        let message = format!("must be 1 to {MAX_RESPONSE_BYTES}");
        return Err(ServiceError::invalid("/max_response_bytes", message));
    }
    Ok(())
}

fn apply(patch: &ToolPatch, changes: &mut ToolOverride) {
    if let Some(enabled) = patch.enabled {
        changes.disabled = !enabled;
    }
    patch.rename.apply(&mut changes.rename);
    patch.title.apply(&mut changes.title);
    patch.description.apply(&mut changes.description);
    patch.timeout_s.apply(&mut changes.timeout_s);
    patch.max_response_bytes.apply(&mut changes.max_response_bytes);
}
