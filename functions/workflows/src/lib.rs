//! The function `workflows`: graphs are written, tried, published and run.
//!
//! Handlers only translate; what a workflow is, the crate `source-workflow` knows.

mod debug;
mod drafts;
mod refusal;
mod run;
mod runs;
mod workflows;

use source_workflow::Workflows;
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone, Debug)]
pub struct WorkflowsState {
    /// Workflows of accounts.
    pub service: Workflows,
}

/// The function's routes.
pub fn router(state: WorkflowsState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(workflows::list, workflows::create))
        .routes(routes!(workflows::get, workflows::put, workflows::delete))
        .routes(routes!(drafts::get, drafts::put))
        .routes(routes!(drafts::validate))
        .routes(routes!(drafts::graph))
        .routes(routes!(drafts::publish))
        .routes(routes!(drafts::unpublish))
        .routes(routes!(debug::debug))
        .routes(routes!(run::run))
        .routes(routes!(runs::list))
        .routes(routes!(runs::get))
        .with_state(state)
}
