//! `greet/hello`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{HelloParams, shared};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelloArgs {
    /// Whom to greet.
    pub name: String,
}

/// Builds the tool.
pub fn hello(_params: HelloParams, _deps: &ToolDeps) -> Result<impl CallTool<Args = HelloArgs>, BuildError> {
    Ok(Hello)
}

struct Hello;

impl CallTool for Hello {
    type Args = HelloArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of(shared::sentence("Hello", &args.name)))
    }
}
