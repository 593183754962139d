//! `/apps/{id}/publish` and its kin: versions of an app.

use crate::{StudioState, studio::AppView};
use apps::app::{AppConfig, Version};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::Role;
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A version of an app, secrets masked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionView {
    /// Its number, from 1.
    version: u64,
    /// Channels use it.
    is_published: bool,
    /// What it says.
    config: AppConfig,
    /// When it was published.
    #[schema(value_type = String, format = DateTime)]
    published_at: Timestamp,
}

/// Which version to go back to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RollBack {
    /// Its number.
    version: u64,
    /// What becomes that version: what is published, or the draft.
    #[serde(default)]
    to: RollBackTo,
}

/// What goes back to an earlier version.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum RollBackTo {
    /// What channels use.
    #[default]
    Published,
    /// What is worked on.
    Draft,
}

/// Publishes the draft as a new version. Refused while anything it refers to is broken.
#[utoipa::path(post, path = "/apps/{id}/publish", tag = "apps",
    params(("id" = String, Path, description = "The app")),
    responses((status = 200, description = "The app", body = AppView), Refusals))]
pub(crate) async fn publish(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<Json<AppView>, ApiError> {
    principal.require(Role::Operator)?;
    let (app, _) = state.apps.publish(&principal.account, &id).await?;
    Ok(Json(app.into()))
}

/// Takes an app from its channels. Its versions stay.
#[utoipa::path(post, path = "/apps/{id}/unpublish", tag = "apps",
    params(("id" = String, Path, description = "The app")),
    responses((status = 200, description = "The app", body = AppView), Refusals))]
pub(crate) async fn unpublish(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<Json<AppView>, ApiError> {
    principal.require(Role::Operator)?;
    Ok(Json(state.apps.unpublish(&principal.account, &id).await?.into()))
}

/// Goes back to an earlier version.
#[utoipa::path(post, path = "/apps/{id}/rollback", tag = "apps",
    params(("id" = String, Path, description = "The app")), request_body = RollBack,
    responses((status = 200, description = "The app", body = AppView), Refusals))]
pub(crate) async fn roll_back(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(wanted): JsonBody<RollBack>,
) -> Result<Json<AppView>, ApiError> {
    principal.require(Role::Operator)?;
    let account = &principal.account;
    let app = match wanted.to {
        RollBackTo::Published => state.apps.roll_back(account, &id, wanted.version).await?,
        RollBackTo::Draft => {
            state.apps.restore_draft(account, &id, wanted.version).await?;
            state.apps.get(account, &id).await?
        }
    };
    Ok(Json(app.into()))
}

/// The versions of an app, newest first.
#[utoipa::path(get, path = "/apps/{id}/versions", tag = "apps",
    params(("id" = String, Path, description = "The app"), ListQuery),
    responses((status = 200, description = "The versions", body = List<VersionView>), Refusals))]
pub(crate) async fn versions(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<VersionView>>, ApiError> {
    let account = &principal.account;
    let app = state.apps.get(account, &id).await?;
    let (versions, next_cursor) = state.apps.versions(account, &id, page.limit(), page.cursor).await?;
    let view = |version: Version| VersionView {
        version: version.version,
        is_published: app.published_version == Some(version.version),
        config: state.apps.references().masked(&version.config),
        published_at: version.published_at,
    };
    Ok(Json(List { items: versions.into_iter().map(view).collect(), next_cursor }))
}
