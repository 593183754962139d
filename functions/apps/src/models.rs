//! `/models`: the account's language models. Writing takes role admin; keys are never shown.

use crate::StudioState;
use apps::models::{ModelView, NewModel};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};

/// Lists the account's models, oldest first.
#[utoipa::path(get, path = "/models", tag = "apps", params(ListQuery),
    responses((status = 200, description = "The models, keys masked", body = List<ModelView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<StudioState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<ModelView>>, ApiError> {
    let wanted = page.q.as_deref().map(str::to_lowercase);
    let (mut items, next_cursor) = state.models.list(&principal.account, page.limit(), page.cursor).await?;
    items.retain(|model| {
        let text = format!("{}\n{}", model.name, model.model).to_lowercase();
        wanted.as_ref().is_none_or(|q| text.contains(q))
    });
    Ok(Json(List { items, next_cursor }))
}

/// Adds a model.
#[utoipa::path(post, path = "/models", tag = "apps", request_body = NewModel,
    responses((status = 201, description = "The model", body = ModelView), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<StudioState>,
    JsonBody(new): JsonBody<NewModel>,
) -> Result<(StatusCode, Json<ModelView>), ApiError> {
    principal.require(Role::Admin)?;
    let model = state.models.create(&principal.account, new).await?;
    Ok((StatusCode::CREATED, Json(model)))
}

/// A model, its key masked.
#[utoipa::path(get, path = "/models/{id}", tag = "apps", params(("id" = String, Path, description = "The model")),
    responses((status = 200, description = "The model", body = ModelView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<Json<ModelView>, ApiError> {
    Ok(Json(state.models.get(&principal.account, &id).await?))
}

/// Changes a model. A masked key keeps the stored one, as long as the address stays at its host.
#[utoipa::path(put, path = "/models/{id}", tag = "apps", params(("id" = String, Path, description = "The model")),
    request_body = NewModel,
    responses((status = 200, description = "The model", body = ModelView), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(new): JsonBody<NewModel>,
) -> Result<Json<ModelView>, ApiError> {
    principal.require(Role::Admin)?;
    Ok(Json(state.models.update(&principal.account, &id, new).await?))
}

/// Forgets a model. Apps that use it say so from then on.
#[utoipa::path(delete, path = "/models/{id}", tag = "apps",
    params(("id" = String, Path, description = "The model")),
    responses((status = 204, description = "Forgotten"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Admin)?;
    state.models.delete(&principal.account, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
