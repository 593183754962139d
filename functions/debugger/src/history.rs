//! What was asked and answered before, step by step.

use crate::{DebuggerState, audience};
use apps::conversations::{Conversation, ConversationError, Message, Step};
use axum::{
    Json,
    extract::{Path, Query, State},
};
use domain::{AccountId, Role};
use futures::future::try_join_all;
use http_kit::{ApiError, List, ListQuery, Principal, Refusals, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The longest page of messages: each brings its steps along.
const MAX_PAGE: usize = 50;

/// Which conversation.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichConversation {
    /// The conversation; the last one where it is left out.
    conversation_id: Option<String>,
}

/// A question with its answer and what happened in between.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageView {
    #[serde(flatten)]
    message: Message,
    /// The steps of its run, in order.
    agent_thoughts: Vec<Step>,
}

/// Lists the debug conversations of an app, newest first.
#[utoipa::path(get, path = "/apps/{id}/conversations", tag = "debugger",
    params(("id" = String, Path, description = "The app"), ListQuery),
    responses((status = 200, description = "The conversations", body = List<Conversation>), Refusals))]
pub(crate) async fn conversations(
    principal: Principal,
    State(state): State<DebuggerState>,
    Path(id): Path<String>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<Conversation>>, ApiError> {
    let conversations = state.chat.conversations();
    let audience = audience(&principal);
    let (items, next_cursor) =
        conversations.list(&principal.account, &id, &audience, page.limit(), page.cursor).await?;
    Ok(Json(List { items, next_cursor }))
}

/// The messages of a debug conversation with their steps, newest first.
#[utoipa::path(get, path = "/apps/{id}/conversations/messages", tag = "debugger",
    params(("id" = String, Path, description = "The app"), WhichConversation, ListQuery),
    responses((status = 200, description = "The messages", body = List<MessageView>), Refusals))]
pub(crate) async fn messages(
    principal: Principal,
    State(state): State<DebuggerState>,
    Path(id): Path<String>,
    Query(which): Query<WhichConversation>,
    Query(page): Query<ListQuery>,
) -> Result<Json<List<MessageView>>, ApiError> {
    let Some(conversation) = find(&principal, &state, &id, which).await? else {
        return Ok(Json(List::whole(Vec::new())));
    };
    let conversations = state.chat.conversations();
    let account: &AccountId = &principal.account;
    let limit = page.limit().min(MAX_PAGE);
    let (messages, next_cursor) =
        conversations.messages(account, &conversation.id, limit, page.cursor).await?;
    let with_steps = messages.into_iter().map(|message| async move {
        let agent_thoughts = conversations.steps(account, &message.id).await?;
        Ok::<_, ConversationError>(MessageView { message, agent_thoughts })
    });
    Ok(Json(List { items: try_join_all(with_steps).await?, next_cursor }))
}

/// Removes a debug conversation; the next question begins another.
#[utoipa::path(delete, path = "/apps/{id}/conversations", tag = "debugger",
    params(("id" = String, Path, description = "The app"), WhichConversation),
    responses((status = 204, description = "Removed"), Refusals))]
pub(crate) async fn delete(
    principal: Principal,
    State(state): State<DebuggerState>,
    Path(id): Path<String>,
    Query(which): Query<WhichConversation>,
) -> Result<StatusCode, ApiError> {
    principal.require(Role::Operator)?;
    if let Some(conversation) = find(&principal, &state, &id, which).await? {
        state.chat.conversations().delete(&principal.account, &conversation).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn find(
    principal: &Principal,
    state: &DebuggerState,
    app_id: &str,
    which: WhichConversation,
) -> Result<Option<Conversation>, ApiError> {
    let conversations = state.chat.conversations();
    let (account, audience) = (&principal.account, audience(principal));
    Ok(match which.conversation_id {
        Some(id) => Some(conversations.get(account, app_id, &audience, &id).await?),
        None => conversations.latest(account, app_id, &audience).await?,
    })
}
