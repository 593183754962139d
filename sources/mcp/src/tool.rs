//! `McpTool`: a tool of a registered server, connected to when it is first called.

use crate::{
    client::{call::CallOptions, error::CallError, headers::ParamHeader},
    connector::Target,
    definition::Definition,
    output,
    service::{Inner, Servers},
};
use async_trait::async_trait;
use domain::{CallContext, Origin, Tool, ToolError, ToolKind, ToolOutput, ToolSpec};
use serde_json::{Map, Value, json};
use std::{sync::Arc, time::Instant};

/// How often a server may ask for more before it answers.
const MAX_ROUNDS: usize = 5;
/// The error code of headers that do not match the request.
const HEADER_MISMATCH: i64 = -32020;

/// A tool of a server.
pub(crate) struct McpTool {
    inner: Arc<Inner>,
    target: Target,
    spec: ToolSpec,
    repeated: Vec<ParamHeader>,
}

impl McpTool {
    pub(crate) fn new(inner: Arc<Inner>, target: Target, definition: &Definition, revision: u64) -> Self {
        let spec = ToolSpec {
            name: definition.name.clone(),
            title: definition.title.clone(),
            description: definition.description.clone(),
            args_schema: definition.args_schema.clone(),
            output_schema: definition.output_schema.clone(),
            annotations: crate::service::ours(definition, &target.record),
            origin: Origin { kind: ToolKind::McpTool, provider_name: target.record.name.clone(), revision },
        };
        Self { inner, target, spec, repeated: definition.repeated.clone() }
    }

    /// Calls, and says no to whatever the server asks in between: nobody is there to be asked.
    async fn run(&self, args: Value, options: &CallOptions) -> Result<ToolOutput, CallError> {
        let mut params =
            Map::from_iter([("name".to_owned(), json!(self.spec.name)), ("arguments".to_owned(), args)]);
        for _ in 0..MAX_ROUNDS {
            let asked = Value::Object(params.clone());
            let connector = &self.inner.connector;
            let reply = connector.call(&self.target, asked, &self.repeated, options).await?;
            match output::read(reply.result)? {
                output::Answer::Complete(output) => return Ok(output),
                output::Answer::Asks { responses, state } => {
                    params.insert("inputResponses".to_owned(), responses);
                    match state {
                        Some(state) => params.insert("requestState".to_owned(), state),
                        None => params.remove("requestState"),
                    };
                }
            }
        }
        Err(CallError::Protocol(format!(
            "it asked for more input {MAX_ROUNDS} times, and nobody is there to be asked"
        )))
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let started = Instant::now();
        let options = CallOptions::of(cx, self.target.record.timeout());
        let outcome = self.run(args, &options).await;
        let noted = outcome.as_ref().map(|_| started.elapsed());
        self.inner.health.note_call(&self.target.account, &self.target.id, noted);
        if let Err(CallError::Refused { code: HEADER_MISMATCH, .. }) = &outcome {
            // The definition asks for other headers by now.
            let servers = Servers(Arc::clone(&self.inner));
            servers.tools_changed(self.target.account.clone(), self.target.id.clone());
        }
        let output = outcome?;
        if let (Some(schema), Some(structured)) = (&self.spec.output_schema, &output.structured)
            && !schema.is_valid(structured).unwrap_or(true)
        {
            tracing::warn!(
                server = self.target.id,
                tool = self.spec.name,
                "a structured result does not meet the tool's own output schema; it is passed on as it is"
            );
        }
        Ok(output)
    }
}
