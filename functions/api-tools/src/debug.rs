//! `POST /api-tools/{id}/tools/{name}/debug`: a call of one tool, by the road that every call takes.

use crate::{ApiToolsState, refusal::refused};
use axum::{
    Json,
    extract::{Path, State},
};
use domain::{Entry, Role, ToolOutput};
use http_kit::{
    ApiError, CancelOnDrop, JsonBody, Principal, Refusals, RequestId, ToolOutputBody, call_context,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;
use utoipa::ToSchema;

/// Longer than any tool's own limit, which is what ends a call.
const LONGEST: Duration = Duration::from_mins(11);

/// What the tool is called with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DebugBody {
    /// The arguments.
    #[serde(default = "no_args")]
    #[schema(value_type = Object)]
    args: Value,
}

fn no_args() -> Value {
    Value::Object(Map::new())
}

/// Calls the tool for real. A viewer's key calls tools that only read.
#[utoipa::path(post, path = "/api-tools/{id}/tools/{name}/debug", tag = "api-tools",
    operation_id = "debug_api_tool", request_body = DebugBody,
    params(
        ("id" = String, Path, description = "The API's id"),
        ("name" = String, Path, description = "The tool's id: its operationId")
    ),
    responses((status = 200, description = "What the API gave back", body = ToolOutputBody), Refusals))]
pub(crate) async fn debug(
    principal: Principal,
    request_id: RequestId,
    State(state): State<ApiToolsState>,
    Path((id, name)): Path<(String, String)>,
    JsonBody(body): JsonBody<DebugBody>,
) -> Result<Json<ToolOutput>, ApiError> {
    let toolset = state.service.assemble_one(&principal.account, &id, &name).await.map_err(refused)?;
    let Some(entry) = toolset.entries().first() else {
        return Err(ApiError::internal("an assembly gave neither a tool nor a problem"));
    };
    if !entry.spec().annotations.read_only {
        principal.require(Role::Operator)?;
    }
    let cx = call_context(&principal, &request_id, Entry::Debug, LONGEST);
    let _cancel = CancelOnDrop::of(&cx);
    Ok(Json(toolset.invoke(&entry.name, body.args, &cx).await?))
}
