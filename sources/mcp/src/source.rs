//! `McpSource`: assembles MCP tools from the stored catalog alone. Nothing is connected to before a call.

use crate::{
    connector::Target,
    definition::{Definition, StoredTool},
    record::ServerRecord,
    service::Inner,
    tool::McpTool,
};
use async_trait::async_trait;
use domain::{
    AccountContext, ListPage, ListRequest, Tool, ToolKind, ToolLister, ToolListing, ToolRef, ToolSource,
    Unresolved,
    catalog::{CatalogError, Head},
    listing::list_catalog,
    problem::ProblemCode,
};
use moka::sync::Cache;
use serde_json::Value;
use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

/// How much of read definitions is kept, in bytes of JSON.
const MAX_CACHED: u64 = 64 * 1024 * 1024;
/// How long a definition is kept without being used.
const CACHE_IDLE: Duration = Duration::from_hours(1);

/// The source of MCP tools.
#[derive(Clone)]
pub struct McpSource {
    inner: Arc<Inner>,
    /// Read definitions by catalog and name. A catalog's id is never used twice, so they never go stale.
    cache: Cache<(String, String), Arc<Read>>,
}

/// A stored tool, read.
enum Read {
    Usable(Box<Definition>, usize),
    Removed,
    Unusable(String),
}

impl McpSource {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        let weigh = |_: &(String, String), read: &Arc<Read>| match read.as_ref() {
            Read::Usable(_, size) => u32::try_from(*size).unwrap_or(u32::MAX),
            _ => 100,
        };
        Self {
            inner,
            cache: Cache::builder().max_capacity(MAX_CACHED).weigher(weigh).time_to_idle(CACHE_IDLE).build(),
        }
    }

    /// The heads of all servers that are referred to, in one round.
    async fn heads(
        &self,
        refs: &[ToolRef],
        cx: &AccountContext,
    ) -> Result<HashMap<String, Arc<Head<ServerRecord>>>, Unresolved> {
        let mut ids: Vec<&str> = refs.iter().map(|r| r.provider_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let heads = self.inner.catalog.heads(&cx.account, &ids).await;
        let heads = heads.map_err(|e| Unresolved::new(ProblemCode::StoreFailed, e.to_string()))?;
        let found = heads.into_iter().flatten().map(|head| (head.id.clone(), Arc::new(head)));
        Ok(found.collect())
    }

    /// Reads the definitions that are not cached, in one round.
    async fn fill(
        &self,
        wanted: &[(&Head<ServerRecord>, &str)],
        cx: &AccountContext,
    ) -> Result<HashMap<(String, String), Arc<Read>>, Unresolved> {
        let mut read = HashMap::with_capacity(wanted.len());
        let mut missing = Vec::new();
        for (head, name) in wanted {
            let key = (head.body_id.clone(), (*name).to_owned());
            match self.cache.get(&key) {
                Some(cached) => drop(read.insert(key, cached)),
                None => missing.push((*head, *name)),
            }
        }
        if missing.is_empty() {
            return Ok(read);
        }
        let bodies = self.inner.catalog.bodies(&cx.account, &missing).await;
        let bodies = bodies.map_err(|e| Unresolved::new(ProblemCode::StoreFailed, e.to_string()))?;
        for ((head, name), body) in missing.into_iter().zip(bodies) {
            let Some(body) = body else { continue };
            let key = (head.body_id.clone(), name.to_owned());
            let tool = Arc::new(understand(body));
            self.cache.insert(key.clone(), Arc::clone(&tool));
            read.insert(key, tool);
        }
        Ok(read)
    }
}

#[async_trait]
impl ToolSource for McpSource {
    fn kind(&self) -> ToolKind {
        ToolKind::McpTool
    }

    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let heads = match self.heads(refs, cx).await {
            Ok(heads) => heads,
            Err(problem) => return vec![Err(problem); refs.len()],
        };
        let usable: Vec<_> = refs.iter().map(|r| find(r, &heads)).collect();
        let wanted: Vec<_> = usable
            .iter()
            .zip(refs)
            .filter_map(|(head, r)| Some((head.as_ref().ok()?.as_ref(), r.tool_id.as_str())))
            .collect();
        let read = match self.fill(&wanted, cx).await {
            Ok(read) => read,
            Err(problem) => return vec![Err(problem); refs.len()],
        };
        let mut targets: HashMap<&str, Target> = HashMap::new();
        let mut answers = Vec::with_capacity(refs.len());
        for (head, reference) in usable.iter().zip(refs) {
            answers.push(head.as_ref().map_err(Clone::clone).and_then(|head| {
                let target = targets
                    .entry(&head.id)
                    .or_insert_with(|| crate::service::target(&cx.account, &head.id, &head.record));
                let key = (head.body_id.clone(), reference.tool_id.clone());
                self.tool(head, target, reference, read.get(&key))
            }));
        }
        answers
    }
}

impl McpSource {
    fn tool(
        &self,
        head: &Head<ServerRecord>,
        target: &Target,
        reference: &ToolRef,
        read: Option<&Arc<Read>>,
    ) -> Result<Arc<dyn Tool>, Unresolved> {
        let (server, name) = (&head.record.name, &reference.tool_id);
        match read.map(Arc::as_ref) {
            Some(Read::Usable(definition, _)) => {
                Ok(Arc::new(McpTool::new(Arc::clone(&self.inner), target.clone(), definition, head.revision)))
            }
            Some(Read::Removed) => Err(Unresolved::new(
                ProblemCode::ToolNotFound,
                format!(
                    "the MCP server `{server}` does not offer `{name}` any more: take it out, or refresh the server"
                ),
            )),
            Some(Read::Unusable(reason)) => Err(Unresolved::new(
                ProblemCode::InvalidSchema,
                format!("`{name}` of the MCP server `{server}` cannot be called: {reason}"),
            )),
            None => Err(Unresolved::new(
                ProblemCode::ToolNotFound,
                format!(
                    "the MCP server `{server}` has no tool `{name}`: see its list of tools, or refresh it"
                ),
            )),
        }
    }
}

/// The server of a reference, if its tools may be used.
fn find(
    reference: &ToolRef,
    heads: &HashMap<String, Arc<Head<ServerRecord>>>,
) -> Result<Arc<Head<ServerRecord>>, Unresolved> {
    let Some(head) = heads.get(&reference.provider_id) else {
        return Err(Unresolved::new(
            ProblemCode::ProviderNotFound,
            format!("there is no MCP server `{}`: register it first", reference.provider_id),
        ));
    };
    if !reference.params.is_empty() {
        return Err(Unresolved::new(
            ProblemCode::InvalidParams,
            "an MCP tool takes no `params`: leave them `{}`",
        ));
    }
    if !head.record.enabled {
        return Err(Unresolved::new(
            ProblemCode::Disabled,
            format!("the MCP server `{}` is disabled: enable it, or take its tools out", head.record.name),
        ));
    }
    Ok(Arc::clone(head))
}

fn understand(body: Value) -> Read {
    let tool: StoredTool = match serde_json::from_value(body) {
        Ok(tool) => tool,
        Err(error) => return Read::Unusable(format!("its record is not readable ({error})")),
    };
    if tool.removed {
        return Read::Removed;
    }
    let size = serde_json::to_vec(&tool.definition).map_or(0, |bytes| bytes.len());
    match Definition::read(&tool.definition) {
        Ok(definition) => match definition.args_schema.check() {
            Ok(()) => Read::Usable(Box::new(definition), size),
            Err(error) => Read::Unusable(error.to_string()),
        },
        Err(reason) => Read::Unusable(reason),
    }
}

impl fmt::Debug for McpSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSource").finish_non_exhaustive()
    }
}

#[async_trait]
impl ToolLister for McpSource {
    fn kind(&self) -> ToolKind {
        ToolKind::McpTool
    }

    async fn list(&self, cx: &AccountContext, request: &ListRequest) -> Result<ListPage, CatalogError> {
        list_catalog(&self.inner.catalog, &cx.account, request, listing).await
    }
}

fn listing(head: &Head<ServerRecord>, name: &str, body: Value) -> Option<ToolListing> {
    let tool: StoredTool = serde_json::from_value(body).ok()?;
    let definition = Definition::read(&tool.definition).ok().filter(|_| !tool.removed)?;
    Some(ToolListing {
        reference: ToolRef::new(ToolKind::McpTool, head.id.clone(), name),
        provider_name: head.record.name.clone(),
        annotations: crate::service::ours(&definition, &head.record),
        name: definition.name,
        title: definition.title,
        description: definition.description,
        enabled: head.record.enabled,
    })
}
