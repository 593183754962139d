//! `/credentials`: the account's own keys for builtin providers. Writing takes role admin; values are never shown.

use crate::{AppsState, DeclaredField};
use apps::credentials::MaskedCredentials;
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::{Role, Violation};
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What is stored for a provider, its values masked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CredentialsView {
    /// The provider.
    provider: String,
    /// The fields that are stored. A masked value sent back keeps the stored one.
    fields: BTreeMap<String, String>,
    /// When they were last written.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<MaskedCredentials> for CredentialsView {
    fn from(stored: MaskedCredentials) -> Self {
        Self { provider: stored.provider, fields: stored.fields, updated_at: stored.updated_at }
    }
}

/// Lists what is stored, masked.
#[utoipa::path(get, path = "/credentials", tag = "apps", params(ListQuery),
    responses((status = 200, description = "What is stored, masked", body = List<CredentialsView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<AppsState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<CredentialsView>>, ApiError> {
    let (stored, next_cursor) = state.credentials.list(&principal.account, page.limit(), page.cursor).await?;
    let items = stored.into_iter().map(CredentialsView::from).collect();
    Ok(Json(List { items, next_cursor }))
}

/// What is stored for a provider, masked.
#[utoipa::path(get, path = "/credentials/{provider}", tag = "apps",
    params(("provider" = String, Path, description = "The builtin provider")),
    responses((status = 200, description = "What is stored, masked", body = CredentialsView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<AppsState>,
    Path(provider): Path<String>,
) -> Result<Json<CredentialsView>, ApiError> {
    let stored = state.credentials.describe(&principal.account, &provider).await?;
    Ok(Json(stored.into()))
}

/// Stores a provider's fields in place of those that were there. A masked value keeps the stored one.
#[utoipa::path(put, path = "/credentials/{provider}", tag = "apps",
    params(("provider" = String, Path, description = "The builtin provider")),
    request_body = BTreeMap<String, String>,
    responses((status = 200, description = "What is stored now, masked", body = CredentialsView), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<AppsState>,
    Path(provider): Path<String>,
    JsonBody(fields): JsonBody<BTreeMap<String, String>>,
) -> Result<Json<CredentialsView>, ApiError> {
    principal.require(Role::Admin)?;
    let declared = (state.declared)(&provider)
        .ok_or_else(|| ApiError::not_found(format_args!("the builtin provider `{provider}`")))?;
    check(&provider, &declared, &fields)?;
    let stored = state.credentials.put(&principal.account, &provider, fields).await?;
    Ok(Json(stored.into()))
}

/// Forgets a provider's credentials.
#[utoipa::path(delete, path = "/credentials/{provider}", tag = "apps",
    params(("provider" = String, Path, description = "The builtin provider")),
    responses((status = 204, description = "Forgotten"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<AppsState>,
    Path(provider): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Admin)?;
    state.credentials.delete(&principal.account, &provider).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn check(
    provider: &str,
    declared: &[DeclaredField],
    fields: &BTreeMap<String, String>,
) -> Result<(), ApiError> {
    let names: Vec<_> = declared.iter().map(|field| field.name).collect();
    let known = match names.as_slice() {
        [] => format!("`{provider}` needs no credentials"),
        names => format!("`{provider}` takes: {}", names.join(", ")),
    };
    let unknown = fields.keys().filter(|name| !names.contains(&name.as_str())).map(|name| Violation {
        path: format!("/{name}"),
        message: format!("there is no such field: {known}"),
    });
    let missing = declared
        .iter()
        .filter(|field| field.required && !fields.contains_key(field.name))
        .map(|field| Violation { path: format!("/{}", field.name), message: "it is required".to_owned() });
    let violations: Vec<_> = unknown.chain(missing).collect();
    if violations.is_empty() {
        return Ok(());
    }
    let detail = format!("the credentials are not those that the provider declares: {known}");
    Err(ApiError::unprocessable("invalid_body", detail).with_violations(violations))
}
