//! `/apps/{id}/draft-config`: what an app is told to do, as long as it is worked on.

use crate::StudioState;
use apps::app::{AppConfig, ConfigProblem, Draft, references::Expanded};
use axum::{
    Json,
    extract::{Path, State},
};
use domain::{AccountId, Role};
use http_kit::{ApiError, JsonBody, Principal, Refusals};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What an answer has besides the config; a body that brings it along is taken without it.
const READ_ONLY: [&str; 3] = ["updated_at", "expanded", "problems"];

/// A draft config, with what editors show.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftView {
    #[serde(flatten)]
    config: AppConfig,
    /// Changes with every write. Sent back with a change, it makes sure that nobody else's is overwritten.
    revision: u64,
    /// When it was last written.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// What it refers to, with names and pictures.
    expanded: ExpandedDraft,
    /// What it refers to and is broken, and why. The rest works.
    problems: Vec<ConfigProblem>,
}

/// What a draft refers to, with names and pictures. What is broken is not among it.
#[derive(Debug, Serialize, ToSchema)]
struct ExpandedDraft {
    /// Tools, then workflows.
    tools: Vec<Expanded>,
    /// Datasets.
    datasets: Vec<ExpandedDataset>,
}

/// A dataset, with its name.
#[derive(Debug, Serialize, ToSchema)]
struct ExpandedDataset {
    id: String,
    name: String,
    description: String,
}

/// An app's draft config, secrets masked.
#[utoipa::path(get, path = "/apps/{id}/draft-config", tag = "apps",
    params(("id" = String, Path, description = "The app")),
    responses((status = 200, description = "The draft", body = DraftView), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
) -> Result<Json<DraftView>, ApiError> {
    let draft = state.apps.draft(&principal.account, &id).await?;
    Ok(Json(view(&state, &principal.account, draft).await))
}

/// Writes an app's draft config. A missing key has its default. What it refers to and is broken is told in `problems`.
#[utoipa::path(put, path = "/apps/{id}/draft-config", tag = "apps",
    params(("id" = String, Path, description = "The app")), request_body = AppConfig,
    responses((status = 200, description = "The draft as it is now", body = DraftView), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<StudioState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Json<DraftView>, ApiError> {
    principal.require(Role::Operator)?;
    let (config, revision) = read(body)?;
    let draft = state.apps.save_draft(&principal.account, &id, config, revision).await?;
    Ok(Json(view(&state, &principal.account, draft).await))
}

fn read(mut body: Map<String, Value>) -> Result<(AppConfig, Option<u64>), ApiError> {
    for name in READ_ONLY {
        body.remove(name);
    }
    let revision = match body.remove("revision") {
        None | Some(Value::Null) => None,
        Some(value) => {
            Some(value.as_u64().ok_or_else(|| ApiError::invalid_body("/revision", "use a whole number"))?)
        }
    };
    let config = serde_path_to_error::deserialize(Value::Object(body)).map_err(|error| {
        let path = format!("/{}", error.path().to_string().replace(['.', '['], "/").replace(']', ""));
        let path = path.replace("//", "/");
        ApiError::invalid_body(path.trim_end_matches("/?"), without_value(&error.into_inner().to_string()))
    })?;
    Ok((config, revision))
}

/// A message of serde without the text that was sent: that may be a secret.
fn without_value(message: &str) -> String {
    match (message.find("string \""), message.rfind("\", expected")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}string{}", &message[..start], &message[end + 1..])
        }
        _ => message.to_owned(),
    }
}

async fn view(state: &StudioState, account: &AccountId, draft: Draft) -> DraftView {
    let references = state.apps.references();
    let looked_up = references.look_up(account, &draft.config).await;
    let datasets = looked_up.datasets.into_iter();
    let dataset = |d: domain::ports::DatasetInfo| ExpandedDataset {
        id: d.id,
        name: d.name,
        description: d.description,
    };
    DraftView {
        config: references.masked(&draft.config),
        revision: draft.revision,
        updated_at: draft.updated_at,
        expanded: ExpandedDraft { tools: looked_up.tools, datasets: datasets.map(dataset).collect() },
        problems: looked_up.problems,
    }
}
