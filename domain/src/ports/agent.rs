//! `Agent`: a query in, a model's turns and tool calls out, event by event.
//!
//! The events are those that every channel shows and every trace keeps. Who runs an agent gives it all it needs
//! (model, toolset, history); an agent reads no store.

use crate::{
    ports::{ChatMessage, OpenModel},
    tool::CallContext,
    toolset::Toolset,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AgentEventKind {
    /// The model wants tools called: `thought` is the list of calls as JSON.
    AgentThought,
    /// A piece of the answer. Pieces with one `id` belong together.
    AgentMessage,
    /// A tool was called: `tool`, `tool_input`, `observation`.
    AgentAction,
    /// Datasets were searched: `tool_input`, `observation`.
    DatasetRetrieval,
    /// The run is over and the answer is whole. Terminal.
    AgentEnd,
    /// Somebody stopped the run. Terminal.
    Stop,
    /// The run failed: `observation` says why. Terminal.
    Error,
    /// The run's time is over. Terminal.
    Timeout,
    /// Nothing: the connection is kept alive.
    Ping,
}

impl AgentEventKind {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentThought => "agent_thought",
            Self::AgentMessage => "agent_message",
            Self::AgentAction => "agent_action",
            Self::DatasetRetrieval => "dataset_retrieval",
            Self::AgentEnd => "agent_end",
            Self::Stop => "stop",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Ping => "ping",
        }
    }

    /// Whether nothing follows.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::AgentEnd | Self::Stop | Self::Error | Self::Timeout)
    }
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentEvent {
    /// The step's id; pieces of one message share it.
    pub id: String,
    /// What happened.
    pub event: AgentEventKind,
    /// What the model said or wants, as the kind tells.
    #[serde(default)]
    pub thought: String,
    /// What came of it.
    #[serde(default)]
    pub observation: String,
    /// The tool that was called.
    #[serde(default)]
    pub tool: String,
    /// What it was called with.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub tool_input: Map<String, Value>,
    /// The model's id of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool_call_id: String,
    /// The tool or the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The piece of the answer.
    #[serde(default)]
    pub answer: String,
    /// What the model thought before it spoke, where it tells.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Tokens of the step, read and written.
    #[serde(default)]
    pub total_token_count: u64,
    /// What the step cost, in the unit of the model's price.
    #[serde(default)]
    pub total_price: f64,
    /// How long the step took, in seconds.
    #[serde(default)]
    pub latency: f64,
}

impl AgentEvent {
    /// An event that says nothing yet.
    pub fn new(id: impl Into<String>, event: AgentEventKind) -> Self {
        Self {
            id: id.into(),
            event,
            thought: String::new(),
            observation: String::new(),
            tool: String::new(),
            tool_input: Map::new(),
            tool_call_id: String::new(),
            is_error: false,
            answer: String::new(),
            reasoning: String::new(),
            total_token_count: 0,
            total_price: 0.0,
            latency: 0.0,
        }
    }

    /// A new step of a kind.
    pub fn step(event: AgentEventKind) -> Self {
        Self::new(uuid::Uuid::now_v7().simple().to_string(), event)
    }
}

/// Words that are looked for in queries and answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// The words, in any case.
    pub keywords: Vec<String>,
    /// What a query with one of them is answered with, where queries are reviewed.
    pub preset_response: Option<String>,
    /// Whether answers are reviewed: a word is replaced by asterisks.
    pub outputs: bool,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// How often the model may ask for tools.
    pub max_iterations: u32,
    /// How many tokens all turns together may take.
    pub max_tokens: Option<u64>,
}

/// What an agent is asked.
#[derive(Debug)]
pub struct AgentRequest {
    /// Whose run it is, until when, and the token that stops it.
    pub cx: CallContext,
    /// Who answers.
    pub model: OpenModel,
    /// Parameters of the model.
    pub parameters: Map<String, Value>,
    /// What may be called.
    pub toolset: Arc<Toolset>,
    /// Instructions.
    pub system: String,
    /// What was said before, oldest first.
    pub history: Vec<ChatMessage>,
    /// What the person asks.
    pub query: String,
    /// Addresses of pictures that go with it.
    pub image_urls: Vec<String>,
    /// How far it may go.
    pub limits: AgentLimits,
    /// Words that are looked for.
    pub review: Review,
}

/// Nobody takes events any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody takes the run's events any more")]
pub struct SinkClosed;

/// Takes a run's events, one after the other.
#[async_trait]
pub trait AgentSink: Send {
    /// Takes one event; it is kept when this returns.
    async fn event(&mut self, event: AgentEvent) -> Result<(), SinkClosed>;
}

/// Answers queries with a model and tools.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Runs to the end. The last event is terminal and the only one of its kind, unless the sink closed before.
    async fn run(&self, request: AgentRequest, sink: &mut dyn AgentSink);
}
