//! What is told of a run while it goes: one event when a node starts, one when it ends, and one terminal event.

use crate::{nodes::Values, plan::PlanNode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// A node started, ended or was passed by.
    Node(NodeEvent),
    /// The run ended. Nothing follows.
    End(EndEvent),
}

/// How a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeStatus {
    /// It has started.
    Running,
    /// It gave its outputs.
    Succeeded,
    /// It failed. Where its policy says so the run goes on all the same.
    Failed,
    /// It was not run: no branch leads to it.
    Skipped,
    /// It was running when the run, or the iteration it belongs to, ended without it.
    Cancelled,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStatus {
    /// It has not ended.
    Running,
    /// The end node gave its outputs.
    Succeeded,
    /// It failed.
    Failed,
    /// It was stopped, or its caller went away.
    Cancelled,
}

/// Which node an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeData {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: Arc<str>,
    /// Its type.
    pub node_type: String,
    /// Its title.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub title: Arc<str>,
}

/// A node's start or end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeEvent {
    /// Counts the events of a run, from 1.
    pub id: u64,
    /// Which run.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub run_id: Arc<str>,
    /// Which node.
    pub node_data: NodeData,
    /// In which item of which iteration, outermost first; empty outside iterations.
    #[serde(default, skip_serializing_if = "is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<usize>))]
    pub iteration: Arc<[usize]>,
    /// How it stands.
    pub status: NodeStatus,
    /// What it took.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub inputs: Values,
    /// What it gave.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub outputs: Values,
    /// How long it took, in seconds.
    pub latency: f64,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it failed.
    pub error: Option<RunError>,
}

fn is_empty(path: &Arc<[usize]>) -> bool {
    path.is_empty()
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EndEvent {
    /// Counts the events of a run.
    pub id: u64,
    /// Which run.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub run_id: Arc<str>,
    /// How it ended.
    pub status: RunStatus,
    /// What the end node gave; null when the run did not get there.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub outputs: Option<Values>,
    /// How long it took, in seconds.
    pub latency: f64,
    /// Why it did not succeed.
    pub error: Option<RunError>,
}

/// Why a node or a run did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[error("{message}")]
pub struct RunError {
    /// The stable code.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The node it happened in, or one that was running when it happened.
    pub node_id: Option<String>,
}

/// Takes events. `emit` returns at once.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);
}

/// Takes no interest.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _event: Event) {}
}

/// Tells a sink of one run, and knows what is running.
pub(super) struct Reporter<'a> {
    sink: &'a dyn EventSink,
    run_id: Arc<str>,
    next: AtomicU64,
    running: Mutex<BTreeMap<u64, Arc<str>>>,
    began: Instant,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(run_id: &str, sink: &'a dyn EventSink) -> Self {
        Self {
            sink,
            run_id: run_id.into(),
            next: AtomicU64::new(1),
            running: Mutex::default(),
            began: Instant::now(),
        }
    }

    /// The node that has been running longest.
    pub(super) fn longest_running(&self) -> Option<String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.first_key_value().map(|(_, id)| id.to_string())
    }

    /// Tells that a node was passed by.
    pub(super) fn skipped(&self, node: &PlanNode, path: &Arc<[usize]>) {
        let nothing = Values::default();
        self.tell(node, path, NodeStatus::Skipped, (&nothing, nothing.clone()), Ended::default());
    }

    /// Tells that a node starts. What is given back must be told its end; dropped before, the node is cancelled.
    pub(super) fn started<'r>(
        &'r self,
        node: &'r PlanNode,
        path: &'r Arc<[usize]>,
        inputs: Values,
    ) -> Running<'r, 'a> {
        let id = self.tell(node, path, NodeStatus::Running, (&inputs, Values::default()), Ended::default());
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(id, node.id.clone());
        Running { reporter: self, node, path, inputs, began: Instant::now(), id, attempts: 1, ended: false }
    }

    /// Tells how the run ended.
    pub(super) fn ended(&self, outcome: &Result<Values, RunError>) {
        let status = match outcome {
            Ok(_) => RunStatus::Succeeded,
            Err(error) if error.code == "cancelled" => RunStatus::Cancelled,
            Err(_) => RunStatus::Failed,
        };
        self.sink.emit(Event::End(EndEvent {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            run_id: self.run_id.clone(),
            status,
            outputs: outcome.as_ref().ok().cloned(),
            latency: self.began.elapsed().as_secs_f64(),
            error: outcome.as_ref().err().cloned(),
        }));
    }

    fn tell(
        &self,
        node: &PlanNode,
        path: &Arc<[usize]>,
        status: NodeStatus,
        (inputs, outputs): (&Values, Values),
        ended: Ended,
    ) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.sink.emit(Event::Node(NodeEvent {
            id,
            run_id: self.run_id.clone(),
            node_data: NodeData {
                id: node.id.clone(),
                node_type: node.type_name.to_owned(),
                title: node.title.clone(),
            },
            iteration: path.clone(),
            status,
            inputs: inputs.clone(),
            outputs,
            latency: ended.latency,
            attempts: ended.attempts,
            error: ended.error,
        }));
        id
    }
}

#[derive(Default)]
struct Ended {
    latency: f64,
    attempts: u32,
    error: Option<RunError>,
}

/// A node that is running.
pub(super) struct Running<'r, 'a> {
    reporter: &'r Reporter<'a>,
    node: &'r PlanNode,
    path: &'r Arc<[usize]>,
    inputs: Values,
    began: Instant,
    id: u64,
    /// How often it was tried.
    pub(super) attempts: u32,
    ended: bool,
}

impl Running<'_, '_> {
    pub(super) fn succeeded(mut self, outputs: Values) {
        self.end(NodeStatus::Succeeded, outputs, None);
    }

    pub(super) fn failed(mut self, outputs: Values, error: RunError) {
        self.end(NodeStatus::Failed, outputs, Some(error));
    }

    fn end(&mut self, status: NodeStatus, outputs: Values, error: Option<RunError>) {
        self.ended = true;
        self.reporter.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        let latency = self.began.elapsed().as_secs_f64();
        let ended = Ended { latency, attempts: self.attempts, error };
        self.reporter.tell(self.node, self.path, status, (&self.inputs, outputs), ended);
    }
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        if !self.ended {
            self.end(NodeStatus::Cancelled, Arc::new(Map::<String, Value>::new()), None);
        }
    }
}
