//! `GET /openapi.json`: the description of all functions, as text.

use crate::AssemblyState;
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::header;
use http_kit::{ApiError, Refusals};
use std::sync::{Arc, OnceLock};

/// The OpenAPI description. It is made of all routers, this function's own among them, and so is set last.
#[derive(Clone, Debug, Default)]
pub struct Description(Arc<OnceLock<String>>);

impl Description {
    /// Sets the text; only the first one counts.
    pub fn set(&self, text: String) {
        let _ = self.0.set(text);
    }
}

/// Describes all routes: this document.
#[utoipa::path(get, path = "/openapi.json", tag = "assembly", security(()),
    responses((status = 200, description = "The OpenAPI 3.1 description", body = Object), Refusals))]
pub(crate) async fn get(State(state): State<AssemblyState>) -> Result<Response, ApiError> {
    let text = state.description.0.get().cloned();
    let text = text.ok_or_else(|| ApiError::not_found("the description"))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}
