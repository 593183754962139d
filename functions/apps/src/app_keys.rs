//! `/apps/{id}/keys`: keys that open one app's own routes and nothing else. Role admin.

use crate::{
    StudioState,
    keys::{CreatedKey, KeyView},
};
use apps::keys::{ApiKey, NewKey};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

/// A key of an app to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateAppKey {
    /// What it is for.
    name: String,
    /// From when on it opens nothing; never where it is left out.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// Lists the keys of an app.
#[utoipa::path(get, path = "/apps/{id}/keys", tag = "apps",
    params(("id" = String, Path, description = "The app"), ListQuery),
    responses((status = 200, description = "The keys, without their text", body = List<KeyView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<KeyView>>, ApiError> {
    principal.require(Role::Admin)?;
    state.apps.get(&principal.account, &id).await?;
    let (keys, next_cursor) = state.keys.list(&principal.account, page.limit(), page.cursor).await?;
    let of_app = |key: &ApiKey| key.app_id.as_deref() == Some(id.as_str());
    let items = keys.into_iter().filter(of_app).map(KeyView::from).collect();
    Ok(Json(List { items, next_cursor }))
}

/// Makes a key of an app.
#[utoipa::path(post, path = "/apps/{id}/keys", tag = "apps",
    params(("id" = String, Path, description = "The app")), request_body = CreateAppKey,
    responses((status = 201, description = "The key; its text is told this once", body = CreatedKey), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(wanted): JsonBody<CreateAppKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    principal.require(Role::Admin)?;
    state.apps.get(&principal.account, &id).await?;
    let new =
        NewKey { name: wanted.name, role: Role::Viewer, expires_at: wanted.expires_at, app_id: Some(id) };
    let (key, text) = state.keys.create(&principal.account, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedKey::new(key, &text))))
}

/// Revokes a key of an app.
#[utoipa::path(delete, path = "/apps/{id}/keys/{key_id}", tag = "apps",
    params(
        ("id" = String, Path, description = "The app"),
        ("key_id" = String, Path, description = "The key's id")
    ),
    responses((status = 204, description = "Revoked"), Refusals))]
pub(crate) async fn revoke(
    principal: Principal,
    State(state): State<StudioState>,
    Path((id, key_id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Admin)?;
    state.apps.get(&principal.account, &id).await?;
    state.keys.revoke(&principal.account, &key_id, &principal.key_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
