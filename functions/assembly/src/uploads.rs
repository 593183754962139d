//! `POST /uploads`: where to put what is too large for a request body.

use crate::AssemblyState;
use axum::{Json, extract::State};
use domain::{Role, ports::upload_key};
use http_kit::{ApiError, Principal, Refusals, StatusCode};
use jiff::Timestamp;
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// The largest upload, in bytes.
const MAX_BYTES: u64 = 100 * 1024 * 1024;
/// How long the address takes the upload.
const OPEN_FOR: Duration = Duration::from_mins(15);

/// Where to put it.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those of the contract")]
pub(crate) struct Upload {
    /// What routes that accept uploads are given.
    upload_id: String,
    /// PUT the bytes here, without a key.
    url: String,
    /// The largest upload that is taken, in bytes.
    max_bytes: u64,
    /// Until when the address works.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// Gives an address to PUT a large body to.
#[utoipa::path(post, path = "/uploads", tag = "assembly",
    responses((status = 201, description = "Where to put it", body = Upload), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<AssemblyState>,
) -> Result<(StatusCode, Json<Upload>), ApiError> {
    principal.require(Role::Operator)?;
    let upload_id = format!("upl_{}", uuid::Uuid::new_v4().simple());
    let key = upload_key(&principal.account, &upload_id)
        .ok_or_else(|| ApiError::internal("a new upload id is not legal"))?;
    let link = state.blobs.upload_link(&key, MAX_BYTES, OPEN_FOR).await?;
    let upload = Upload { upload_id, url: link.url, max_bytes: MAX_BYTES, expires_at: link.expires_at };
    Ok((StatusCode::CREATED, Json(upload)))
}
