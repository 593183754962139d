//! `GET /audit`: the account's recent calls.

use crate::AssemblyState;
use axum::{
    Json,
    extract::{Query, State},
};
use domain::ports::AuditRecord;
use http_kit::{ApiError, List, ListQuery, Principal, Refusals};

/// Lists recent calls, newest first. Neither arguments nor results are kept.
#[utoipa::path(get, path = "/audit", tag = "assembly", params(ListQuery),
    responses((status = 200, description = "The calls", body = List<AuditRecord>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<AssemblyState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<AuditRecord>>, ApiError> {
    let (items, next_cursor) =
        apps::audit::recent(state.table.as_ref(), &principal.account, page.limit(), page.cursor).await?;
    Ok(Json(List { items, next_cursor }))
}
