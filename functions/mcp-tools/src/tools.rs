//! `GET /mcp-servers/{id}/tools`: the catalog of a server.

use crate::{McpToolsState, error::refusal};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use http_kit::{ApiError, List, ListQuery, Principal, Refusals};
use source_mcp::ToolView;

/// Lists a server's tools from the catalog; the server is not asked. `q` looks in names and descriptions.
#[utoipa::path(get, path = "/mcp-servers/{id}/tools", tag = "mcp-tools",
    params(("id" = String, Path, description = "The server's id"), ListQuery),
    responses((status = 200, description = "Its tools", body = List<ToolView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<ToolView>>, ApiError> {
    let limit = page.limit();
    let listed = state.servers.tools(&principal.account, &id, limit, page.cursor, page.q.as_deref()).await;
    let (items, next_cursor) = listed.map_err(refusal)?;
    Ok(Json(List { items, next_cursor }))
}
