//! Routes that only a process of its own has: its health, and the blobs of its directory.

use axum::{
    Json,
    body::Body,
    extract::{Path, Request, State},
    response::{IntoResponse as _, Response},
};
use boot::{DirectoryBlobs, LinkError, Services};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_kit::{ApiError, Refusals};
use serde::Serialize;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The routes.
pub(crate) fn router(services: &Services) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(health))
        .routes(routes!(read_blob, write_blob))
        .with_state(services.directory.clone())
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

/// Gives a body that was too large for an answer. The token comes from the answer's link.
#[utoipa::path(get, path = "/blobs/{token}", tag = "gateway", security(()),
    params(("token" = String, Path, description = "What the link holds")),
    responses((status = 200, description = "The bytes", body = [u8], content_type = "*/*"), Refusals))]
async fn read_blob(
    State(blobs): State<DirectoryBlobs>,
    Path(token): Path<String>,
) -> Result<Response, ApiError> {
    let blob = blobs.open_link(&token).await.map_err(refusal)?;
    let mut headers = HeaderMap::new();
    let value = |text: &str| HeaderValue::from_str(text).ok();
    let name = blob.key.rsplit('/').next().unwrap_or("blob");
    let content_type = value(&blob.info.content_type);
    let download = value(&format!("attachment; filename=\"{name}\""));
    let known = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_LENGTH, Some(HeaderValue::from(blob.info.size))),
        (header::CACHE_CONTROL, value("private, no-store")),
        // The bytes are a tool's: a browser saves them, and never runs them.
        (header::CONTENT_DISPOSITION, download),
        (header::CONTENT_SECURITY_POLICY, value("sandbox; default-src 'none'")),
        (header::X_CONTENT_TYPE_OPTIONS, value("nosniff")),
    ];
    headers.extend(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let body = Body::from_stream(ReaderStream::new(blob.file));
    Ok((headers, body).into_response())
}

/// Takes an upload. The address comes from `POST /uploads`.
#[utoipa::path(put, path = "/blobs/{token}", tag = "gateway", security(()),
    params(("token" = String, Path, description = "What the address holds")),
    request_body(content = [u8], content_type = "application/octet-stream"),
    responses((status = 204, description = "Stored"), Refusals))]
async fn write_blob(
    State(blobs): State<DirectoryBlobs>,
    Path(token): Path<String>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = request.into_body().into_data_stream();
    blobs.accept_upload(&token, kind.as_deref(), body).await.map_err(refusal)?;
    Ok(StatusCode::NO_CONTENT)
}

fn refusal(error: LinkError) -> ApiError {
    let detail = error.to_string();
    match error {
        LinkError::Invalid => ApiError::forbidden("invalid_link", detail),
        LinkError::Expired => ApiError::new(StatusCode::GONE, "link_expired", detail),
        LinkError::Interrupted(_) => ApiError::bad_request("upload_interrupted", detail),
        LinkError::Blob(error) => error.into(),
    }
}
