//! The function `mcp-tools`: MCP servers as an account's records, and trying their tools out.
//!
//! All knowledge of servers is in `source-mcp`; here are routes, roles and statuses. Registering a command to
//! run takes role admin whatever else a key may do.

mod changes;
mod debug;
mod error;
mod import;
mod servers;
mod tools;

use domain::ports::Assembler;
use source_mcp::Servers;
use std::{fmt, sync::Arc};
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone)]
pub struct McpToolsState {
    /// The servers.
    pub servers: Servers,
    /// References in, a toolset out.
    pub assembler: Arc<dyn Assembler>,
}

impl fmt::Debug for McpToolsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpToolsState").finish_non_exhaustive()
    }
}

/// The function's routes.
pub fn router(state: McpToolsState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(servers::list, servers::create))
        .routes(routes!(servers::get, servers::update, servers::delete))
        .routes(routes!(servers::refresh))
        .routes(routes!(import::import))
        .routes(routes!(tools::list))
        .routes(routes!(debug::debug))
        .routes(routes!(changes::list))
        .routes(routes!(changes::approve))
        .with_state(state)
}
