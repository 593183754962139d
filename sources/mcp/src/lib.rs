//! MCP tools: servers, what they offer, and calls to them.
//!
//! | module | purpose |
//! |---|---|
//! | `client` | the protocol on the wire: eras, streamable HTTP, connections, breakers |
//! | `stdio` | servers that run as commands: who may, and the processes |
//! | `connector` | one request to a registered server |
//! | `record`, `input`, `definition`, `scan`, `merge`, `discovery` | what is stored, and how it changes |
//! | `service` | [`Servers`]: create, change, refresh, approve, import |
//! | `source`, `tool`, `output` | assembly from the catalog, and calls |
//!
//! Neighbours: `domain` for what a tool is and for the ports, `egress` for connections. It must never know a
//! web framework, a cloud, or another source.

mod client;
mod connector;
mod definition;
mod discovery;
mod input;
mod merge;
mod output;
mod record;
mod scan;
mod service;
mod source;
pub mod stdio;
mod tool;

pub use client::error::CallError;
pub use definition::Skipped;
pub use input::ServerInput;
pub use merge::{Altered, ChangeSet};
pub use record::{ChangePolicy, TransportKind};
pub use scan::{Flag, FlagKind};
pub use service::{
    ChangeEntry, Changes, Deps, Health, ImportOutcome, Imported, Page, PendingChange, REFRESH_JOB,
    RefreshError, RefreshPass, RefreshSettings, Refreshed, ServerError, ServerStatus, ServerView, Servers,
    ToolView,
};
pub use source::McpSource;
pub use stdio::{NoStdio, StdioPolicy, StdioPolicyError};
