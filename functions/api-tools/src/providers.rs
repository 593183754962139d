//! `/api-tools`: imported APIs.

use crate::{ApiToolsState, refusal::refused};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use source_api::service::{DocumentInput, Imported, Importer, ProviderInput, ProviderView, Validated};

/// Compiles a document and tells what would become of it. Nothing is stored.
#[utoipa::path(post, path = "/api-tools/validate-openapi-schema", tag = "api-tools",
    operation_id = "validate_api_document", request_body = DocumentInput,
    responses((status = 200, description = "What would become of it", body = Validated), Refusals))]
pub(crate) async fn validate(
    principal: Principal,
    State(state): State<ApiToolsState>,
    JsonBody(input): JsonBody<DocumentInput>,
) -> Result<Json<Validated>, ApiError> {
    if input.url.is_some() {
        principal.require(Role::Operator)?;
    }
    let validated = state.service.validate(&principal.account, input).await;
    validated.map(Json).map_err(refused)
}

/// Lists imported APIs, oldest first.
#[utoipa::path(get, path = "/api-tools", tag = "api-tools", operation_id = "list_apis", params(ListQuery),
    responses((status = 200, description = "The APIs", body = List<ProviderView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<ProviderView>>, ApiError> {
    let listed = state.service.list(&principal.account, page.q.as_deref(), page.limit(), page.cursor).await;
    let (items, next_cursor) = listed.map_err(refused)?;
    Ok(Json(List { items, next_cursor }))
}

/// Imports a document: each operation becomes a tool, or the report says why not. Giving `credentials` takes
/// role admin.
#[utoipa::path(post, path = "/api-tools", tag = "api-tools", operation_id = "import_api",
    request_body = ProviderInput,
    responses((status = 201, description = "Imported", body = Imported), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<ApiToolsState>,
    JsonBody(input): JsonBody<ProviderInput>,
) -> Result<(StatusCode, Json<Imported>), ApiError> {
    may_write(&principal, &input)?;
    let importer = Importer::new(principal.account);
    let imported = state.service.create(&importer, input).await.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(imported)))
}

/// One imported API, with its document.
#[utoipa::path(get, path = "/api-tools/{id}", tag = "api-tools", operation_id = "get_api",
    params(("id" = String, Path, description = "The API's id")),
    responses((status = 200, description = "The API", body = ProviderView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Path(id): Path<String>,
) -> Result<Json<ProviderView>, ApiError> {
    state.service.get(&principal.account, &id).await.map(Json).map_err(refused)
}

/// Changes an imported API. What is left out stays; another document becomes the next revision, swapped in at
/// once, and the answer tells what it added, removed and altered. Giving `credentials` takes role admin.
#[utoipa::path(put, path = "/api-tools/{id}", tag = "api-tools", operation_id = "update_api",
    request_body = ProviderInput,
    params(("id" = String, Path, description = "The API's id")),
    responses((status = 200, description = "Changed", body = Imported), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Path(id): Path<String>,
    JsonBody(input): JsonBody<ProviderInput>,
) -> Result<Json<Imported>, ApiError> {
    may_write(&principal, &input)?;
    let importer = Importer::new(principal.account);
    state.service.update(&importer, &id, input).await.map(Json).map_err(refused)
}

/// Deletes an imported API with its tools and credentials.
#[utoipa::path(delete, path = "/api-tools/{id}", tag = "api-tools", operation_id = "delete_api",
    params(("id" = String, Path, description = "The API's id")),
    responses((status = 204, description = "Deleted"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<ApiToolsState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.service.delete(&principal.account, &id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

fn may_write(principal: &Principal, input: &ProviderInput) -> Result<(), ApiError> {
    let gives_credentials = input.credentials.as_ref().is_some_and(|c| !c.is_empty());
    principal.require(if gives_credentials { Role::Admin } else { Role::Operator })
}
