//! Routes that only a process of its own has: its health, and the blobs of its directory.

use axum::Json;
use boot::Services;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The routes.
pub(crate) fn router(_services: &Services) -> OpenApiRouter {
    OpenApiRouter::default().routes(routes!(health))
}

#[derive(Serialize, ToSchema)]
struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Says that the server is up.
#[utoipa::path(get, path = "/health", tag = "gateway", security(()),
    responses((status = 200, description = "It is up", body = Health)))]
async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}
