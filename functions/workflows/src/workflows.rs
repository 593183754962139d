//! Workflows: listed, made, read, changed, removed.

use crate::{WorkflowsState, refusal::refusal};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use serde::Serialize;
use source_workflow::{Draft, Workflow, WorkflowFields};
use utoipa::ToSchema;

/// A workflow with its draft.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkflowView {
    /// The workflow.
    #[serde(flatten)]
    workflow: Workflow,
    /// Its draft.
    draft: Draft,
}

/// Lists workflows.
#[utoipa::path(get, path = "/workflows", tag = "workflows", params(ListQuery),
    responses((status = 200, description = "The workflows", body = List<Workflow>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<Workflow>>, ApiError> {
    let (limit, account) = (page.limit(), &principal.account);
    let listed = state.service.list(account, page.q.as_deref(), limit, page.cursor).await;
    let (items, next_cursor) = listed.map_err(refusal)?;
    Ok(Json(List { items, next_cursor }))
}

/// Makes a workflow, with an empty draft.
#[utoipa::path(post, path = "/workflows", tag = "workflows", request_body = WorkflowFields,
    responses((status = 201, description = "The workflow", body = Workflow), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<WorkflowsState>,
    JsonBody(fields): JsonBody<WorkflowFields>,
) -> Result<(StatusCode, Json<Workflow>), ApiError> {
    principal.require(Role::Operator)?;
    let workflow = state.service.create(&principal.account, fields).await.map_err(refusal)?;
    Ok((StatusCode::CREATED, Json(workflow)))
}

/// Reads a workflow with its draft.
#[utoipa::path(get, path = "/workflows/{id}", tag = "workflows", params(("id" = String, Path)),
    responses((status = 200, description = "The workflow", body = WorkflowView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
) -> Result<Json<WorkflowView>, ApiError> {
    let workflow = state.service.get(&principal.account, &id).await.map_err(refusal)?;
    let draft = state.service.draft(&principal.account, &id).await.map_err(refusal)?;
    Ok(Json(WorkflowView { workflow, draft }))
}

/// Changes a workflow's name, tool name, description or icon. The tool name stays once it has been published.
#[utoipa::path(put, path = "/workflows/{id}", tag = "workflows", params(("id" = String, Path)),
    request_body = WorkflowFields,
    responses((status = 200, description = "The workflow", body = Workflow), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
    JsonBody(fields): JsonBody<WorkflowFields>,
) -> Result<Json<Workflow>, ApiError> {
    principal.require(Role::Operator)?;
    state.service.update(&principal.account, &id, fields).await.map(Json).map_err(refusal)
}

/// Removes a workflow with its versions and the records of its runs.
#[utoipa::path(delete, path = "/workflows/{id}", tag = "workflows", params(("id" = String, Path)),
    responses((status = 204, description = "Removed"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.service.delete(&principal.account, &id).await.map_err(refusal)?;
    Ok(StatusCode::NO_CONTENT)
}
