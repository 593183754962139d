//! The record of a run: kept while it goes, bounded, readable afterwards, also when the process died.

use crate::{
    engine::{Event, EventSink, NodeData, NodeEvent, NodeStatus, RunError, RunStatus},
    nodes::{Values, size_of},
};
use domain::{Entry, ports::Clock};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::mpsc::UnboundedSender;

/// The most nodes that a record names.
const MAX_NODES: usize = 1_000;
/// The most bytes of values that a record holds.
const MAX_BYTES: usize = 1024 * 1024;
/// The largest value that is kept whole, in bytes.
const MAX_VALUE: usize = 8 * 1024;
/// How much of a longer text is shown.
const PREVIEW: usize = 500;
/// How long after the last sign of life a run counts as interrupted.
const SILENCE: SignedDuration = SignedDuration::from_secs(30);

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunRecord {
    /// Its id.
    pub id: String,
    /// The workflow.
    pub workflow_id: String,
    /// The published version; null for a draft.
    pub version: Option<u64>,
    /// How it came in.
    pub entry: Entry,
    /// How it stands.
    pub status: RunStatus,
    /// When it began.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub started_at: Timestamp,
    /// When it was last seen alive.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub seen_at: Timestamp,
    /// How long it took, in seconds.
    pub latency: Option<f64>,
    /// What it was called with; large values are cut.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub inputs: Values,
    /// What it gave; large values are cut.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub outputs: Option<Values>,
    /// Why it did not succeed.
    pub error: Option<RunError>,
    /// The nodes, in the order they began. Empty in lists.
    #[serde(default)]
    pub nodes: Vec<NodeRecord>,
    /// How many more nodes were run than are named.
    #[serde(default)]
    pub nodes_left_out: usize,
}

/// A node of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeRecord {
    /// Which node.
    pub node_data: NodeData,
    /// In which item of which iteration, outermost first.
    #[serde(default, skip_serializing_if = "<[usize]>::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<usize>))]
    pub iteration: Arc<[usize]>,
    /// How it stands.
    pub status: NodeStatus,
    /// What it took; large values are cut.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub inputs: Values,
    /// What it gave; large values are cut.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub outputs: Values,
    /// How long it took, in seconds.
    pub latency: f64,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it failed.
    pub error: Option<RunError>,
}

impl RunRecord {
    /// The record as a reader sees it `now`: a run whose process died is told as what it is.
    pub(crate) fn seen(mut self, now: Timestamp) -> Self {
        if self.status != RunStatus::Running || now.duration_since(self.seen_at) <= SILENCE {
            return self;
        }
        self.status = RunStatus::Failed;
        let running = self.nodes.iter_mut().filter(|node| node.status == NodeStatus::Running);
        let ids: Vec<String> = running
            .map(|node| {
                node.status = NodeStatus::Cancelled;
                node.node_data.id.to_string()
            })
            .collect();
        self.error = Some(RunError {
            code: "interrupted".to_owned(),
            message: "the process that ran it ended before the run did".to_owned(),
            node_id: ids.into_iter().next(),
        });
        self
    }

    /// The record without its nodes, for lists.
    pub(crate) fn brief(self) -> Self {
        Self { nodes: Vec::new(), ..self }
    }
}

/// Keeps the record of a run, and passes its events on.
pub(crate) struct Recorder {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    listener: Option<UnboundedSender<Event>>,
}

struct State {
    record: RunRecord,
    bytes: usize,
    /// Where the nodes stand that have not ended.
    open: HashMap<(Arc<str>, Arc<[usize]>), usize>,
}

impl Recorder {
    /// Begins a record.
    pub(crate) fn new(
        record: RunRecord,
        clock: Arc<dyn Clock>,
        listener: Option<UnboundedSender<Event>>,
    ) -> Self {
        Self { state: Mutex::new(State { record, bytes: 0, open: HashMap::new() }), clock, listener }
    }

    /// The record as it stands, seen alive now.
    pub(crate) fn snapshot(&self) -> RunRecord {
        let mut state = self.state();
        state.record.seen_at = self.clock.now();
        state.record.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Recorder {
    fn emit(&self, mut event: Event) {
        {
            let mut state = self.state();
            match &mut event {
                Event::Node(node) => {
                    state.cut(node);
                    state.note(node);
                }
                Event::End(end) => {
                    state.record.status = end.status;
                    state.record.latency = Some(end.latency);
                    state.record.outputs = end.outputs.as_ref().map(cut);
                    state.record.error.clone_from(&end.error);
                }
            }
        }
        if let Some(listener) = &self.listener {
            // Nobody listens any more: the run's owner cancels it by itself.
            let _ = listener.send(event);
        }
    }
}

impl State {
    /// Cuts large values, and all of them once the record is full.
    fn cut(&mut self, node: &mut NodeEvent) {
        for values in [&mut node.inputs, &mut node.outputs] {
            *values = cut(values);
            let size = values_size(values);
            if self.bytes + size > MAX_BYTES {
                *values = Arc::new(Map::from_iter([("truncated".to_owned(), json!(true))]));
            } else if node.status != NodeStatus::Running {
                self.bytes += size;
            }
        }
    }

    fn note(&mut self, event: &NodeEvent) {
        let node = NodeRecord {
            node_data: event.node_data.clone(),
            iteration: event.iteration.clone(),
            status: event.status,
            inputs: event.inputs.clone(),
            outputs: event.outputs.clone(),
            latency: event.latency,
            attempts: event.attempts,
            error: event.error.clone(),
        };
        let key = (node.node_data.id.clone(), node.iteration.clone());
        if event.status == NodeStatus::Running || event.status == NodeStatus::Skipped {
            if self.record.nodes.len() == MAX_NODES {
                self.record.nodes_left_out += 1;
                return;
            }
            if event.status == NodeStatus::Running {
                self.open.insert(key, self.record.nodes.len());
            }
            self.record.nodes.push(node);
        } else if let Some(place) = self.open.remove(&key)
            && let Some(open) = self.record.nodes.get_mut(place)
        {
            *open = node;
        }
    }
}

fn values_size(values: &Values) -> usize {
    values.iter().map(|(name, value)| name.len() + size_of(value)).sum()
}

/// The values, those that are large replaced by their size and beginning.
pub(crate) fn cut(values: &Values) -> Values {
    if values_size(values) <= MAX_VALUE {
        return values.clone();
    }
    let one = |(name, value): (&String, &Value)| {
        let size = size_of(value);
        if size <= MAX_VALUE / 8 {
            return (name.clone(), value.clone());
        }
        let text = match value {
            Value::String(text) => text.chars().take(PREVIEW).collect(),
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Object(map) => format!("an object of {}", map.len()),
            other => other.to_string(),
        };
        (name.clone(), json!({"truncated": true, "bytes": size, "preview": text}))
    };
    Arc::new(values.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ports::SystemClock;

    fn record() -> RunRecord {
        RunRecord {
            id: "run".into(),
            workflow_id: "wf".into(),
            version: None,
            entry: Entry::Debug,
            status: RunStatus::Running,
            started_at: Timestamp::UNIX_EPOCH,
            seen_at: Timestamp::UNIX_EPOCH,
            latency: None,
            inputs: Values::default(),
            outputs: None,
            error: None,
            nodes: Vec::new(),
            nodes_left_out: 0,
        }
    }

    fn event(id: usize, status: NodeStatus, outputs: Value) -> Event {
        let Value::Object(outputs) = outputs else { panic!("outputs are an object") };
        Event::Node(NodeEvent {
            id: id as u64,
            run_id: "run".into(),
            node_data: NodeData { id: format!("n{id}").into(), node_type: "code".into(), title: "t".into() },
            iteration: Arc::from([]),
            status,
            inputs: Values::default(),
            outputs: Arc::new(outputs),
            latency: 0.0,
            attempts: 1,
            error: None,
        })
    }

    #[test]
    fn a_run_without_a_sign_of_life_is_told_as_interrupted_with_the_node_it_was_at() {
        let recorder = Recorder::new(record(), Arc::new(SystemClock), None);
        recorder.emit(event(1, NodeStatus::Running, json!({})));
        recorder.emit(event(1, NodeStatus::Succeeded, json!({})));
        recorder.emit(event(2, NodeStatus::Running, json!({})));
        let kept = recorder.snapshot();
        let soon = kept.seen_at + SignedDuration::from_secs(29);
        assert_eq!(kept.clone().seen(soon).status, RunStatus::Running);
        let read = kept.clone().seen(kept.seen_at + SignedDuration::from_secs(31));
        let error = read.error.unwrap();
        assert_eq!((read.status, error.code.as_str()), (RunStatus::Failed, "interrupted"));
        assert_eq!(error.node_id.as_deref(), Some("n2"));
        let nodes: Vec<_> = read.nodes.iter().map(|node| node.status).collect();
        assert_eq!(nodes, [NodeStatus::Succeeded, NodeStatus::Cancelled]);
    }

    #[test]
    fn a_record_is_bounded_in_nodes_and_bytes() {
        let recorder = Recorder::new(record(), Arc::new(SystemClock), None);
        for id in 0..MAX_NODES + 5 {
            recorder.emit(event(id, NodeStatus::Running, json!({})));
            let large = json!({"a": "x".repeat(100_000), "b": "y".repeat(900), "c": [1]});
            recorder.emit(event(id, NodeStatus::Succeeded, large));
        }
        let kept = recorder.snapshot();
        assert_eq!((kept.nodes.len(), kept.nodes_left_out), (MAX_NODES, 5));
        assert!(serde_json::to_vec(&kept).unwrap().len() < 2 * MAX_BYTES);
        assert_eq!(kept.nodes[0].outputs["a"]["bytes"], 100_002);
        assert_eq!((&kept.nodes[0].outputs["c"], kept.nodes[MAX_NODES - 1].outputs.len()), (&json!([1]), 1));
    }
}
