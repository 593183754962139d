//! `/apps`: apps, by name and looks.

use crate::StudioState;
use apps::app::{App, AppDetails, AppError, ConfigProblem};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// An app as it is told.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AppView {
    #[serde(flatten)]
    app: App,
    /// `published`, or `draft`.
    status: &'static str,
}

/// An app with what is wrong with its published version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AppWithProblems {
    #[serde(flatten)]
    app: AppView,
    /// What the published version refers to and is broken, or is no longer what it was when it was published.
    problems: Vec<ConfigProblem>,
}

impl From<App> for AppView {
    fn from(app: App) -> Self {
        let status = if app.published_version.is_some() { "published" } else { "draft" };
        Self { app, status }
    }
}

/// Lists the account's apps, oldest first.
#[utoipa::path(get, path = "/apps", tag = "apps", params(ListQuery),
    responses((status = 200, description = "The apps", body = List<AppView>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<StudioState>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<AppView>>, ApiError> {
    let wanted = page.q.as_deref().map(str::to_lowercase);
    let (apps, next_cursor) = state.apps.list(&principal.account, page.limit(), page.cursor).await?;
    let matches = |app: &App| {
        let text = format!("{}\n{}", app.name, app.description).to_lowercase();
        wanted.as_ref().is_none_or(|q| text.contains(q))
    };
    let items = apps.into_iter().filter(matches).map(AppView::from).collect();
    Ok(Json(List { items, next_cursor }))
}

/// Makes an app with an empty draft config.
#[utoipa::path(post, path = "/apps", tag = "apps", request_body = AppDetails,
    responses((status = 201, description = "The app", body = AppView), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<StudioState>,
    JsonBody(details): JsonBody<AppDetails>,
) -> Result<(StatusCode, Json<AppView>), ApiError> {
    principal.require(Role::Operator)?;
    let app = state.apps.create(&principal.account, details).await?;
    Ok((StatusCode::CREATED, Json(app.into())))
}

/// An app, with what is wrong with its published version.
#[utoipa::path(get, path = "/apps/{id}", tag = "apps", params(("id" = String, Path, description = "The app")),
    responses((status = 200, description = "The app", body = AppWithProblems), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<Json<AppWithProblems>, ApiError> {
    let account = &principal.account;
    let (app, problems) = match state.apps.published(account, &id).await {
        Ok((app, version)) => (app, state.apps.references().problems_of_version(account, &version).await),
        Err(AppError::NotPublished(_)) => (state.apps.get(account, &id).await?, Vec::new()),
        Err(error) => return Err(error.into()),
    };
    Ok(Json(AppWithProblems { app: app.into(), problems }))
}

/// Changes an app's name and looks.
#[utoipa::path(put, path = "/apps/{id}", tag = "apps", params(("id" = String, Path, description = "The app")),
    request_body = AppDetails,
    responses((status = 200, description = "The app", body = AppView), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(details): JsonBody<AppDetails>,
) -> Result<Json<AppView>, ApiError> {
    principal.require(Role::Operator)?;
    Ok(Json(state.apps.update(&principal.account, &id, details).await?.into()))
}

/// Removes an app with its draft and versions.
#[utoipa::path(delete, path = "/apps/{id}", tag = "apps", params(("id" = String, Path, description = "The app")),
    responses((status = 204, description = "Removed"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.apps.delete(&principal.account, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
