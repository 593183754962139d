//! `AuditSink`: a record of every call, never awaited before a result.

use crate::{account::AccountId, reference::ToolRef, tool::Entry};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What is kept of one call. No arguments, no result, no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditRecord {
    /// When the call began.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Whose call it was.
    pub account: AccountId,
    /// For which app.
    pub app_id: Option<String>,
    /// Through which entry.
    pub entry: Entry,
    /// The request it belonged to.
    pub request_id: String,
    /// The name the caller used.
    pub name: String,
    /// The tool, without its params.
    pub tool: String,
    /// `ok`, `tool_error` when the tool reported a failure, or a [`crate::ToolError`]'s code.
    pub outcome: String,
    /// How long it took, in microseconds.
    pub latency_us: u64,
    /// The size of the result, in bytes.
    pub output_bytes: u64,
}

impl AuditRecord {
    /// How a reference is written in a record.
    pub fn tool_of(reference: &ToolRef) -> String {
        reference.to_string()
    }
}

/// Takes audit records. `record` returns at once; a sink that is full drops and counts.
pub trait AuditSink: Send + Sync {
    /// Takes one record.
    fn record(&self, record: AuditRecord);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn record(&self, _record: AuditRecord) {}
}
