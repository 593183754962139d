//! `/datasets`: what agents may look up.

use crate::{StudioState, documents::refused};
use agent::knowledge::record::{DatasetView, NewDataset};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::{Role, ports::Passage};
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

const DEFAULT_PASSAGES: usize = 4;

/// What to look for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBody {
    /// In whole words.
    query: String,
    /// How many passages at most; 4 where it is left out.
    #[schema(minimum = 1, maximum = 50)]
    limit: Option<usize>,
}

/// A passage that was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PassageView {
    /// Its text.
    text: String,
    /// The document's title.
    title: String,
    /// How well it answers; higher is better.
    score: f64,
    /// What else is known of it.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

impl From<Passage> for PassageView {
    fn from(passage: Passage) -> Self {
        let Passage { text, title, score, metadata } = passage;
        Self { text, title, score, metadata }
    }
}

/// Lists the account's datasets, oldest first.
#[utoipa::path(get, path = "/datasets", tag = "apps", params(ListQuery),
    responses((status = 200, description = "The datasets", body = List<DatasetView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<StudioState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<DatasetView>>, ApiError> {
    let wanted = page.q.as_deref().map(str::to_lowercase);
    let listed = state.knowledge.list(&principal.account, page.limit(), page.cursor).await;
    let (mut datasets, next_cursor) = listed.map_err(refused)?;
    datasets.retain(|dataset| {
        let text = format!("{}\n{}", dataset.name, dataset.description).to_lowercase();
        wanted.as_ref().is_none_or(|q| text.contains(q))
    });
    Ok(Json(List { items: datasets.into_iter().map(DatasetView::from).collect(), next_cursor }))
}

/// Makes a dataset: kept here, or by a service elsewhere.
#[utoipa::path(post, path = "/datasets", tag = "apps", request_body = NewDataset,
    responses((status = 201, description = "The dataset", body = DatasetView), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<StudioState>,
    JsonBody(new): JsonBody<NewDataset>,
) -> Result<(StatusCode, Json<DatasetView>), ApiError> {
    may_write(&principal, &new)?;
    let dataset = state.knowledge.create(&principal.account, new).await.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(dataset.into())))
}

/// A dataset, its service's key masked.
#[utoipa::path(get, path = "/datasets/{id}", tag = "apps",
    params(("id" = String, Path, description = "The dataset")),
    responses((status = 200, description = "The dataset", body = DatasetView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<Json<DatasetView>, ApiError> {
    Ok(Json(state.knowledge.get(&principal.account, &id).await.map_err(refused)?.into()))
}

/// Changes a dataset's name, description or service.
#[utoipa::path(put, path = "/datasets/{id}", tag = "apps",
    params(("id" = String, Path, description = "The dataset")), request_body = NewDataset,
    responses((status = 200, description = "The dataset", body = DatasetView), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(new): JsonBody<NewDataset>,
) -> Result<Json<DatasetView>, ApiError> {
    may_write(&principal, &new)?;
    Ok(Json(state.knowledge.update(&principal.account, &id, new).await.map_err(refused)?.into()))
}

/// Removes a dataset with all its documents.
#[utoipa::path(delete, path = "/datasets/{id}", tag = "apps",
    params(("id" = String, Path, description = "The dataset")),
    responses((status = 204, description = "Removed"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.knowledge.delete(&principal.account, &id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Searches a dataset, as an agent would.
#[utoipa::path(post, path = "/datasets/{id}/search", tag = "apps",
    params(("id" = String, Path, description = "The dataset")), request_body = SearchBody,
    responses((status = 200, description = "What was found, best first", body = List<PassageView>), Refusals))]
pub(crate) async fn search(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Json<List<PassageView>>, ApiError> {
    let limit = body.limit.unwrap_or(DEFAULT_PASSAGES);
    if !(1..=50).contains(&limit) {
        return Err(ApiError::invalid_body("/limit", "use 1 to 50"));
    }
    let found = state.knowledge.search(&principal.account, &id, &body.query, limit).await;
    Ok(Json(List::whole(found.map_err(refused)?.into_iter().map(PassageView::from).collect())))
}

/// A service elsewhere is sent a key: naming one takes role admin.
fn may_write(principal: &Principal, new: &NewDataset) -> Result<(), ApiError> {
    principal.require(if new.external.is_some() { Role::Admin } else { Role::Operator })
}
