//! `ChatModel`: a language model that streams, and may call tools.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// A call that the model wants made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's id for it, repeated with the result.
    pub id: String,
    /// The tool's name in the toolset.
    pub name: String,
    /// The arguments; an object, or a text where the model did not give JSON.
    pub arguments: Value,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who says it.
    pub role: ChatRole,
    /// Its text.
    #[serde(default)]
    pub content: String,
    /// Addresses of pictures that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_urls: Vec<String>,
    /// The calls an assistant's message asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Which call a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the model thought, to be sent back to models that want it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl ChatMessage {
    /// A message that is one text.
    pub fn text(role: ChatRole, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            image_urls: Vec::new(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            reasoning: None,
        }
    }

    /// The result of a call.
    pub fn result(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call_id.into()), ..Self::text(ChatRole::Tool, content) }
    }
}

/// A tool as a model sees it, its schema already projected to the model's dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatTool {
    /// The name in the toolset.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The projected schema.
    pub parameters: Value,
}

/// What is asked of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// The tools it may call.
    pub tools: Vec<ChatTool>,
    /// Parameters of the provider (temperature and so on), passed on as they are.
    pub parameters: Map<String, Value>,
}

/// What a turn cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl Usage {
    /// Both together.
    pub const fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A piece of a model's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// More of the text.
    Text(String),
    /// More of what it thinks.
    Reasoning(String),
    /// A whole tool call.
    ToolCall(ToolCall),
    /// The end. No event follows.
    End {
        /// What it cost, where the provider tells.
        usage: Option<Usage>,
    },
}

/// Why a model gave no answer, or not all of it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ChatError {
    /// The provider refused the request.
    #[error("the model refused the request with status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said, trimmed, without secrets.
        message: String,
    },
    /// It could not be reached.
    #[error("the model cannot be reached: {0}")]
    Unreachable(String),
    /// The stream broke off or was not understood.
    #[error("the model's answer broke off: {0}")]
    Broken(String),
    /// No event within the time allowed.
    #[error("the model gave no answer in time")]
    Timeout,
    /// The address is not allowed.
    #[error("blocked: {0}")]
    Blocked(String),
}

impl ChatError {
    /// Whether the same request may well succeed a moment later.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Refused { status, .. } => matches!(*status, 408 | 409 | 425 | 429 | 500..=599),
            Self::Unreachable(_) | Self::Broken(_) | Self::Timeout => true,
            Self::Blocked(_) => false,
        }
    }
}

/// The events of an answer, ending with [`ChatEvent::End`] or an error.
pub type ChatStream = BoxStream<'static, Result<ChatEvent, ChatError>>;

/// A language model.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Starts a turn.
    async fn chat(&self, request: ChatRequest) -> Result<ChatStream, ChatError>;
}
