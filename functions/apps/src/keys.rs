//! `/keys`: the account's API keys. Role admin.

use crate::AppsState;
use apps::keys::{ApiKey, NewKey};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is told of a key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyView {
    /// The key's id.
    id: String,
    /// What it is for.
    name: String,
    /// What its holder may do.
    role: Role,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// From when on it opens nothing.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// A new key with its text, which is told this once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedKey {
    /// The key itself. Keep it now: it is never shown again.
    key: String,
    #[serde(flatten)]
    view: KeyView,
}

/// A key to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateKey {
    /// What it is for.
    name: String,
    /// What its holder may do.
    role: Role,
    /// From when on it opens nothing; never where it is left out.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

impl CreatedKey {
    pub(crate) fn new(key: ApiKey, text: &SecretString) -> Self {
        Self { key: text.expose_secret().to_owned(), view: key.into() }
    }
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name,
            role: key.role,
            created_at: key.created_at,
            expires_at: key.expires_at,
        }
    }
}

/// Lists the account's keys.
#[utoipa::path(get, path = "/keys", tag = "apps", params(ListQuery),
    responses((status = 200, description = "The keys, without their text", body = List<KeyView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<AppsState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<KeyView>>, ApiError> {
    principal.require(Role::Admin)?;
    let (keys, next_cursor) = state.keys.list(&principal.account, page.limit(), page.cursor).await?;
    let items = keys.into_iter().map(KeyView::from).collect();
    Ok(Json(List { items, next_cursor }))
}

/// Makes a key.
#[utoipa::path(post, path = "/keys", tag = "apps", request_body = CreateKey,
    responses((status = 201, description = "The key; its text is told this once", body = CreatedKey), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<AppsState>,
    JsonBody(wanted): JsonBody<CreateKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    principal.require(Role::Admin)?;
    let new = NewKey { name: wanted.name, role: wanted.role, expires_at: wanted.expires_at, app_id: None };
    let (key, text) = state.keys.create(&principal.account, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedKey::new(key, &text))))
}

/// Revokes a key. It opens nothing from then on; another instance may trust it for 10 seconds more.
#[utoipa::path(delete, path = "/keys/{id}", tag = "apps", params(("id" = String, Path, description = "The key's id")),
    responses((status = 204, description = "Revoked"), Refusals))]
pub(crate) async fn revoke(
    principal: Principal,
    State(state): State<AppsState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Admin)?;
    state.keys.revoke(&principal.account, &id, &principal.key_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
