//! `/mcp-servers`: an account's servers.

use crate::{McpToolsState, error::refusal};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use source_mcp::{Refreshed, ServerInput, ServerView};

/// Lists the servers. `q` looks in names and descriptions.
#[utoipa::path(get, path = "/mcp-servers", tag = "mcp-tools", params(ListQuery),
    responses((status = 200, description = "The servers, secrets masked", body = List<ServerView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<McpToolsState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<ServerView>>, ApiError> {
    let limit = page.limit();
    let listed = state.servers.list(&principal.account, limit, page.cursor, page.q.as_deref()).await;
    let (items, next_cursor) = listed.map_err(refusal)?;
    Ok(Json(List { items, next_cursor }))
}

/// Registers a server. An enabled one is asked for its tools first; nothing is saved when that fails.
///
/// With transport `stdio` this registers a command to run: that takes role admin, and a policy may forbid it.
#[utoipa::path(post, path = "/mcp-servers", tag = "mcp-tools", request_body = ServerInput,
    responses((status = 201, description = "The server, secrets masked", body = ServerView), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<McpToolsState>,
    JsonBody(input): JsonBody<ServerInput>,
) -> Result<(StatusCode, Json<ServerView>), ApiError> {
    principal.require(Role::Operator)?;
    check_command(&state, &principal, input.command_to_run())?;
    let server = state.servers.create(&principal.account, input).await.map_err(refusal)?;
    Ok((StatusCode::CREATED, Json(server)))
}

/// Shows a server and how it is doing.
#[utoipa::path(get, path = "/mcp-servers/{id}", tag = "mcp-tools",
    params(("id" = String, Path, description = "The server's id")),
    responses((status = 200, description = "The server, secrets masked", body = ServerView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
) -> Result<Json<ServerView>, ApiError> {
    let server = state.servers.get(&principal.account, &id).await;
    server.map(Json).map_err(refusal)
}

/// Changes a server: the body describes it whole, and a masked secret keeps the stored one. An enabled server
/// is asked for its tools first; nothing is saved when that fails.
#[utoipa::path(put, path = "/mcp-servers/{id}", tag = "mcp-tools", request_body = ServerInput,
    params(("id" = String, Path, description = "The server's id")),
    responses((status = 200, description = "The server as it is now, secrets masked", body = ServerView), Refusals))]
pub(crate) async fn update(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
    JsonBody(input): JsonBody<ServerInput>,
) -> Result<Json<ServerView>, ApiError> {
    principal.require(Role::Operator)?;
    check_command(&state, &principal, input.command_to_run())?;
    let server = state.servers.update(&principal.account, &id, input).await;
    server.map(Json).map_err(refusal)
}

/// Deletes a server with its catalog. References to its tools are problems from then on.
#[utoipa::path(delete, path = "/mcp-servers/{id}", tag = "mcp-tools",
    params(("id" = String, Path, description = "The server's id")),
    responses((status = 204, description = "Deleted"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.servers.delete(&principal.account, &id).await.map_err(refusal)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Asks a server for its tools again. When it does not answer, its catalog stays as it is.
#[utoipa::path(post, path = "/mcp-servers/{id}/refresh", tag = "mcp-tools",
    params(("id" = String, Path, description = "The server's id")),
    responses((status = 200, description = "The server, and what has changed", body = Refreshed), Refusals))]
pub(crate) async fn refresh(
    principal: Principal,
    State(state): State<McpToolsState>,
    Path(id): Path<String>,
) -> Result<Json<Refreshed>, ApiError> {
    principal.require(Role::Operator)?;
    let refreshed = state.servers.refresh(&principal.account, &id).await;
    refreshed.map(Json).map_err(refusal)
}

/// Running a command is never open to a key that merely may write.
fn check_command(
    state: &McpToolsState,
    principal: &Principal,
    command: Option<&str>,
) -> Result<(), ApiError> {
    let Some(command) = command else { return Ok(()) };
    principal.require(Role::Admin)?;
    let allowed = state.servers.stdio_policy().check_registration(principal.role, command);
    allowed.map_err(|reason| ApiError::forbidden("stdio_not_allowed", reason))
}
