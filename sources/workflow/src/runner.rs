//! Runs that are recorded: each in a task of its own, so that its record is finished whatever happens to the
//! caller. Dropping the [`RunHandle`] stops the run.

use crate::{
    engine::{Engine, Event, Nesting, RunError, RunStatus},
    error::WorkflowError,
    nodes::Values,
    plan::Plan,
    run_record::{Recorder, RunRecord, cut},
    store::Store,
};
use domain::{AccountId, CallContext, ToolError, ToolOutput, Violation, ports::Clock};
use serde_json::{Map, Value, json};
use std::{fmt, future::Future, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How often the record of a run that goes on is written.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Runs workflows and keeps their records.
#[derive(Clone)]
pub(crate) struct Runner {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What is run.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) workflow_id: String,
    /// None for a draft.
    pub(crate) version: Option<u64>,
    pub(crate) plan: Arc<Plan>,
}

/// A run that goes on by itself. Dropping the handle stops it; its record is finished all the same.
pub struct RunHandle {
    /// The run's id.
    pub run_id: String,
    events: Option<UnboundedReceiver<Event>>,
    task: JoinHandle<Result<ToolOutput, ToolError>>,
    cancel: DropGuard,
}

impl RunHandle {
    /// Lets `work` go on in a task of its own, which `cancel` stops.
    pub(crate) fn spawn(
        run_id: String,
        events: Option<UnboundedReceiver<Event>>,
        cancel: CancellationToken,
        work: impl Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    ) -> Self {
        Self { run_id, events, task: tokio::spawn(work), cancel: cancel.drop_guard() }
    }

    /// The next event, until the terminal one has been given. Only for runs that were started with events.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.as_mut()?.recv().await
    }

    /// Waits for the end and gives the result as a tool's. Waiting may be given up and taken up again.
    pub async fn output(&mut self) -> Result<ToolOutput, ToolError> {
        let broken = |_| Err(ToolError::internal("the task of a workflow run ended by itself"));
        (&mut self.task).await.unwrap_or_else(broken)
    }

    /// Lets the run go on by itself.
    pub fn detach(self) -> String {
        self.cancel.disarm();
        self.run_id
    }
}

impl fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

/// A new run's id. Ids sort by time.
pub(crate) fn new_run_id() -> String {
    format!("run_{}", uuid::Uuid::now_v7().simple())
}

impl Runner {
    /// Starts a recorded run.
    pub(crate) fn start(
        &self,
        run_id: String,
        target: Target,
        inputs: Map<String, Value>,
        cx: &CallContext,
        with_events: bool,
    ) -> RunHandle {
        let (listener, events) = with_events.then(unbounded_channel).unzip();
        let cancel = cx.cancel.child_token();
        let cx = CallContext { cancel: cancel.clone(), ..cx.clone() };
        let (runner, id) = (self.clone(), run_id.clone());
        RunHandle::spawn(run_id, events, cancel, async move {
            let (deadline, allowed) = (cx.deadline, cx.remaining());
            output_of(runner.recorded(id, target, inputs, cx, listener).await, deadline, allowed)
        })
    }

    async fn recorded(
        self,
        run_id: String,
        target: Target,
        inputs: Map<String, Value>,
        cx: CallContext,
        listener: Option<UnboundedSender<Event>>,
    ) -> Result<Values, RunError> {
        let inputs = Arc::new(inputs);
        let now = self.clock.now();
        let record = RunRecord {
            id: run_id.clone(),
            workflow_id: target.workflow_id.clone(),
            version: target.version,
            entry: cx.entry,
            status: RunStatus::Running,
            started_at: now,
            seen_at: now,
            latency: None,
            inputs: cut(&inputs),
            outputs: None,
            error: None,
            nodes: Vec::new(),
            nodes_left_out: 0,
        };
        let recorder = Recorder::new(record, self.clock.clone(), listener);
        let ended = CancellationToken::new();
        let run = async {
            let _ended = ended.clone().drop_guard();
            let run = self.engine.run(&run_id, &target.plan, &inputs, &cx, &recorder);
            Nesting::enter(&target.workflow_id, cx.depth, run).await.and_then(|outcome| outcome)
        };
        // The first record is written while the run begins, so that it costs no time.
        let ((), outcome) = tokio::join!(self.save_while(&cx.account, &recorder, &ended), run);
        self.save(&cx.account, &recorder).await;
        outcome
    }

    async fn save_while(&self, account: &AccountId, recorder: &Recorder, ended: &CancellationToken) {
        loop {
            self.save(account, recorder).await;
            if tokio::time::timeout(SAVE_EVERY, ended.cancelled()).await.is_ok() {
                return;
            }
        }
    }

    async fn save(&self, account: &AccountId, recorder: &Recorder) {
        let record = recorder.snapshot();
        if let Err(error) = self.store.put_run(account, &record).await {
            tracing::warn!(%error, run = %record.id, "the record of a workflow run was not written");
        }
    }
}

/// A run's outcome as a tool's result: what stopped it from outside is an error, what failed in it a result.
pub(crate) fn output_of(
    outcome: Result<Values, RunError>,
    deadline: std::time::Instant,
    allowed: Duration,
) -> Result<ToolOutput, ToolError> {
    let error = match outcome {
        Ok(values) => return Ok(output(&values)),
        Err(error) => error,
    };
    match error.code.as_str() {
        "cancelled" => Err(ToolError::Cancelled),
        "timeout" if std::time::Instant::now() >= deadline => Err(ToolError::Timeout { after: allowed }),
        "invalid_args" => Err(ToolError::InvalidArgs {
            violations: vec![Violation { path: String::new(), message: error.message }],
        }),
        "workflow_cycle" | "workflow_too_deep" => Err(ToolError::Blocked { reason: error.message }),
        _ => {
            let text = format!("The workflow failed ({}): {}", error.code, error.message);
            Ok(ToolOutput { structured: Some(json!({ "error": error })), ..ToolOutput::failed(text) })
        }
    }
}

/// A single text stays a text; everything else is JSON.
fn output(values: &Values) -> ToolOutput {
    let mut entries = values.values();
    let text = match (entries.next(), entries.next()) {
        (Some(Value::String(text)), None) => text.clone(),
        _ => Value::Object(values.as_ref().clone()).to_string(),
    };
    ToolOutput::structured(text, Value::Object(values.as_ref().clone()))
}

/// Repairs and checks inputs by the plan's own schema, as every tool call does.
pub(crate) fn checked_inputs(plan: &Plan, inputs: Value) -> Result<Map<String, Value>, WorkflowError> {
    let schema = plan.args_schema();
    let mut inputs = inputs;
    let unusable = |error: domain::schema::SchemaError| WorkflowError::Internal(error.to_string());
    if !domain::toolset::repair(&mut inputs, &schema).map_err(unusable)? {
        return Err(WorkflowError::InvalidInputs(schema.violations(&inputs).map_err(unusable)?));
    }
    match inputs {
        Value::Object(inputs) => Ok(inputs),
        _ => Err(WorkflowError::InvalidInputs(vec![Violation {
            path: String::new(),
            message: "the inputs must be an object".to_owned(),
        }])),
    }
}
