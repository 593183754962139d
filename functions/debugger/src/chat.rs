//! Asking an app's draft, and stopping it.

use crate::{DebuggerState, audience};
use apps::chat::{Ask, ChatEvent, ConfigChoice, ConversationChoice};
use axum::{
    extract::{Path, State},
    response::Response,
};
use domain::Role;
use futures::StreamExt as _;
use http_kit::{ApiError, JsonBody, Principal, Refusals, RequestId, StatusCode, event_stream};
use serde::Deserialize;
use utoipa::ToSchema;

/// A question to an app's draft.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChatBody {
    /// The question.
    query: String,
    /// Up to 5 addresses of pictures that go with it.
    #[serde(default)]
    #[schema(max_items = 5)]
    image_urls: Vec<String>,
    /// The conversation; the last one where it is left out.
    #[serde(default)]
    conversation_id: Option<String>,
    /// Whether calls that need a person's approval have it, in this run.
    #[serde(default)]
    approved: bool,
}

/// Asks an app's draft. The answer is a stream of events (`event: NAME`, `data: JSON`), closed by exactly one of
/// `agent_end`, `stop`, `error`, `timeout`. A client that goes away stops the run.
#[utoipa::path(post, path = "/apps/{id}/conversations", tag = "debugger",
    params(("id" = String, Path, description = "The app")), request_body = ChatBody,
    responses((status = 200, description = "Events", body = ChatEvent, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn chat(
    principal: Principal,
    request_id: RequestId,
    State(state): State<DebuggerState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<ChatBody>,
) -> Result<Response, ApiError> {
    principal.require(Role::Operator)?;
    let ask = Ask {
        audience: audience(&principal),
        account: principal.account,
        app_id: id,
        config: ConfigChoice::Draft,
        conversation: body.conversation_id.map_or(ConversationChoice::Latest, ConversationChoice::Id),
        query: body.query,
        image_urls: body.image_urls,
        approved: body.approved,
        request_id: request_id.0,
        traceparent: None,
    };
    let run = state.chat.start(ask).await?;
    Ok(event_stream(run.events().map(|event| event.to_sse())))
}

/// Stops a run, wherever it goes on. Stopping one that is over changes nothing.
#[utoipa::path(post, path = "/apps/{id}/conversations/tasks/{task_id}/stop", tag = "debugger",
    params(
        ("id" = String, Path, description = "The app"),
        ("task_id" = String, Path, description = "The run, as its events name it")
    ),
    responses((status = 204, description = "It is stopped, or was over"), Refusals))]
pub(crate) async fn stop(
    principal: Principal,
    State(state): State<DebuggerState>,
    Path((id, task_id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    state.chat.stop(&principal.account, &id, &audience(&principal), &task_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
