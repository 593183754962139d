//! `POST /tools/invoke`: the call of a tool, by reference or by its name in a set.

use crate::{AssemblyState, assemble::check_count};
use axum::{Json, extract::State};
use domain::{
    AccountContext, Entry, Problem, ProblemCode, Role, ToolError, ToolOutput, ToolRef, Toolset,
    dialect::{self, Dialect},
    ports::Assembly,
};
use http_kit::{
    ApiError, CancelOnDrop, JsonBody, Principal, Refusals, RequestId, StatusCode, ToolOutputBody,
    call_context,
};
use serde::Deserialize;
use serde_json::Value;
use std::{fmt::Write as _, time::Duration};
use utoipa::ToSchema;

const DEFAULT_TIMEOUT_S: u64 = 60;
const MAX_TIMEOUT_S: u64 = 600;

/// A call: `ref` and `args`, or `refs`, `name` and `args`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvokeBody {
    /// The tool.
    #[serde(rename = "ref")]
    reference: Option<ToolRef>,
    /// The references of a set, among whose tools `name` is looked up.
    #[schema(max_items = 1000)]
    refs: Option<Vec<ToolRef>>,
    /// The tool's name in that set, as assembling the same references gives it.
    name: Option<String>,
    /// What the tool is called with.
    #[serde(default)]
    #[schema(value_type = Object)]
    args: Value,
    /// The dialect that the caller assembled with: arguments written for it are led back.
    dialect: Option<Dialect>,
    /// How long it may take, in seconds: 1 to 600, 60 where it is left out.
    #[schema(minimum = 1, maximum = 600)]
    timeout_s: Option<u64>,
}

enum Target {
    Only(ToolRef),
    Named(Vec<ToolRef>, String),
}

/// Calls a tool. A viewer's key calls tools that only read.
///
/// A failure that the tool itself reports is a result (`is_error`); what stops the call before or around the
/// tool is a problem document.
#[utoipa::path(post, path = "/tools/invoke", tag = "assembly", request_body = InvokeBody,
    responses((status = 200, description = "What the tool gave back", body = ToolOutputBody), Refusals))]
pub(crate) async fn invoke(
    principal: Principal,
    request_id: RequestId,
    State(state): State<AssemblyState>,
    JsonBody(body): JsonBody<InvokeBody>,
) -> Result<Json<ToolOutput>, ApiError> {
    let timeout = timeout(body.timeout_s)?;
    let mut args = body.args;
    let target = target(body.reference, body.refs, body.name)?;
    let cx = call_context(&principal, &request_id, Entry::Api, timeout);
    let _cancel = CancelOnDrop::of(&cx);
    let account = AccountContext::new(principal.account.clone());
    let (refs, name) = match target {
        Target::Only(reference) => (vec![reference], None),
        Target::Named(refs, name) => (refs, Some(name)),
    };
    let toolset = state.assembler.assemble(Assembly::of(refs), &account).await;
    let name = match &name {
        Some(name) => name.as_str(),
        None => only(&toolset)?,
    };
    check_role(&principal, &toolset, name)?;
    if let (Some(dialect), Some(entry)) = (body.dialect, toolset.get(name)) {
        dialect::restore(&mut args, entry.spec().args_schema.value(), dialect);
    }
    toolset.invoke(name, args, &cx).await.map(Json).map_err(|error| match error {
        ToolError::NotFound { .. } if toolset.get(name).is_none() => not_in_set(&toolset, name),
        error => error.into(),
    })
}

fn target(
    reference: Option<ToolRef>,
    refs: Option<Vec<ToolRef>>,
    name: Option<String>,
) -> Result<Target, ApiError> {
    match (reference, refs, name) {
        (Some(reference), None, None) => Ok(Target::Only(reference)),
        (None, Some(refs), Some(name)) => {
            check_count(&refs)?;
            Ok(Target::Named(refs, name))
        }
        _ => Err(ApiError::invalid_body("", "send either `ref`, or `refs` together with `name`")),
    }
}

fn timeout(seconds: Option<u64>) -> Result<Duration, ApiError> {
    let seconds = seconds.unwrap_or(DEFAULT_TIMEOUT_S);
    if !(1..=MAX_TIMEOUT_S).contains(&seconds) {
        return Err(ApiError::invalid_body("/timeout_s", format!("use 1 to {MAX_TIMEOUT_S}")));
    }
    Ok(Duration::from_secs(seconds))
}

/// The name of the one tool of a set.
fn only(toolset: &Toolset) -> Result<&str, ApiError> {
    match (toolset.entries(), toolset.problems()) {
        ([entry], _) => Ok(&entry.name),
        (_, [problem, ..]) => Err(refusal(problem)),
        _ => Err(ApiError::internal("an assembly gave neither a tool nor a problem")),
    }
}

/// Why the reference of a call gave no tool.
fn refusal(problem: &Problem) -> ApiError {
    let status = match problem.code {
        ProblemCode::UnknownKind | ProblemCode::ProviderNotFound | ProblemCode::ToolNotFound => {
            StatusCode::NOT_FOUND
        }
        ProblemCode::Unavailable
        | ProblemCode::Disabled
        | ProblemCode::AwaitingApproval
        | ProblemCode::Drifted => StatusCode::CONFLICT,
        ProblemCode::StoreFailed => StatusCode::SERVICE_UNAVAILABLE,
        ProblemCode::InvalidParams
        | ProblemCode::Duplicate
        | ProblemCode::InvalidSchema
        | ProblemCode::NotExpressible => StatusCode::UNPROCESSABLE_ENTITY,
    };
    ApiError::new(status, problem.code.as_str(), problem.message.clone())
}

fn not_in_set(toolset: &Toolset, name: &str) -> ApiError {
    let names: Vec<_> = toolset.entries().iter().map(|entry| entry.name.as_str()).collect();
    let mut what = format!("the tool `{name}` in this set (its tools: {})", names.join(", "));
    if let Some(problem) = toolset.problems().first() {
        let _ = write!(what, "; `{}` could not be taken: {};", problem.reference, problem.message);
    }
    ApiError::not_found(what)
}

fn check_role(principal: &Principal, toolset: &Toolset, name: &str) -> Result<(), ApiError> {
    let reads_only = |name| toolset.get(name).is_none_or(|entry| entry.spec().annotations.read_only);
    if reads_only(name) {
        return Ok(());
    }
    principal.require(Role::Operator)
}
