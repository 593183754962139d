//! `POST /mcp-servers/{id}/tools/{name}/debug`: a real call, over the same road as every other.

use crate::McpToolsState;
use axum::{
    Json,
    extract::{Path, State},
};
use domain::{
    AccountContext, Entry, ProblemCode, Role, ToolKind, ToolOutput, ToolRef, ports::Assembly,
    problem::Problem,
};
use http_kit::{
    ApiError, CancelOnDrop, JsonBody, Principal, Refusals, RequestId, StatusCode, ToolOutputBody,
    call_context,
};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;

/// The longest a call may take; the server's own timeout ends it earlier when nothing is heard from it.
const TIMEOUT: Duration = Duration::from_mins(10);

/// What to call the tool with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DebugBody {
    /// The arguments.
    #[serde(default)]
    #[schema(value_type = Object)]
    args: Value,
}

/// Calls a tool for real. A viewer's key calls tools that only read.
#[utoipa::path(post, path = "/mcp-servers/{id}/tools/{name}/debug", tag = "mcp-tools", request_body = DebugBody,
    params(("id" = String, Path, description = "The server's id"), ("name" = String, Path, description = "The tool's name")),
    responses((status = 200, description = "What the tool gave back", body = ToolOutputBody), Refusals))]
pub(crate) async fn debug(
    principal: Principal,
    request_id: RequestId,
    State(state): State<McpToolsState>,
    Path((id, name)): Path<(String, String)>,
    JsonBody(body): JsonBody<DebugBody>,
) -> Result<Json<ToolOutput>, ApiError> {
    let cx = call_context(&principal, &request_id, Entry::Debug, TIMEOUT);
    let _cancel = CancelOnDrop::of(&cx);
    let account = AccountContext::new(principal.account.clone());
    let reference = ToolRef::new(ToolKind::McpTool, id, name);
    let toolset = state.assembler.assemble(Assembly::of(vec![reference]), &account).await;
    let Some(entry) = toolset.entries().first() else {
        let problem = toolset.problems().first();
        return Err(problem.map_or_else(|| ApiError::internal("an assembly gave nothing"), unresolved));
    };
    if !entry.spec().annotations.read_only {
        principal.require(Role::Operator)?;
    }
    let output = toolset.invoke(&entry.name, body.args, &cx).await?;
    Ok(Json(output))
}

/// Why the reference gave no tool.
fn unresolved(problem: &Problem) -> ApiError {
    let status = match problem.code {
        ProblemCode::ProviderNotFound | ProblemCode::ToolNotFound => StatusCode::NOT_FOUND,
        ProblemCode::Disabled => StatusCode::CONFLICT,
        ProblemCode::StoreFailed => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    ApiError::new(status, problem.code.as_str(), problem.message.clone())
}
