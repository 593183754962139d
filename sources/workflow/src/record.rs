//! What is stored of workflows: the head, the draft, published versions.

use domain::Annotations;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A workflow, without its graphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Workflow {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its name as a tool: unique in the account, and kept once it is published.
    pub tool_call_name: String,
    /// What it does, for people and models.
    pub description: String,
    /// A picture's address.
    #[serde(default)]
    pub icon: String,
    /// What is published of it, if anything.
    #[serde(default)]
    pub published: Option<Published>,
    /// The last version that was ever published; 0 where there is none.
    #[serde(default)]
    pub last_version: u64,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// What is published of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Published {
    /// Which version, from 1.
    pub version: u64,
    /// Since when.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// How it behaves, by what its nodes do.
    pub annotations: Annotations,
    /// The workflows that it calls itself.
    #[serde(default)]
    pub calls: Vec<String>,
}

/// What a person writes of a workflow besides its graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowFields {
    /// Its name for people: 1 to 100 characters.
    pub name: String,
    /// Its name as a tool: `^[A-Za-z_][A-Za-z0-9_]*$`, up to 50 characters, unique in the account.
    pub tool_call_name: String,
    /// What it does, for people and models: 1 to 1024 characters.
    pub description: String,
    /// A picture's address.
    #[serde(default)]
    pub icon: String,
}

/// A draft: a graph that may be wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Draft {
    /// The graph as it was written: `{nodes, edges}`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub graph: Value,
    /// Whether this graph, its drawing aside, has been debugged to its end.
    #[serde(default)]
    pub debug_passed: bool,
    /// When it was saved.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// A published version. It never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) tool_call_name: String,
    pub(crate) description: String,
    pub(crate) annotations: Annotations,
    pub(crate) graph: Value,
    pub(crate) published_at: Timestamp,
}
