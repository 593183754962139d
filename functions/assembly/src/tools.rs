//! `GET /tools`: the tools of every kind that the account may refer to.

use crate::AssemblyState;
use axum::{
    Json,
    extract::{Query, State},
};
use domain::{AccountContext, ListRequest, ToolKind, ToolListing};
use http_kit::{ApiError, List, ListQuery, Principal, Refusals};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which kinds of tools.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct KindQuery {
    /// Only tools of this kind.
    kind: Option<ToolKind>,
}

/// Lists tools of all kinds, kind by kind.
#[utoipa::path(get, path = "/tools", tag = "assembly", params(KindQuery, ListQuery),
    responses((status = 200, description = "The tools", body = List<ToolListing>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<AssemblyState>,
    Query(KindQuery { kind }): Query<KindQuery>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<ToolListing>>, ApiError> {
    let limit = page.limit();
    let cx = AccountContext::new(principal.account);
    let (start, mut cursor) = read_cursor(page.cursor.as_deref())?;
    let wanted = |of: ToolKind| kind.is_none_or(|kind| kind == of) && start.is_none_or(|start| of >= start);
    let mut listers: Vec<_> = state.listers.iter().filter(|lister| wanted(lister.kind())).collect();
    listers.sort_by_key(|lister| lister.kind());
    let mut items = Vec::new();
    for (i, lister) in listers.iter().enumerate() {
        let request = ListRequest {
            q: page.q.clone().filter(|q| !q.is_empty()),
            limit: limit - items.len(),
            cursor: cursor.take(),
        };
        let listed = lister.list(&cx, &request).await?;
        items.extend(listed.items);
        let next = match listed.next_cursor {
            Some(inner) => Some(format!("{}:{inner}", lister.kind())),
            None if items.len() >= limit => listers.get(i + 1).map(|next| format!("{}:", next.kind())),
            None => continue,
        };
        return Ok(Json(List { items, next_cursor: next }));
    }
    Ok(Json(List { items, next_cursor: None }))
}

/// The kind to go on with, and where within it.
fn read_cursor(cursor: Option<&str>) -> Result<(Option<ToolKind>, Option<String>), ApiError> {
    let Some(cursor) = cursor else {
        return Ok((None, None));
    };
    let invalid = || ApiError::bad_request("invalid_request", "`cursor` is not one that a list gave");
    let (kind, inner) = cursor.split_once(':').ok_or_else(invalid)?;
    let kind = kind.parse().map_err(|_| invalid())?;
    Ok((Some(kind), (!inner.is_empty()).then(|| inner.to_owned())))
}
