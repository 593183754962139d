//! What a tool is.
//!
//! This crate holds the objects every other crate speaks in: [`Tool`] and what surrounds it, the
//! [`Toolset`] with its single road [`Toolset::invoke`], the [`ports`] through which the product reaches
//! storage and services, and [`keys`], the map of the table.
//!
//! It opens no connection, file or process, and knows no web framework, cloud, HTTP client or MCP library.

pub mod account;
pub mod catalog;
pub mod dialect;
pub mod error;
pub mod keys;
pub mod listing;
pub mod output;
pub mod ports;
pub mod problem;
pub mod reference;
pub mod schema;
pub mod secret;
pub mod source;
pub mod tool;
pub mod toolset;

pub use account::{AccountId, Role};
pub use dialect::Dialect;
pub use error::{ToolError, Violation};
pub use listing::{ListPage, ListRequest, ToolLister, ToolListing};
pub use output::{Content, ToolOutput};
pub use problem::{Problem, ProblemCode, Unresolved};
pub use reference::{ToolKind, ToolRef};
pub use schema::Schema;
pub use source::{AccountContext, ToolSource};
pub use tool::{Annotations, CallContext, Entry, Origin, Tool, ToolSpec};
pub use toolset::Toolset;
