//! `/api-tools/{id}/tools`: the tools of an imported API.

use crate::{ApiToolsState, refusal::refused};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals};
use source_api::service::{ToolPatch, ToolView};

/// Lists the tools of an API by name.
#[utoipa::path(get, path = "/api-tools/{id}/tools", tag = "api-tools", operation_id = "list_api_tools",
    params(("id" = String, Path, description = "The API's id"), ListQuery),
    responses((status = 200, description = "Its tools", body = List<ToolView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<ToolView>>, ApiError> {
    let (q, limit) = (page.q.as_deref(), page.limit());
    let listed = state.service.tools(&principal.account, &id, q, limit, page.cursor).await;
    let (items, next_cursor) = listed.map_err(refused)?;
    Ok(Json(List { items, next_cursor }))
}

/// One tool of an API.
#[utoipa::path(get, path = "/api-tools/{id}/tools/{name}", tag = "api-tools", operation_id = "get_api_tool",
    params(
        ("id" = String, Path, description = "The API's id"),
        ("name" = String, Path, description = "The tool's id: its operationId")
    ),
    responses((status = 200, description = "The tool", body = ToolView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Json<ToolView>, ApiError> {
    state.service.tool(&principal.account, &id, &name).await.map(Json).map_err(refused)
}

/// Switches a tool on or off, renames it, or sets its limits.
#[utoipa::path(patch, path = "/api-tools/{id}/tools/{name}", tag = "api-tools",
    operation_id = "patch_api_tool", request_body = ToolPatch,
    params(
        ("id" = String, Path, description = "The API's id"),
        ("name" = String, Path, description = "The tool's id: its operationId")
    ),
    responses((status = 200, description = "The tool as it is now", body = ToolView), Refusals))]
pub(crate) async fn patch(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Path((id, name)): Path<(String, String)>,
    JsonBody(patch): JsonBody<ToolPatch>,
) -> Result<Json<ToolView>, ApiError> {
    principal.require(Role::Operator)?;
    let patched = state.service.patch_tool(&principal.account, &id, &name, patch).await;
    patched.map(Json).map_err(refused)
}
