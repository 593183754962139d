//! The service behind the routes: drafts, publishing, runs.

mod calls;
mod publish;
mod secrets;

use crate::{
    engine::{Event, RunStatus},
    error::WorkflowError,
    graph,
    mermaid::mermaid,
    plan::Plan,
    problem::GraphProblem,
    record::{Draft, Workflow, WorkflowFields},
    run_record::RunRecord,
    runner::{RunHandle, Target, checked_inputs, new_run_id},
    source::{RUN_ID, WorkflowSource},
    store::Store,
};
use domain::{
    AccountContext, AccountId, CallContext, ToolKind, ToolRef, ToolSource,
    ports::{Assembly, Clock, Condition},
};
use serde_json::{Value, json};
use std::{fmt, sync::Arc};

/// The largest graph, in bytes of JSON.
const MAX_GRAPH_BYTES: usize = 1024 * 1024;

/// Workflows of accounts: written, published and run.
#[derive(Clone)]
pub struct Workflows {
    source: WorkflowSource,
    protectors: Vec<Arc<dyn ToolSource>>,
}

impl Workflows {
    /// The service over a source: both work on the same records, with the same engine.
    ///
    /// `protectors` are the sources whose references may hold secrets: those of the tools that nodes call.
    pub fn new(source: WorkflowSource, protectors: Vec<Arc<dyn ToolSource>>) -> Self {
        Self { source, protectors }
    }

    fn store(&self) -> &Store {
        &self.source.runner().store
    }

    fn clock(&self) -> &Arc<dyn Clock> {
        &self.source.runner().clock
    }

    /// A page of workflows, in the order they were made; fewer than `limit` where `q` leaves some out.
    pub async fn list(
        &self,
        account: &AccountId,
        q: Option<&str>,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Workflow>, Option<String>), WorkflowError> {
        let q = q.unwrap_or_default().to_lowercase();
        let (mut page, next_cursor) = self.store().list(account, limit, cursor).await?;
        page.retain(|workflow| {
            let texts = [&workflow.name, &workflow.tool_call_name, &workflow.description];
            texts.iter().any(|text| text.to_lowercase().contains(&q))
        });
        Ok((page, next_cursor))
    }

    /// Makes a workflow with an empty draft.
    pub async fn create(
        &self,
        account: &AccountId,
        fields: WorkflowFields,
    ) -> Result<Workflow, WorkflowError> {
        let now = self.clock().now();
        let fields = checked_fields(fields)?;
        let workflow = Workflow {
            id: format!("wf_{}", uuid::Uuid::now_v7().simple()),
            name: fields.name,
            tool_call_name: fields.tool_call_name,
            description: fields.description,
            icon: fields.icon,
            published: None,
            last_version: 0,
            created_at: now,
            updated_at: now,
        };
        let draft = Draft { graph: json!({"nodes": [], "edges": []}), debug_passed: false, updated_at: now };
        self.store().create(account, &workflow, &draft).await?;
        Ok(workflow)
    }

    /// One workflow.
    pub async fn get(&self, account: &AccountId, id: &str) -> Result<Workflow, WorkflowError> {
        Ok(self.store().head(account, id).await?.record)
    }

    /// The workflow that holds a tool name.
    pub async fn find(&self, account: &AccountId, tool_call_name: &str) -> Result<Workflow, WorkflowError> {
        match self.store().id_of(account, tool_call_name).await? {
            Some(id) => self.get(account, &id).await,
            None => Err(WorkflowError::NotFound(format!("the workflow `{tool_call_name}`"))),
        }
    }

    /// Changes what is written of a workflow besides its graph. A published one shows it when it is next published.
    pub async fn update(
        &self,
        account: &AccountId,
        id: &str,
        fields: WorkflowFields,
    ) -> Result<Workflow, WorkflowError> {
        let fields = checked_fields(fields)?;
        let head = self.store().head(account, id).await?;
        let old_name = head.record.tool_call_name.clone();
        if head.record.last_version > 0 && fields.tool_call_name != old_name {
            return Err(WorkflowError::NameKept(old_name));
        }
        let workflow = Workflow {
            name: fields.name,
            tool_call_name: fields.tool_call_name,
            description: fields.description,
            icon: fields.icon,
            updated_at: self.clock().now(),
            ..head.record
        };
        self.store().update(account, &workflow, &old_name, head.version).await?;
        Ok(workflow)
    }

    /// Removes a workflow with its versions and records of runs. Runs in flight go on to their end.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), WorkflowError> {
        let head = self.store().head(account, id).await?;
        self.store().delete(account, &head).await
    }

    /// The draft as it may be shown: secrets of its tools masked.
    pub async fn draft(&self, account: &AccountId, id: &str) -> Result<Draft, WorkflowError> {
        Ok(self.shown(self.stored_draft(account, id).await?))
    }

    async fn stored_draft(&self, account: &AccountId, id: &str) -> Result<Draft, WorkflowError> {
        Ok(self.store().draft(account, id).await?.record)
    }

    fn shown(&self, mut draft: Draft) -> Draft {
        secrets::mask(&mut draft.graph, &self.protectors);
        draft
    }

    /// Saves a draft as it is, and says what is wrong with it.
    pub async fn put_draft(
        &self,
        account: &AccountId,
        id: &str,
        graph: Value,
    ) -> Result<(Draft, Vec<GraphProblem>), WorkflowError> {
        checked_graph(&graph)?;
        let old = self.stored_draft(account, id).await?;
        let graph = secrets::protect(graph, &old.graph, &self.protectors, account).await?;
        // Moving nodes about in an editor changes nothing of what was debugged.
        let debug_passed = old.debug_passed && undrawn(&old.graph) == undrawn(&graph);
        let draft = Draft { graph, debug_passed, updated_at: self.clock().now() };
        self.store().put_draft(account, id, &draft, Condition::Exists).await?;
        let problems = self.problems(account, id, draft.graph.clone()).await?;
        Ok((self.shown(draft), problems))
    }

    /// The draft or the published graph as the text of a Mermaid flowchart.
    pub async fn mermaid(&self, account: &AccountId, id: &str) -> Result<String, WorkflowError> {
        let draft = self.draft(account, id).await?;
        Ok(mermaid(&graph::parse(&draft.graph).0))
    }

    /// Runs the draft, with events. Give the draft and the terminal event to [`Workflows::debugged`].
    pub async fn debug(
        &self,
        account: &AccountId,
        id: &str,
        inputs: Value,
        cx: &CallContext,
    ) -> Result<(Draft, RunHandle), WorkflowError> {
        let draft = self.stored_draft(account, id).await?;
        let graph = draft.graph.clone();
        let plan = off_thread(move || Plan::of(&graph)).await?.map_err(WorkflowError::Problems)?;
        let inputs = checked_inputs(&plan, inputs)?;
        let target = Target { workflow_id: id.to_owned(), version: None, plan: Arc::new(plan) };
        Ok((draft, self.source.runner().start(new_run_id(), target, inputs, cx, true)))
    }

    /// Notes that a debug run ended well, if the draft is still the one it ran.
    pub async fn debugged(
        &self,
        account: &AccountId,
        id: &str,
        ran: &Draft,
        event: &Event,
    ) -> Result<(), WorkflowError> {
        let Event::End(end) = event else { return Ok(()) };
        if end.status != RunStatus::Succeeded {
            return Ok(());
        }
        let now = self.store().draft(account, id).await?;
        if now.record.debug_passed || now.record.graph != ran.graph {
            return Ok(());
        }
        let draft = Draft { debug_passed: true, ..now.record };
        match self.store().put_draft(account, id, &draft, Condition::Version(now.version)).await {
            // Someone saved another draft in this moment: that one has not been debugged.
            Err(WorkflowError::Conflict(_)) => Ok(()),
            other => other,
        }
    }

    /// Runs what is published, as every tool is called: through the assembler and the toolset.
    pub async fn run(
        &self,
        account: &AccountId,
        id: &str,
        inputs: Value,
        cx: &CallContext,
    ) -> Result<RunHandle, WorkflowError> {
        let workflow = self.get(account, id).await?;
        if workflow.published.is_none() {
            return Err(WorkflowError::NotPublished(workflow.tool_call_name));
        }
        let reference = ToolRef::new(ToolKind::WorkflowTool, id, workflow.tool_call_name);
        let assembler = self.source.runner().engine.deps().assembler.get();
        let assembler =
            assembler.ok_or_else(|| WorkflowError::Internal("no assembler is bound".to_owned()))?;
        let set =
            assembler.assemble(Assembly::of(vec![reference]), &AccountContext::new(account.clone())).await;
        let Some(name) = set.entries().first().map(|entry| entry.name.clone()) else {
            let reason = set.problems().first().map(|p| p.message.clone()).unwrap_or_default();
            return Err(WorkflowError::Corrupt { id: id.to_owned(), reason });
        };
        let run_id = new_run_id();
        let cancel = cx.cancel.child_token();
        let cx = CallContext { cancel: cancel.clone(), ..cx.clone() };
        let call = RUN_ID.scope(run_id.clone(), async move { set.invoke(&name, inputs, &cx).await });
        Ok(RunHandle::spawn(run_id, None, cancel, call))
    }

    /// A page of the records of runs, the latest first, without their nodes.
    pub async fn runs(
        &self,
        account: &AccountId,
        id: &str,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<RunRecord>, Option<String>), WorkflowError> {
        self.get(account, id).await?;
        let (runs, next_cursor) = self.store().runs(account, id, limit, cursor).await?;
        let now = self.clock().now();
        Ok((runs.into_iter().map(|run| run.seen(now).brief()).collect(), next_cursor))
    }

    /// The record of one run.
    pub async fn run_record(
        &self,
        account: &AccountId,
        id: &str,
        run: &str,
    ) -> Result<RunRecord, WorkflowError> {
        Ok(self.store().run(account, id, run).await?.seen(self.clock().now()))
    }

    /// What is wrong with the draft, or with the graph given: its own rules, and whether its tools can be
    /// assembled in this account.
    pub async fn validate(
        &self,
        account: &AccountId,
        id: &str,
        graph: Option<Value>,
    ) -> Result<Vec<GraphProblem>, WorkflowError> {
        let draft = self.stored_draft(account, id).await?.graph;
        let graph = match graph {
            None => draft,
            Some(graph) => {
                checked_graph(&graph)?;
                secrets::protect(graph, &draft, &self.protectors, account).await?
            }
        };
        self.problems(account, id, graph).await
    }

    async fn problems(
        &self,
        account: &AccountId,
        id: &str,
        graph: Value,
    ) -> Result<Vec<GraphProblem>, WorkflowError> {
        match off_thread(move || Plan::of(&graph)).await? {
            Err(problems) => Ok(problems),
            Ok(plan) => Ok(calls::check(&self.source, account, id, &plan).await?.problems),
        }
    }
}

impl fmt::Debug for Workflows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workflows").finish_non_exhaustive()
    }
}

/// Runs what may take some milliseconds of computing.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkflowError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        WorkflowError::Internal("compiling the graph failed; the log has the details".to_owned())
    })
}

fn checked_fields(mut fields: WorkflowFields) -> Result<WorkflowFields, WorkflowError> {
    let invalid = |field, message: &str| Err(WorkflowError::Invalid { field, message: message.to_owned() });
    for text in [&mut fields.name, &mut fields.description] {
        *text = text.trim().to_owned();
    }
    if fields.name.is_empty() || fields.name.chars().count() > 100 {
        return invalid("name", "has 1 to 100 characters");
    }
    let name = &fields.tool_call_name;
    let legal = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.len() <= 50;
    if !legal {
        return invalid(
            "tool_call_name",
            "begins with a letter or `_` and has up to 50 letters, digits and `_`",
        );
    }
    if fields.description.is_empty() || fields.description.chars().count() > 1024 {
        return invalid("description", "has 1 to 1024 characters");
    }
    if fields.icon.len() > 2048 {
        return invalid("icon", "has at most 2048 bytes");
    }
    Ok(fields)
}

/// What a draft must be to be kept at all.
fn checked_graph(graph: &Value) -> Result<(), WorkflowError> {
    let invalid = |field, message: String| Err(WorkflowError::Invalid { field, message });
    for field in ["nodes", "edges"] {
        if !graph.get(field).is_some_and(Value::is_array) {
            return invalid(field, "must be a list".to_owned());
        }
    }
    let bytes = serde_json::to_vec(graph).map_or(usize::MAX, |bytes| bytes.len());
    if bytes > MAX_GRAPH_BYTES {
        return invalid("nodes", format!("and edges have {bytes} bytes; at most {MAX_GRAPH_BYTES} are kept"));
    }
    Ok(())
}

/// The graph without where its nodes are drawn.
fn undrawn(graph: &Value) -> Value {
    let mut graph = graph.clone();
    if let Some(Value::Array(nodes)) = graph.get_mut("nodes") {
        for node in nodes.iter_mut().filter_map(Value::as_object_mut) {
            node.remove("position");
        }
    }
    graph
}
