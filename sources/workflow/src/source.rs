//! Published workflows as tools.

use crate::{
    engine::{Engine, Nesting, NoEvents},
    error::WorkflowError,
    plan::Plan,
    record::{Version, Workflow},
    runner::{Runner, Target, new_run_id, output_of},
    store::Store,
};
use async_trait::async_trait;
use domain::{
    AccountContext, AccountId, CallContext, ListPage, ListRequest, Origin, ProblemCode, Tool, ToolError,
    ToolKind, ToolLister, ToolListing, ToolOutput, ToolRef, ToolSource, ToolSpec, Unresolved,
    catalog::CatalogError,
    ports::{Clock, Table, TableError},
};
use moka::sync::Cache;
use serde_json::Value;
use std::{collections::HashMap, fmt, sync::Arc};

/// How many published versions stay compiled in a process.
const CACHED: u64 = 500;

tokio::task_local! {
    /// The id that the caller wants the run of this call to have, so that it can be told before its end.
    pub(crate) static RUN_ID: String;
}

/// A published version, by the account, the workflow and the version.
type VersionKey = (AccountId, String, u64);

/// The source of `workflow_tool` references, and their list.
#[derive(Clone)]
pub struct WorkflowSource {
    runner: Runner,
    versions: Cache<VersionKey, Arc<PublishedPlan>>,
}

/// A published version, ready to run.
pub(crate) struct PublishedPlan {
    pub(crate) target: Target,
    pub(crate) spec: ToolSpec,
}

/// A published workflow as a tool. It keeps the version it was resolved to.
struct WorkflowTool {
    published: Arc<PublishedPlan>,
    runner: Runner,
}

impl WorkflowSource {
    /// A source over the records in `table`.
    pub fn new(table: Arc<dyn Table>, engine: Engine, clock: Arc<dyn Clock>) -> Self {
        let runner = Runner { engine, store: Store::new(table), clock };
        Self { runner, versions: Cache::new(CACHED) }
    }

    pub(crate) fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The published versions of heads, in one round of reads for those that are not cached.
    async fn published(
        &self,
        account: &AccountId,
        wanted: &[&Workflow],
    ) -> Result<Vec<Option<Result<Arc<PublishedPlan>, String>>>, TableError> {
        let key = |workflow: &Workflow| {
            let version = workflow.published.as_ref()?.version;
            Some((account.clone(), workflow.id.clone(), version))
        };
        let keys: Vec<Option<VersionKey>> = wanted.iter().map(|workflow| key(workflow)).collect();
        let mut ready: HashMap<VersionKey, Result<Arc<PublishedPlan>, String>> = HashMap::new();
        let mut missing: Vec<VersionKey> = Vec::new();
        for key in keys.iter().flatten() {
            match self.versions.get(key) {
                Some(plan) => {
                    ready.insert(key.clone(), Ok(plan));
                }
                None if !missing.contains(key) => missing.push(key.clone()),
                None => {}
            }
        }
        if !missing.is_empty() {
            let asked: Vec<(&str, u64)> = missing.iter().map(|(_, id, v)| (id.as_str(), *v)).collect();
            let read = self.runner.store.versions(account, &asked).await?;
            for (key, version) in missing.into_iter().zip(read) {
                let made = self.compile(&key, version).await;
                ready.insert(key, made);
            }
        }
        Ok(keys.into_iter().map(|key| key.and_then(|key| ready.get(&key).cloned())).collect())
    }

    async fn compile(
        &self,
        key: &VersionKey,
        version: Option<Version>,
    ) -> Result<Arc<PublishedPlan>, String> {
        let Some(version) = version else {
            return Err("the published version is gone; publish the workflow again".to_owned());
        };
        let id = key.1.clone();
        let made = tokio::task::spawn_blocking(move || PublishedPlan::of(id, &version)).await;
        let published = made.map_err(|_| "the published version could not be compiled".to_owned())??;
        let published = Arc::new(published);
        self.versions.insert(key.clone(), published.clone());
        Ok(published)
    }

    fn tool(
        &self,
        reference: &ToolRef,
        head: Option<&Workflow>,
        published: Option<Result<Arc<PublishedPlan>, String>>,
    ) -> Result<Arc<dyn Tool>, Unresolved> {
        let refuse = |code, message: String| Err(Unresolved::new(code, message));
        if !reference.params.is_empty() {
            let message = "a workflow takes no params; remove them from the reference";
            return refuse(ProblemCode::InvalidParams, message.to_owned());
        }
        let Some(head) = head else {
            let message = format!("there is no workflow `{}`", reference.provider_id);
            return refuse(ProblemCode::ProviderNotFound, message);
        };
        // An app's list of workflows names ids alone.
        if !reference.tool_id.is_empty() && reference.tool_id != head.tool_call_name {
            let message = format!(
                "the workflow `{}` is the tool `{}`, not `{}`",
                head.id, head.tool_call_name, reference.tool_id
            );
            return refuse(ProblemCode::ToolNotFound, message);
        }
        match published {
            None => refuse(
                ProblemCode::Disabled,
                format!("the workflow `{}` is not published", head.tool_call_name),
            ),
            Some(Err(reason)) => refuse(ProblemCode::StoreFailed, reason),
            Some(Ok(published)) => Ok(Arc::new(WorkflowTool { published, runner: self.runner.clone() })),
        }
    }
}

impl fmt::Debug for WorkflowSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowSource").finish_non_exhaustive()
    }
}

#[async_trait]
impl ToolSource for WorkflowSource {
    fn kind(&self) -> ToolKind {
        ToolKind::WorkflowTool
    }

    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let failed = |error: &TableError| {
            let message = format!("the workflows could not be read: {error}");
            refs.iter().map(|_| Err(Unresolved::new(ProblemCode::StoreFailed, message.clone()))).collect()
        };
        let ids: Vec<&str> = refs.iter().map(|reference| reference.provider_id.as_str()).collect();
        let heads = match self.runner.store.heads(&cx.account, &ids).await {
            Ok(heads) => heads,
            Err(error) => return failed(&error),
        };
        let found: Vec<&Workflow> = heads.iter().flatten().collect();
        let mut published = match self.published(&cx.account, &found).await {
            Ok(published) => published.into_iter(),
            Err(error) => return failed(&error),
        };
        let mut tools = Vec::with_capacity(refs.len());
        for (reference, head) in refs.iter().zip(&heads) {
            let plan = head.as_ref().and_then(|_| published.next().flatten());
            tools.push(self.tool(reference, head.as_ref(), plan));
        }
        tools
    }
}

#[async_trait]
impl ToolLister for WorkflowSource {
    fn kind(&self) -> ToolKind {
        ToolKind::WorkflowTool
    }

    async fn list(&self, cx: &AccountContext, request: &ListRequest) -> Result<ListPage, CatalogError> {
        let mut cursor = request.cursor.clone();
        let mut items = Vec::new();
        loop {
            let page = self.runner.store.list(&cx.account, request.limit.max(1), cursor).await;
            let (workflows, next_cursor) = page.map_err(|error| match error {
                WorkflowError::Table(error) => CatalogError::Table(error),
                other => CatalogError::Corrupt { id: "a workflow".to_owned(), reason: other.to_string() },
            })?;
            let wanted = |item: &ToolListing| request.q.as_ref().is_none_or(|q| item.matches(q));
            items.extend(workflows.into_iter().filter_map(listing).filter(wanted));
            // A page without a hit is no answer to give; one with some is, since cursors stand between pages.
            if !items.is_empty() || next_cursor.is_none() {
                return Ok(ListPage { items, next_cursor });
            }
            cursor = next_cursor;
        }
    }
}

fn listing(workflow: Workflow) -> Option<ToolListing> {
    let published = workflow.published?;
    Some(ToolListing {
        reference: ToolRef::new(ToolKind::WorkflowTool, workflow.id, &workflow.tool_call_name),
        provider_name: workflow.name.clone(),
        name: workflow.tool_call_name,
        title: workflow.name,
        description: workflow.description,
        annotations: published.annotations,
        enabled: true,
    })
}

impl PublishedPlan {
    fn of(id: String, version: &Version) -> Result<Self, String> {
        let plan = Plan::of(&version.graph).map_err(|problems| {
            let first = problems.first().map(|p| p.message.clone()).unwrap_or_default();
            format!("the published version no longer meets the rules: {first}")
        })?;
        let spec = ToolSpec {
            name: version.tool_call_name.clone(),
            title: version.name.clone(),
            description: version.description.clone(),
            args_schema: plan.args_schema(),
            output_schema: Some(plan.output_schema()),
            annotations: version.annotations,
            origin: Origin {
                kind: ToolKind::WorkflowTool,
                provider_name: version.name.clone(),
                revision: version.number,
            },
        };
        let target = Target { workflow_id: id, version: Some(version.number), plan: Arc::new(plan) };
        Ok(Self { target, spec })
    }
}

#[async_trait]
impl Tool for WorkflowTool {
    fn spec(&self) -> &ToolSpec {
        &self.published.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let Value::Object(inputs) = args else {
            return Err(ToolError::internal("the arguments of a workflow are not an object"));
        };
        let target = &self.published.target;
        if cx.depth == 0 {
            let run_id = RUN_ID.try_with(Clone::clone).unwrap_or_else(|_| new_run_id());
            return self.runner.start(run_id, target.clone(), inputs, cx, false).output().await;
        }
        // Inside another workflow it is one node of that one's record, and ends with it.
        let allowed = cx.remaining();
        let run_id = format!("{}.{}", cx.request_id, target.workflow_id);
        let run = self.runner.engine.run(&run_id, &target.plan, &inputs, cx, &NoEvents);
        let outcome = Nesting::enter(&target.workflow_id, cx.depth, run).await.and_then(|outcome| outcome);
        output_of(outcome, cx.deadline, allowed)
    }
}
