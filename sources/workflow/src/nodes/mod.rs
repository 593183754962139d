//! What each node type does with its inputs.
//!
//! A node takes its resolved inputs and gives its outputs or a [`NodeError`]. It knows neither the graph nor
//! the scheduler; timeouts, retries and error policies are the engine's.

pub(crate) mod aggregate;
pub(crate) mod code;
pub(crate) mod condition;
pub(crate) mod http_request;
pub(crate) mod intent;
pub(crate) mod llm;
pub(crate) mod retrieval;
pub(crate) mod template;
pub(crate) mod tool;

use domain::ToolError;
use serde_json::{Map, Value};
use std::{borrow::Cow, sync::Arc};

/// A node's values by name.
pub(crate) type Values = Arc<Map<String, Value>>;

/// Why a node gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct NodeError {
    /// The stable code.
    pub(crate) code: Cow<'static, str>,
    /// A sentence for people.
    pub(crate) message: String,
    /// Whether trying again may help.
    pub(crate) may_pass: bool,
}

impl NodeError {
    /// A failure that stays.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), may_pass: false }
    }

    /// A failure that may pass.
    pub(crate) fn passing(code: &'static str, message: impl Into<String>) -> Self {
        Self { may_pass: true, ..Self::new(code, message) }
    }
}

impl From<ToolError> for NodeError {
    fn from(error: ToolError) -> Self {
        let may_pass = match &error {
            ToolError::Upstream { status, .. } => *status == 0 || *status == 429 || *status >= 500,
            ToolError::Unreachable { .. } | ToolError::Timeout { .. } | ToolError::RateLimited { .. } => true,
            _ => false,
        };
        Self { code: error.code().into(), message: error.for_operator(), may_pass }
    }
}

/// An object of outputs.
pub(crate) fn outputs<const N: usize>(values: [(&str, Value); N]) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// How many bytes of JSON a value takes, about: exact but for escapes in texts.
pub(crate) fn size_of(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size_of(item) + 1).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(key, item)| key.len() + 4 + size_of(item)).sum::<usize>(),
    }
}
