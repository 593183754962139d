//! `clock/tell_time`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::TellTimeParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TellTimeArgs {
    /// Where.
    pub place: String,
}

/// Builds the tool.
fn tell_time(
    params: TellTimeParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = TellTimeArgs>, BuildError> {
    Ok(TellTime { params })
}

struct TellTime {
    params: TellTimeParams,
}

impl CallTool for TellTime {
    type Args = TellTimeArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of(format!("{:?} {}", self.params, args.place)))
    }
}
