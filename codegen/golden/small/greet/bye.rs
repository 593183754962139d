//! `greet/bye`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ByeParams, shared};
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByeArgs {
    /// Whom to greet.
    pub name: String,
}

/// Builds the tool.
pub fn bye(_params: ByeParams, _deps: &ToolDeps) -> Result<impl CallTool<Args = ByeArgs>, BuildError> {
    Ok(Bye)
}

struct Bye;

impl CallTool for Bye {
    type Args = ByeArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of(shared::sentence("Bye", &args.name)))
    }
}
