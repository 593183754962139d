//! `weather/forecast`: greets somebody by name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ForecastParams;
use crate::contract::{BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForecastArgs {
    /// Whom to greet.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
}

/// Builds the tool from what an app's author set.
pub fn forecast(
    params: ForecastParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = ForecastArgs>, BuildError> {
    Ok(Forecast { greeting: params.greeting })
}

struct Forecast {
    greeting: String,
}

impl CallTool for Forecast {
    type Args = ForecastArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of(self.greet(&args.name)))
    }
}

impl Forecast {
    fn greet(&self, name: &str) -> String {
        format!("{}, {name}!", self.greeting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greets_by_name() {
        let tool = Forecast { greeting: "Hello".to_owned() };
        assert_eq!(tool.greet("Ada"), "Hello, Ada!");
    }
}
