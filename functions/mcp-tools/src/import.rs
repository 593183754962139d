//! `POST /mcp-servers/import`: the servers of a desktop client's configuration.

use crate::{McpToolsState, error::refusal};
use axum::{Json, extract::State};
use domain::Role;
use http_kit::{ApiError, JsonBody, Principal, Refusals};
use serde::Deserialize;
use serde_json::Value;
use source_mcp::Imported;
use utoipa::ToSchema;

/// A configuration, as desktop clients keep it in a file. Other keys of it are not looked at.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ImportBody {
    /// The servers by name: `{"command", "args", "env"}` or `{"url", "headers"}`.
    #[serde(rename = "mcpServers")]
    #[schema(value_type = Object)]
    servers: Value,
}

/// Registers the servers of a configuration, each by itself: one that fails does not stop the others.
#[utoipa::path(post, path = "/mcp-servers/import", tag = "mcp-tools", request_body = ImportBody,
    responses((status = 200, description = "What became of each", body = Imported), Refusals))]
pub(crate) async fn import(
    principal: Principal,
    State(state): State<McpToolsState>,
    JsonBody(body): JsonBody<ImportBody>,
) -> Result<Json<Imported>, ApiError> {
    principal.require(Role::Operator)?;
    let policy = state.servers.stdio_policy();
    let may_run = |command: &str| policy.check_registration(principal.role, command);
    let imported = state.servers.import(&principal.account, &body.servers, may_run).await;
    imported.map(Json).map_err(refusal)
}
