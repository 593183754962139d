//! Runs a [`Plan`]: independent branches side by side, everything in the one task that awaits the run.
//!
//! Nothing is spawned, so dropping the run's future stops all of it (code in the sandbox is told to stop).
//! Whatever happens, each started node gets one end event and the run exactly one terminal event.

mod chain;
mod event;
mod iteration;
mod perform;
mod scheduler;

pub use chain::Nesting;
pub use event::{EndEvent, Event, EventSink, NoEvents, NodeData, NodeEvent, NodeStatus, RunError, RunStatus};

use crate::{
    deps::EngineDeps,
    nodes::{NodeError, Values, tool::Tools},
    plan::Plan,
};
use domain::CallContext;
use event::Reporter;
use serde_json::{Map, Value};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Nodes that are run, those of iterations included.
    pub nodes: usize,
    /// Items of one iteration.
    pub items: usize,
    /// Nodes of one graph that run at the same time.
    pub at_once: usize,
    /// A node's outputs, in bytes of JSON.
    pub output_bytes: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { nodes: 50_000, items: 10_000, at_once: 64, output_bytes: 4 * 1024 * 1024 }
    }
}

/// Runs plans. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine {
    deps: Arc<EngineDeps>,
    limits: RunLimits,
}

/// What all nodes of a run share.
struct Run<'a> {
    deps: &'a EngineDeps,
    limits: &'a RunLimits,
    cx: &'a CallContext,
    reporter: &'a Reporter<'a>,
    tools: Tools,
    spent: AtomicUsize,
}

impl Engine {
    /// An engine with the usual limits.
    pub fn new(deps: EngineDeps) -> Self {
        Self::with_limits(deps, RunLimits::default())
    }

    /// An engine with limits of its own.
    pub fn with_limits(deps: EngineDeps, limits: RunLimits) -> Self {
        Self { deps: Arc::new(deps), limits }
    }

    /// The ports it works with.
    pub fn deps(&self) -> &EngineDeps {
        &self.deps
    }

    /// Runs a plan once, to its end, the context's deadline or its cancellation, and gives the end node's outputs.
    ///
    /// The sink gets the terminal event even when this future is dropped before it is done.
    pub async fn run(
        &self,
        run_id: &str,
        plan: &Plan,
        inputs: &Map<String, Value>,
        cx: &CallContext,
        sink: &dyn EventSink,
    ) -> Result<Values, RunError> {
        let reporter = Reporter::new(run_id, sink);
        let mut terminal = Terminal { reporter: &reporter, told: false };
        let outcome = self.race(plan, inputs, cx, &reporter).await;
        terminal.tell(&outcome);
        outcome
    }

    async fn race(
        &self,
        plan: &Plan,
        inputs: &Map<String, Value>,
        cx: &CallContext,
        reporter: &Reporter<'_>,
    ) -> Result<Values, RunError> {
        let allowed = cx.remaining();
        // Dropped at the end of this function: what still runs is reported as cancelled before the run's end is.
        let mut work = std::pin::pin!(self.work(plan, inputs, cx, reporter));
        let stopped = |code: &str, message: String| {
            let node_id = reporter.longest_running();
            Err(RunError { code: code.to_owned(), message, node_id })
        };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => stopped("cancelled", "the run was stopped".to_owned()),
            () = tokio::time::sleep_until(cx.deadline.into()) => {
                stopped("timeout", format!("the run took longer than {} ms", allowed.as_millis()))
            }
            outcome = &mut work => outcome,
        }
    }

    async fn work(
        &self,
        plan: &Plan,
        inputs: &Map<String, Value>,
        cx: &CallContext,
        reporter: &Reporter<'_>,
    ) -> Result<Values, RunError> {
        let of_run = |error: NodeError| RunError {
            code: error.code.into_owned(),
            message: error.message,
            node_id: None,
        };
        let arguments =
            plan.arguments(inputs).map_err(|message| of_run(NodeError::new("invalid_args", message)))?;
        let tools = Tools::assemble(&self.deps.assembler, plan.tool_refs(), cx).await.map_err(of_run)?;
        let run =
            Run { deps: &self.deps, limits: &self.limits, cx, reporter, tools, spent: AtomicUsize::new(0) };
        scheduler::run_graph(&run, plan, Arc::new(arguments), &Arc::from([])).await
    }
}

impl Run<'_> {
    /// Takes one node from the run's budget.
    fn spend_node(&self, id: &str) -> Result<(), RunError> {
        if self.spent.fetch_add(1, Ordering::Relaxed) < self.limits.nodes {
            return Ok(());
        }
        Err(RunError {
            code: "too_many_nodes".to_owned(),
            message: format!("the run was stopped: it has run {} nodes", self.limits.nodes),
            node_id: Some(id.to_owned()),
        })
    }
}

/// Sees to it that the run's end is told exactly once.
struct Terminal<'a> {
    reporter: &'a Reporter<'a>,
    told: bool,
}

impl Terminal<'_> {
    fn tell(&mut self, outcome: &Result<Values, RunError>) {
        if !std::mem::replace(&mut self.told, true) {
            self.reporter.ended(outcome);
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if !self.told {
            // The run's future was dropped: everything that ran has been cancelled by now.
            let message = "the run's caller went away".to_owned();
            self.tell(&Err(RunError { code: "cancelled".to_owned(), message, node_id: None }));
        }
    }
}
