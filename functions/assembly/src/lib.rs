//! The function `assembly`: what tools there are, references -> toolsets, and the call of a tool.
//!
//! It holds the [`Assembler`] and the lists as ports: which sources stand behind them, it does not know. The
//! builtin registry is compiled in and read directly.

mod assemble;
mod audit;
mod builtin;
mod description;
mod invoke;
mod tools;
mod uploads;

pub use description::Description;

use domain::{
    ToolLister,
    ports::{Assembler, Blobs, Clock, Table},
};
use std::{fmt, sync::Arc};
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone)]
pub struct AssemblyState {
    /// References in, a toolset out.
    pub assembler: Arc<dyn Assembler>,
    /// The lists of tools, one per kind, in the order they are shown.
    pub listers: Vec<Arc<dyn ToolLister>>,
    /// Takes uploads.
    pub blobs: Arc<dyn Blobs>,
    /// Holds the audit.
    pub table: Arc<dyn Table>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The OpenAPI description of all functions.
    pub description: Description,
}

impl fmt::Debug for AssemblyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssemblyState").finish_non_exhaustive()
    }
}

/// The function's routes.
pub fn router(state: AssemblyState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(builtin::list))
        .routes(routes!(builtin::categories))
        .routes(routes!(builtin::tool))
        .routes(routes!(builtin::icon))
        .routes(routes!(tools::list))
        .routes(routes!(assemble::assemble))
        .routes(routes!(invoke::invoke))
        .routes(routes!(uploads::create))
        .routes(routes!(audit::list))
        .routes(routes!(description::get))
        .with_state(state)
}
