//! The road: look up, repair, validate, ask for approval, call under the deadline, cap, record.

use super::{ApprovalPolicy, ToolEntry, Toolset, output_cap, repair};
use crate::{error::ToolError, output::ToolOutput, ports::AuditRecord, tool::CallContext};
use futures::FutureExt as _;
use serde_json::Value;
use std::{panic::AssertUnwindSafe, time::Instant};

impl Toolset {
    /// Calls a tool of the set. Every entry of the product calls tools through this, and nothing else does.
    ///
    /// # Errors
    /// What stops the call before or around the tool; a failure that the tool reports is a result.
    pub async fn invoke(&self, name: &str, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let at = self.runtime.clock.now();
        let started = Instant::now();
        let entry = self.get(name);
        let result = match entry {
            Some(entry) => self.run(entry, args, cx).await,
            None => Err(ToolError::NotFound { what: format!("the tool `{name}`") }),
        };
        let (outcome, output_bytes) = match &result {
            Ok(output) if output.is_error => ("tool_error", output_cap::total_size(output)),
            Ok(output) => ("ok", output_cap::total_size(output)),
            Err(error) => (error.code(), 0),
        };
        self.runtime.audit.record(AuditRecord {
            at,
            account: cx.account.clone(),
            app_id: cx.app_id.clone(),
            entry: cx.entry,
            request_id: cx.request_id.clone(),
            name: name.to_owned(),
            tool: entry.map(|e| AuditRecord::tool_of(&e.reference)).unwrap_or_default(),
            outcome: outcome.to_owned(),
            latency_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            output_bytes: output_bytes as u64,
        });
        result
    }

    async fn run(&self, entry: &ToolEntry, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let args = self.validated(entry, args)?;
        let asks = match self.approval {
            ApprovalPolicy::Never => false,
            ApprovalPolicy::Destructive => entry.spec().annotations.destructive,
            ApprovalPolicy::Always => true,
        };
        if asks && !cx.approved {
            return Err(ToolError::NeedsApproval { tool: entry.name.clone() });
        }
        let allowed = cx.remaining();
        let call = AssertUnwindSafe(entry.tool.call(args, cx)).catch_unwind();
        let output = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
            ended = tokio::time::timeout_at(cx.deadline.into(), call) => match ended {
                Err(_) => return Err(ToolError::Timeout { after: allowed }),
                Ok(Err(_)) => {
                    tracing::error!(tool = %entry.reference, request_id = %cx.request_id, "a tool panicked");
                    return Err(ToolError::internal("the tool panicked; the log has the details"));
                }
                Ok(Ok(result)) => result?,
            },
        };
        output_cap::cap(output, &cx.account, &self.runtime).await
    }

    fn validated(&self, entry: &ToolEntry, mut args: Value) -> Result<Value, ToolError> {
        let limit = self.runtime.limits.args_bytes;
        if output_cap::json_size(&args) > limit {
            return Err(ToolError::TooLarge { what: "the arguments".into(), limit: limit as u64 });
        }
        let schema = &entry.spec().args_schema;
        let unusable = |e| ToolError::internal(format!("`{}`: {e}", entry.reference));
        if repair(&mut args, schema).map_err(unusable)? {
            return Ok(args);
        }
        Err(ToolError::InvalidArgs { violations: schema.violations(&args).map_err(unusable)? })
    }
}
