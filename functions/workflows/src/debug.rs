//! `POST /workflows/{id}/debug`: the draft, run for real, told node by node.

use crate::{WorkflowsState, refusal::refusal, run::RunBody};
use axum::{
    extract::{Path, State},
    response::sse::{Event as Sse, KeepAlive, Sse as SseResponse},
};
use domain::{AccountId, Entry, Role};
use futures::{Stream, stream};
use http_kit::{ApiError, JsonBody, Principal, Refusals, RequestId, call_context};
use source_workflow::{Draft, EndEvent, Event, NodeEvent, RunHandle, Workflows};
use std::{convert::Infallible, time::Duration};
use utoipa::ToSchema;

const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// What the stream tells: `event: workflow` for nodes, `event: workflow_end` once, as the last.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the stream; never built")]
pub(crate) enum DebugEvent {
    /// A node started, ended or was passed by.
    Workflow(NodeEvent),
    /// The run ended: with the end node's outputs, or with the error and its node.
    WorkflowEnd(EndEvent),
}

/// Runs the draft and tells of each node as it starts and ends (server-sent events).
///
/// A client that goes away stops the run. The run's record stays.
#[utoipa::path(post, path = "/workflows/{id}/debug", tag = "workflows", params(("id" = String, Path)),
    request_body = RunBody,
    responses((status = 200, description = "`event: workflow` for nodes, then one `event: workflow_end`",
               body = DebugEvent, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn debug(
    principal: Principal,
    request_id: RequestId,
    State(state): State<WorkflowsState>,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<SseResponse<impl Stream<Item = Result<Sse, Infallible>>>, ApiError> {
    principal.require(Role::Operator)?;
    let cx = call_context(&principal, &request_id, Entry::Debug, body.timeout()?);
    let account = principal.account;
    let (draft, run) = state.service.debug(&account, &id, body.inputs, &cx).await.map_err(refusal)?;
    let watched = Watched { service: state.service, account, id, draft, run: Some(run) };
    let events = stream::unfold(watched, |mut watched| async move {
        let event = watched.next().await?;
        Some((Ok(event), watched))
    });
    Ok(SseResponse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// A run whose events are sent. Dropping it stops the run.
struct Watched {
    service: Workflows,
    account: AccountId,
    id: String,
    draft: Draft,
    /// None after the terminal event.
    run: Option<RunHandle>,
}

impl Watched {
    async fn next(&mut self) -> Option<Sse> {
        let run = self.run.as_mut()?;
        let event = run.next_event().await?;
        match &event {
            Event::Node(node) => Some(sse("workflow", node)),
            Event::End(end) => {
                // The record is there before the client can ask for it.
                let _ = run.output().await;
                self.run = None;
                let noted = self.service.debugged(&self.account, &self.id, &self.draft, &event).await;
                if let Err(error) = noted {
                    tracing::warn!(%error, workflow = %self.id, "a passed debug run was not noted");
                }
                Some(sse("workflow_end", end))
            }
        }
    }
}

fn sse(name: &str, data: &impl serde::Serialize) -> Sse {
    let text = serde_json::to_string(data).unwrap_or_default();
    Sse::default().event(name).data(text)
}
