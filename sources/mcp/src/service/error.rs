//! Why something could not be done with a server.

use crate::client::error::CallError;
use domain::{
    Violation,
    catalog::CatalogError,
    ports::{CipherError, TableError},
};

/// Why something could not be done with a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// What was sent is not a server.
    #[error("the description of the server is not valid{}", first(.0))]
    Invalid(Vec<Violation>),
    /// A policy forbids it.
    #[error("{0}")]
    NotAllowed(String),
    /// The server could not be asked for its tools. Nothing was saved.
    #[error("the server could not be asked for its tools: {0}")]
    Discovery(#[source] CallError),
    /// The server is switched off.
    #[error("the MCP server `{0}` is disabled: enable it first")]
    Disabled(String),
    /// It has no such tool.
    #[error("the MCP server `{server}` has no tool `{tool}`")]
    ToolNotFound {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
    },
    /// The catalog is not the one that was looked at.
    #[error("the catalog is at revision {current} now: look at its changes again")]
    RevisionChanged {
        /// The revision now.
        current: u64,
    },
    /// The catalog could not be read or written.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A secret could not be sealed or opened.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// A record could not be written as JSON.
    #[error("a record could not be written: {0}")]
    Record(#[from] serde_json::Error),
}

fn first(violations: &[Violation]) -> String {
    match violations {
        [] => String::new(),
        [v, ..] => format!(": {} {}", v.path, v.message),
    }
}

impl ServerError {
    /// One thing that is wrong with what was sent.
    pub(super) fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Violation { path: path.into(), message: message.into() }])
    }
}
