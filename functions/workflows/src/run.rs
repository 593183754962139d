//! `POST /workflows/{id}/run`: the published version, as any tool is called.

use crate::{WorkflowsState, refusal::refusal};
use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use domain::{Entry, Role};
use http::{HeaderMap, header};
use http_kit::{
    ApiError, JsonBody, Principal, Refusals, RequestId, StatusCode, ToolOutputBody, call_context,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;

const DEFAULT_TIMEOUT_S: u64 = 600;
const MAX_TIMEOUT_S: u64 = 600;
/// How long an answer is waited for before the run is left to go on by itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(25);

/// What a workflow is run with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunBody {
    /// What the start node declares.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub(crate) inputs: Value,
    /// How long it may take, in seconds: 1 to 600, which is also the default.
    #[schema(minimum = 1, maximum = 600)]
    timeout_s: Option<u64>,
}

impl RunBody {
    pub(crate) fn timeout(&self) -> Result<Duration, ApiError> {
        let seconds = self.timeout_s.unwrap_or(DEFAULT_TIMEOUT_S);
        if !(1..=MAX_TIMEOUT_S).contains(&seconds) {
            return Err(ApiError::invalid_body("/timeout_s", format!("use 1 to {MAX_TIMEOUT_S}")));
        }
        Ok(Duration::from_secs(seconds))
    }
}

/// A run that goes on by itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct Accepted {
    /// Its id.
    run_id: String,
    /// Where its record is.
    record: String,
}

/// Runs the published version. A viewer's key runs workflows that only read.
///
/// A run that takes longer than 25 s, or is asked for with `Prefer: respond-async`, answers 202 with the
/// place of its record and goes on. A client that goes away before that stops it.
#[utoipa::path(post, path = "/workflows/{id}/run", tag = "workflows", params(("id" = String, Path)),
    request_body = RunBody,
    responses((status = 200, description = "What the workflow gave", body = ToolOutputBody),
              (status = 202, description = "It goes on by itself", body = Accepted), Refusals))]
pub(crate) async fn run(
    principal: Principal,
    request_id: RequestId,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<Response, ApiError> {
    let timeout = body.timeout()?;
    let account = &principal.account;
    let workflow = state.service.get(account, &id).await.map_err(refusal)?;
    if !workflow.published.is_some_and(|published| published.annotations.read_only) {
        principal.require(Role::Operator)?;
    }
    let cx = call_context(&principal, &request_id, Entry::Api, timeout);
    let mut run = state.service.run(account, &id, body.inputs, &cx).await.map_err(refusal)?;
    if !prefers_async(&headers)
        && let Ok(ended) = tokio::time::timeout(ANSWER_WITHIN, run.output()).await
    {
        return Ok(Json(ended?).into_response());
    }
    let run_id = run.detach();
    let record = format!("/workflows/{id}/runs/{run_id}");
    let location = [(header::LOCATION, record.clone())];
    Ok((StatusCode::ACCEPTED, location, Json(Accepted { run_id, record })).into_response())
}

fn prefers_async(headers: &HeaderMap) -> bool {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    preferences.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case("respond-async"))
}
