//! The function `api-tools`: APIs imported from their documents, and their tools.
//!
//! Handlers only translate; what an import is, the crate `source-api` knows.

mod debug;
mod providers;
mod refusal;
mod tools;

use source_api::ApiTools;
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone, Debug)]
pub struct ApiToolsState {
    /// Imported APIs.
    pub service: ApiTools,
}

/// The function's routes.
pub fn router(state: ApiToolsState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(providers::validate))
        .routes(routes!(providers::list, providers::create))
        .routes(routes!(providers::get, providers::put, providers::delete))
        .routes(routes!(tools::list))
        .routes(routes!(tools::get, tools::patch))
        .routes(routes!(debug::debug))
        .with_state(state)
}
