//! `/datasets/{id}/documents`: texts and files of a dataset.

use crate::StudioState;
use agent::knowledge::{KnowledgeError, record::Document};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::{AccountId, Role, ports::upload_key};
use http_kit::{ApiError, JsonBody, List, ListQuery, Principal, Refusals, StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

/// The largest file that is taken, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// A document to add: `text`, or a text file that was uploaded before.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddDocument {
    /// Its title.
    title: String,
    /// Its text.
    #[serde(default)]
    text: Option<String>,
    /// A file of text in UTF-8 (plain, Markdown, CSV, JSON), put where `POST /uploads` said.
    #[serde(default)]
    upload_id: Option<String>,
}

/// Lists a dataset's documents, oldest first.
#[utoipa::path(get, path = "/datasets/{id}/documents", tag = "apps",
    params(("id" = String, Path, description = "The dataset"), ListQuery),
    responses((status = 200, description = "The documents", body = List<Document>), Refusals))]
pub(crate) async fn list(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<Document>>, ApiError> {
    let listed = state.knowledge.documents(&principal.account, &id, page.limit(), page.cursor).await;
    let (items, next_cursor) = listed.map_err(refused)?;
    Ok(Json(List { items, next_cursor }))
}

/// Adds a document. It is found from then on.
#[utoipa::path(post, path = "/datasets/{id}/documents", tag = "apps",
    params(("id" = String, Path, description = "The dataset")), request_body = AddDocument,
    responses((status = 201, description = "The document", body = Document), Refusals))]
pub(crate) async fn create(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<AddDocument>,
) -> Result<(StatusCode, Json<Document>), ApiError> {
    principal.require(Role::Operator)?;
    let text = match (body.text, body.upload_id) {
        (Some(text), None) => text,
        (None, Some(upload)) => uploaded(&state, &principal.account, &upload).await?,
        _ => return Err(ApiError::invalid_body("", "send either `text` or `upload_id`")),
    };
    let document = state.knowledge.add(&principal.account, &id, &body.title, &text).await;
    Ok((StatusCode::CREATED, Json(document.map_err(refused)?)))
}

/// Removes a document.
#[utoipa::path(delete, path = "/datasets/{id}/documents/{document_id}", tag = "apps",
    params(
        ("id" = String, Path, description = "The dataset"),
        ("document_id" = String, Path, description = "The document")
    ),
    responses((status = 204, description = "Removed"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<StudioState>,
    Path((id, document_id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.knowledge.remove(&principal.account, &id, &document_id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn uploaded(state: &StudioState, account: &AccountId, upload: &str) -> Result<String, ApiError> {
    let key = upload_key(account, upload)
        .ok_or_else(|| ApiError::invalid_body("/upload_id", "it is not an id that POST /uploads gave"))?;
    let blob = state.blobs.get(&key, MAX_FILE).await?;
    let text = String::from_utf8(blob.bytes.to_vec()).map_err(|_| {
        ApiError::invalid_body("/upload_id", "the file is not text in UTF-8: convert it to plain text first")
    })?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// What knowledge says as a refusal.
pub(crate) fn refused(error: KnowledgeError) -> ApiError {
    let detail = error.to_string();
    match error {
        KnowledgeError::NotFound(_) => ApiError::new(StatusCode::NOT_FOUND, "not_found", detail),
        KnowledgeError::Invalid { field, message } => ApiError::invalid_body(format!("/{field}"), message),
        KnowledgeError::Elsewhere(_) => ApiError::conflict("kept_elsewhere", detail),
        KnowledgeError::Full { .. } => ApiError::too_large("dataset_full", detail),
        KnowledgeError::Conflict(_) => ApiError::conflict("conflict", detail),
        KnowledgeError::Corrupt(_) => {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail)
        }
        KnowledgeError::Table(error) => error.into(),
        KnowledgeError::Cipher(error) => error.into(),
        KnowledgeError::Service(_) => ApiError::new(StatusCode::BAD_GATEWAY, "knowledge_service", detail),
    }
}
