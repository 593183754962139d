//! The records of runs.

use crate::{WorkflowsState, refusal::refusal};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use http_kit::{ApiError, List, ListQuery, Principal, Refusals};
use source_workflow::RunRecord;

/// Lists a workflow's runs, the latest first, without their nodes.
#[utoipa::path(get, path = "/workflows/{id}/runs", tag = "workflows", params(("id" = String, Path), ListQuery),
    responses((status = 200, description = "The runs", body = List<RunRecord>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<RunRecord>>, ApiError> {
    let limit = page.limit();
    let listed = state.service.runs(&principal.account, &id, limit, page.cursor).await;
    let (items, next_cursor) = listed.map_err(refusal)?;
    Ok(Json(List { items, next_cursor }))
}

/// Reads the record of one run, with its nodes.
#[utoipa::path(get, path = "/workflows/{id}/runs/{run}", tag = "workflows",
    params(("id" = String, Path), ("run" = String, Path)),
    responses((status = 200, description = "The run", body = RunRecord), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path((id, run)): Path<(String, String)>,
) -> Result<Json<RunRecord>, ApiError> {
    state.service.run_record(&principal.account, &id, &run).await.map(Json).map_err(refusal)
}
