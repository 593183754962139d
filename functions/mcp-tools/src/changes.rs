//! `/mcp-servers/{id}/changes`: what a server has changed, and the approval of it.

use crate::{McpToolsState, error::refusal};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, ListQuery, Principal, Refusals};
use serde::Deserialize;
use source_mcp::{Changes, ServerView};
use utoipa::ToSchema;

/// Which changes to approve.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ApproveBody {
    /// The tools whose changed definitions are taken into use; all of them where this is left out.
    names: Option<Vec<String>>,
    /// The catalog's revision that was looked at: when it is another by now, nothing is approved.
    revision: Option<u64>,
}

/// Shows the definitions that wait for approval, and the history of changes, newest first.
#[utoipa::path(get, path = "/mcp-servers/{id}/changes", tag = "mcp-tools",
    params(("id" = String, Path, description = "The server's id"), ListQuery),
    responses((status = 200, description = "Its changes", body = Changes), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<Changes>, ApiError> {
    let changes = state.servers.changes(&principal.account, &id, page.limit(), page.cursor).await;
    changes.map(Json).map_err(refusal)
}

/// Takes changed definitions into use.
#[utoipa::path(post, path = "/mcp-servers/{id}/changes/approve", tag = "mcp-tools", request_body = ApproveBody,
    params(("id" = String, Path, description = "The server's id")),
    responses((status = 200, description = "The server as it is now", body = ServerView), Refusals))]
pub(crate) async fn approve(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<ApproveBody>,
) -> Result<Json<ServerView>, ApiError> {
    principal.require(Role::Operator)?;
    let names = body.names.as_deref();
    let server = state.servers.approve(&principal.account, &id, names, body.revision).await;
    server.map(Json).map_err(refusal)
}
