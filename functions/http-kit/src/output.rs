//! The shape of a tool's result, for the OpenAPI description.

use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What a tool gave back. The status is 200 also when the tool itself reports a failure.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes `domain::ToolOutput`; never built")]
pub struct ToolOutputBody {
    /// What the tool says, block by block: the content blocks of the Model Context Protocol
    /// (`text`, `image`, `audio`, `resource`, `resource_link`).
    #[schema(value_type = Vec<Object>)]
    content: Vec<Map<String, Value>>,
    /// The same as data, where the tool gives data.
    #[schema(value_type = Option<Value>)]
    structured: Option<Value>,
    /// The tool itself reports that it failed.
    is_error: bool,
}
