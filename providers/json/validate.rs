//! `json/validate`: a document against a JSON Schema.

use domain::Schema;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ValidateParams, shared};
use crate::contract::{
    BuildError, CallContext, CallTool, ToolDeps, ToolError, ToolOutput, compute, invalid_argument,
};

/// What a caller fills in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateArgs {
    /// The JSON document: as it is, or as a text that holds JSON.
    pub data: Value,
    /// The JSON Schema, draft 2020-12 unless `$schema` says otherwise. References to other documents are not followed.
    pub schema: Value,
}

/// Builds the tool.
pub fn validate(
    _params: ValidateParams,
    _deps: &ToolDeps,
) -> Result<impl CallTool<Args = ValidateArgs>, BuildError> {
    Ok(Validate)
}

struct Validate;

impl CallTool for Validate {
    type Args = ValidateArgs;

    async fn call(&self, args: Self::Args, _cx: &CallContext) -> Result<ToolOutput, ToolError> {
        compute(move || run(args)).await?
    }
}

fn run(args: ValidateArgs) -> Result<ToolOutput, ToolError> {
    let data = shared::document("data", args.data)?;
    let schema = shared::document("schema", args.schema)?;
    if !(schema.is_object() || schema.is_boolean()) {
        return Err(invalid_argument("schema", "is no JSON Schema: it must be an object"));
    }
    let violations = Schema::new(schema)
        .violations(&data)
        .map_err(|error| invalid_argument("schema", format!("cannot be used: {error}")))?;
    let line = |v: &domain::Violation| {
        format!("- {}: {}", if v.path.is_empty() { "(whole)" } else { &v.path }, v.message)
    };
    let text = if violations.is_empty() {
        "The document meets the schema.".to_owned()
    } else {
        let lines: Vec<_> = violations.iter().map(line).collect();
        format!("The document does not meet the schema:\n{}", lines.join("\n"))
    };
    Ok(ToolOutput::structured(text, json!({"valid": violations.is_empty(), "violations": violations})))
}
