//! The arguments of a call, and how a refusal points at one.

use domain::{ToolError, Violation};
use serde_json::{Map, Value};

/// The arguments: one JSON object that met the tool's schema.
pub(crate) type Args<'a> = &'a Map<String, Value>;

/// The JSON pointer of a member of the arguments.
pub(crate) fn pointer(arg: &str) -> String {
    format!("/{}", arg.replace('~', "~0").replace('/', "~1"))
}

/// A refusal of one argument; nothing has been sent.
pub(crate) fn refused(arg: &str, message: impl Into<String>) -> ToolError {
    refused_at(pointer(arg), message)
}

/// A refusal of what stands at a pointer into the arguments.
pub(crate) fn refused_at(path: String, message: impl Into<String>) -> ToolError {
    ToolError::InvalidArgs { violations: vec![Violation { path, message: message.into() }] }
}
