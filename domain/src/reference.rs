//! `ToolRef`: how a config names a tool without holding it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr};

/// Which source a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ToolKind {
    /// Compiled in from the registry. Ids: provider, tool.
    BuiltinTool,
    /// An operation of an imported API document. Ids: the provider record's id, `operationId`.
    ApiTool,
    /// A tool of a registered MCP server. Ids: the server's id, the remote name.
    McpTool,
    /// A published workflow. Ids: the workflow's id, its `tool_call_name`.
    WorkflowTool,
}

impl ToolKind {
    /// Every kind, in the order lists show them.
    pub const ALL: [Self; 4] = [Self::BuiltinTool, Self::ApiTool, Self::McpTool, Self::WorkflowTool];

    /// The kind's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltinTool => "builtin_tool",
            Self::ApiTool => "api_tool",
            Self::McpTool => "mcp_tool",
            Self::WorkflowTool => "workflow_tool",
        }
    }
}

impl fmt::Display for ToolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no tool kind.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a tool kind: use builtin_tool, api_tool, mcp_tool or workflow_tool")]
pub struct UnknownKind(String);

impl FromStr for ToolKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

/// A light reference to a tool, as an app's config stores it. Unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolRef {
    /// Which source resolves it.
    #[serde(rename = "type")]
    pub kind: ToolKind,
    /// The provider within the source; what it is depends on [`ToolKind`].
    pub provider_id: String,
    /// The tool within the provider.
    pub tool_id: String,
    /// Settings of this instance, chosen by the app's author. `{}` outside builtin tools.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub params: Map<String, Value>,
}

impl ToolRef {
    /// A reference without params.
    pub fn new(kind: ToolKind, provider_id: impl Into<String>, tool_id: impl Into<String>) -> Self {
        Self { kind, provider_id: provider_id.into(), tool_id: tool_id.into(), params: Map::new() }
    }

    /// A hash that is the same for equal references, whatever the order of their params' keys. Hexadecimal.
    pub fn stable_hash(&self) -> String {
        let mut digest = Sha256::new();
        for part in [self.kind.as_str(), &self.provider_id, &self.tool_id] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.update(crate::schema::canonical_json(&Value::Object(self.params.clone())));
        hex::encode(digest.finalize())
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.provider_id, self.tool_id)
    }
}
