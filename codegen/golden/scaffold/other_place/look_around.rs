//! `other_place/look_around`: greets somebody by name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::LookAroundParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookAroundArgs {
    /// Whom to greet.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
}

/// Builds the tool from what an app's author set.
pub fn look_around(
    params: LookAroundParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = LookAroundArgs>, BuildError> {
    Ok(LookAround { greeting: params.greeting })
}

struct LookAround {
    greeting: String,
}

impl CallTool for LookAround {
    type Args = LookAroundArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of(self.greet(&args.name)))
    }
}

impl LookAround {
    fn greet(&self, name: &str) -> String {
        format!("{}, {name}!", self.greeting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greets_by_name() {
        let tool = LookAround { greeting: "Hello".to_owned() };
        assert_eq!(tool.greet("Ada"), "Hello, Ada!");
    }
}
