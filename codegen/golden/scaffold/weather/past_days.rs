//! `weather/past_days`: greets somebody by name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::PastDaysParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PastDaysArgs {
    /// Whom to greet.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
}

/// Builds the tool from what an app's author set.
pub fn past_days(
    params: PastDaysParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = PastDaysArgs>, BuildError> {
    Ok(PastDays { greeting: params.greeting })
}

struct PastDays {
    greeting: String,
}

impl CallTool for PastDays {
    type Args = PastDaysArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of(self.greet(&args.name)))
    }
}

impl PastDays {
    fn greet(&self, name: &str) -> String {
        format!("{}, {name}!", self.greeting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greets_by_name() {
        let tool = PastDays { greeting: "Hello".to_owned() };
        assert_eq!(tool.greet("Ada"), "Hello, Ada!");
    }
}
