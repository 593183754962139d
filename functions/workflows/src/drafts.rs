//! Drafts: saved, checked, drawn and published.

use crate::{WorkflowsState, refusal::refusal};
use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use domain::Role;
use http::header;
use http_kit::{ApiError, JsonBody, Principal, Refusals};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use source_workflow::{Draft, GraphProblem, Workflow};
use utoipa::ToSchema;

/// A graph: nodes and edges as the guide of workflows describes them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphBody {
    /// The version of the format: 1.
    #[serde(default)]
    version: Option<u64>,
    /// The nodes: `{id, node_type, title, description, position, …}` and the fields of the type.
    #[schema(value_type = Vec<Object>)]
    nodes: Vec<Value>,
    /// The edges: `{id, source, source_type, target, target_type, condition?}`.
    #[schema(value_type = Vec<Object>)]
    edges: Vec<Value>,
}

impl GraphBody {
    fn into_graph(self) -> Value {
        let mut graph = json!({"nodes": self.nodes, "edges": self.edges});
        if let Some(version) = self.version {
            graph["version"] = version.into();
        }
        graph
    }
}

/// What is wrong with a graph; nothing when it can be published.
#[derive(Serialize, ToSchema)]
pub(crate) struct Problems {
    problems: Vec<GraphProblem>,
}

/// A saved draft, and what is wrong with it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SavedDraft {
    /// The draft.
    #[serde(flatten)]
    draft: Draft,
    /// What stands against publishing it.
    problems: Vec<GraphProblem>,
}

/// Reads the draft.
#[utoipa::path(get, path = "/workflows/{id}/draft", tag = "workflows", params(("id" = String, Path)),
    responses((status = 200, description = "The draft", body = Draft), Refusals))]
pub(crate) async fn get(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
) -> Result<Json<Draft>, ApiError> {
    state.service.draft(&principal.account, &id).await.map(Json).map_err(refusal)
}

/// Saves a draft. It is kept also when it is wrong; what is wrong is told.
#[utoipa::path(put, path = "/workflows/{id}/draft", tag = "workflows", params(("id" = String, Path)),
    request_body = GraphBody,
    responses((status = 200, description = "Saved", body = SavedDraft), Refusals))]
pub(crate) async fn put(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<GraphBody>,
) -> Result<Json<SavedDraft>, ApiError> {
    principal.require(Role::Operator)?;
    let saved = state.service.put_draft(&principal.account, &id, body.into_graph()).await;
    let (draft, problems) = saved.map_err(refusal)?;
    Ok(Json(SavedDraft { draft, problems }))
}

/// Checks the draft, or the graph in the body, without saving it.
#[utoipa::path(post, path = "/workflows/{id}/validate", tag = "workflows", params(("id" = String, Path)),
    request_body = Option<GraphBody>,
    responses((status = 200, description = "What is wrong", body = Problems), Refusals))]
pub(crate) async fn validate(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Problems>, ApiError> {
    let graph = given_graph(&body)?.map(GraphBody::into_graph);
    let problems = state.service.validate(&principal.account, &id, graph).await.map_err(refusal)?;
    Ok(Json(Problems { problems }))
}

/// The graph in a body; none where the body is absent or `{}`.
fn given_graph(body: &[u8]) -> Result<Option<GraphBody>, ApiError> {
    if body.is_empty() {
        return Ok(None);
    }
    let fields: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
        ApiError::bad_request("invalid_json", format!("the request body is not a JSON object: {error}"))
    })?;
    if fields.is_empty() {
        return Ok(None);
    }
    let graph = serde_json::from_value(Value::Object(fields));
    graph.map(Some).map_err(|error| ApiError::invalid_body("", error.to_string()))
}

/// Draws the draft as the text of a Mermaid flowchart.
#[utoipa::path(get, path = "/workflows/{id}/graph", tag = "workflows", params(("id" = String, Path)),
    responses((status = 200, description = "A Mermaid flowchart", body = String, content_type = "text/plain"), Refusals))]
pub(crate) async fn graph(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let text = state.service.mermaid(&principal.account, &id).await.map_err(refusal)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// Publishes the draft as the next version.
#[utoipa::path(post, path = "/workflows/{id}/publish", tag = "workflows", params(("id" = String, Path)),
    responses((status = 200, description = "Published", body = Workflow), Refusals))]
pub(crate) async fn publish(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
) -> Result<Json<Workflow>, ApiError> {
    principal.require(Role::Operator)?;
    state.service.publish(&principal.account, &id).await.map(Json).map_err(refusal)
}

/// Takes the workflow back: references to it become problems; runs in flight go on.
#[utoipa::path(post, path = "/workflows/{id}/unpublish", tag = "workflows", params(("id" = String, Path)),
    responses((status = 200, description = "No longer published", body = Workflow), Refusals))]
pub(crate) async fn unpublish(
    principal: Principal,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
) -> Result<Json<Workflow>, ApiError> {
    principal.require(Role::Operator)?;
    state.service.unpublish(&principal.account, &id).await.map(Json).map_err(refusal)
}
