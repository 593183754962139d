//! The function `apps`: what belongs to an account: its keys and credentials, its models, datasets and apps.
//!
//! Handlers only translate; what they speak of, the crates `apps` and `agent` know.

mod app_keys;
mod credentials;
mod datasets;
mod documents;
mod draft;
mod keys;
mod models;
mod publishing;
mod studio;

use agent::Knowledge;
use apps::{app::Apps, credentials::CredentialStore, keys::Keys, models::ModelStore};
use domain::ports::Blobs;
use std::{fmt, sync::Arc};
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone, Debug)]
pub struct AppsState {
    /// The keys of all accounts.
    pub keys: Arc<Keys>,
    /// Stored credentials.
    pub credentials: Arc<CredentialStore>,
    /// What a provider wants stored; none for a provider that does not exist.
    pub declared: fn(&str) -> Option<Vec<DeclaredField>>,
}

/// A field that a provider wants stored.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredField {
    /// Its name.
    pub name: &'static str,
    /// Whether the provider does nothing without it.
    pub required: bool,
}

/// The function's routes.
pub fn router(state: AppsState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(credentials::list))
        .routes(routes!(credentials::get, credentials::put, credentials::delete))
        .with_state(state)
}

/// What the handlers of apps, models and datasets use.
#[derive(Clone)]
pub struct StudioState {
    /// Apps.
    pub apps: Apps,
    /// Models.
    pub models: ModelStore,
    /// Datasets.
    pub knowledge: Knowledge,
    /// The keys of all accounts.
    pub keys: Arc<Keys>,
    /// Where uploads are.
    pub blobs: Arc<dyn Blobs>,
}

impl fmt::Debug for StudioState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudioState").finish_non_exhaustive()
    }
}

/// The routes of apps, models and datasets.
pub fn studio_router(state: StudioState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(studio::list, studio::create))
        .routes(routes!(studio::get, studio::put, studio::delete))
        .routes(routes!(draft::get, draft::put))
        .routes(routes!(publishing::publish))
        .routes(routes!(publishing::unpublish))
        .routes(routes!(publishing::roll_back))
        .routes(routes!(publishing::versions))
        .routes(routes!(app_keys::list, app_keys::create))
        .routes(routes!(app_keys::revoke))
        .routes(routes!(models::list, models::create))
        .routes(routes!(models::get, models::put, models::delete))
        .routes(routes!(datasets::list, datasets::create))
        .routes(routes!(datasets::get, datasets::put, datasets::delete))
        .routes(routes!(datasets::search))
        .routes(routes!(documents::list, documents::create))
        .routes(routes!(documents::delete))
        .with_state(state)
}
