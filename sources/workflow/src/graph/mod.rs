//! The graph as it is written: nodes, edges and variables, parsed from a document that may be wrong.
//!
//! A draft is kept as the JSON it came as; this module reads it into types and says what it could not read.
//! What the parts mean together is the business of [`crate::validate`].

pub mod kinds;
mod node;
mod parse;
mod variable;

pub use node::{Node, NodeKind, OnError, Policy, Retry};
pub use parse::parse;
pub use variable::{VarRef, VarType, VarValue, Variable, describe, object_schema};

use serde::{Deserialize, Serialize};

/// The version of the document format.
pub const FORMAT_VERSION: u64 = 1;

/// A graph of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The nodes that could be read.
    pub nodes: Vec<Node>,
    /// The edges that could be read.
    pub edges: Vec<Edge>,
    /// Whether everything could be read.
    pub complete: bool,
}

/// A way from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Its id, unique in its graph.
    pub id: String,
    /// The node it leaves.
    pub source: String,
    /// That node's type.
    #[serde(default)]
    pub source_type: Option<String>,
    /// The node it enters.
    pub target: String,
    /// That node's type.
    #[serde(default)]
    pub target_type: Option<String>,
    /// The branch of the source on which it is followed.
    #[serde(default)]
    pub condition: Option<String>,
}
