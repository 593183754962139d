//! `json/query`: JMESPath over a JSON document. Why JMESPath: `docs/decisions/0003-jmespath-for-json-queries.md`.

use jmespath::{ErrorReason, JmespathError, Rcvar, Variable};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{QueryParams, shared};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};

/// The largest result, in bytes of JSON.
const LARGEST: usize = 1024 * 1024;

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryArgs {
    /// The JSON document: as it is, or as a text that holds JSON.
    pub data: Value,
    /// The JMESPath expression. Literals stand in backticks, raw strings in single quotes.
    #[schemars(length(min = 1, max = 1000))]
    pub expression: String,
}

/// Builds the tool.
pub fn query(_params: QueryParams, _deps: &ToolDeps) -> Result<impl CallTool<Args = QueryArgs>, BuildError> {
    Ok(Query)
}

struct Query;

impl CallTool for Query {
    type Args = QueryArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        compute(move || run(args)).await?
    }
}

fn run(args: QueryArgs) -> Result<ToolOutput, ToolError> {
    let data = shared::document("data", args.data)?;
    shared::check_shape(&args.expression).map_err(|message| invalid_argument("expression", message))?;
    let expression = jmespath::compile(&args.expression).map_err(|error| wrong(&error))?;
    let data = Variable::try_from(data).map_err(ToolError::internal)?;
    shared::check_growth(expression.as_ast(), &data)
        .map_err(|message| invalid_argument("expression", message))?;
    let result = match expression.search(Rcvar::new(data)) {
        Ok(result) => result,
        Err(error) if matches!(error.reason, ErrorReason::Runtime(_)) => {
            return Ok(ToolOutput::failed(format!(
                "The expression does not fit the data: {}",
                explained(&error)
            )));
        }
        Err(error) => return Err(wrong(&error)),
    };
    let text = shared::to_json(&result, LARGEST)
        .ok_or(ToolError::TooLarge { what: "the result".to_owned(), limit: LARGEST as u64 })?;
    let result: Value = serde_json::from_str(&text).map_err(ToolError::internal)?;
    Ok(ToolOutput::structured(text, json!({ "result": result })))
}

fn wrong(error: &JmespathError) -> ToolError {
    invalid_argument("expression", format!("is not a JMESPath expression: {}", explained(error)))
}

/// The library's own words without its drawing of the place.
fn explained(error: &JmespathError) -> String {
    format!(
        "{} (at character {})",
        error.reason.to_string().trim_start_matches("Parse error: "),
        error.offset + 1
    )
}
