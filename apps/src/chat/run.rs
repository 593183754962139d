//! The events of a run, and the answer they make.

use crate::conversations::Message;
use domain::ports::{AgentEvent, AgentEventKind};
use futures::{Stream, StreamExt as _, stream};
use serde::Serialize;
use std::{fmt, time::Duration};
use tokio::{sync::mpsc, time::Instant};

/// How often a connection without events is kept alive.
const PING: Duration = Duration::from_secs(10);

/// An event as channels show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatEvent {
    /// What happened.
    #[serde(flatten)]
    pub event: AgentEvent,
    /// The conversation.
    pub conversation_id: String,
    /// The message that is answered.
    pub message_id: String,
    /// The run, for stopping it.
    pub task_id: String,
}

impl ChatEvent {
    pub(super) fn of(message: &Message, event: AgentEvent) -> Self {
        Self {
            event,
            conversation_id: message.conversation_id.clone(),
            message_id: message.id.clone(),
            task_id: message.id.clone(),
        }
    }

    /// The event as a server-sent event.
    pub fn to_sse(&self) -> String {
        let data = serde_json::to_string(self).unwrap_or_default();
        format!("event: {}\ndata: {data}\n\n", self.event.event.as_str())
    }
}

/// A run that has begun.
pub struct ChatRun {
    /// The conversation.
    pub conversation_id: String,
    /// The message that is answered.
    pub message_id: String,
    /// The run, for stopping it.
    pub task_id: String,
    message: Message,
    receiver: mpsc::Receiver<ChatEvent>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// The message that was answered.
    pub message_id: String,
    /// The conversation.
    pub conversation_id: String,
    /// All that was said.
    pub answer: String,
    /// How it ended.
    pub end: AgentEvent,
    /// The steps, pieces of one text joined, without the end.
    pub steps: Vec<AgentEvent>,
    /// Tokens of all turns.
    pub total_token_count: u64,
    /// What they cost.
    pub total_price: f64,
    /// How long it took, in seconds.
    pub latency: f64,
}

impl ChatRun {
    pub(super) fn new(message: &Message, receiver: mpsc::Receiver<ChatEvent>) -> Self {
        Self {
            conversation_id: message.conversation_id.clone(),
            message_id: message.id.clone(),
            task_id: message.id.clone(),
            message: message.clone(),
            receiver,
        }
    }

    /// The events, with pings where there are none for a while, closed by exactly one terminal event.
    pub fn events(self) -> impl Stream<Item = ChatEvent> + Send + 'static {
        let state = (self.receiver, self.message, false);
        stream::unfold(state, |(mut receiver, message, ended)| async move {
            if ended {
                return None;
            }
            let event = match tokio::time::timeout(PING, receiver.recv()).await {
                Ok(Some(event)) => event,
                Ok(None) => {
                    let observation = "the run was broken off".to_owned();
                    let lost = AgentEvent { observation, ..AgentEvent::step(AgentEventKind::Error) };
                    ChatEvent::of(&message, lost)
                }
                Err(_) => ChatEvent::of(&message, AgentEvent::step(AgentEventKind::Ping)),
            };
            let ended = event.event.event.is_terminal();
            Some((event, (receiver, message, ended)))
        })
    }

    /// Waits for the end.
    pub async fn answer(self) -> ChatAnswer {
        let started = Instant::now();
        let (message_id, conversation_id) = (self.message_id.clone(), self.conversation_id.clone());
        let mut answer = String::new();
        let mut steps: Vec<AgentEvent> = Vec::new();
        let mut end = AgentEvent::step(AgentEventKind::Error);
        let (mut tokens, mut price) = (0, 0.0);
        let events = self.events();
        let mut events = std::pin::pin!(events);
        while let Some(ChatEvent { event, .. }) = events.next().await {
            tokens += event.total_token_count;
            price += event.total_price;
            answer.push_str(&event.answer);
            match steps.last_mut().filter(|last| last.id == event.id) {
                _ if event.event.is_terminal() => end = event,
                _ if event.event == AgentEventKind::Ping => {}
                Some(last) => {
                    last.answer.push_str(&event.answer);
                    last.thought.push_str(&event.thought);
                    last.total_token_count += event.total_token_count;
                    last.total_price += event.total_price;
                    last.latency = event.latency;
                }
                None => steps.push(event),
            }
        }
        ChatAnswer {
            message_id,
            conversation_id,
            answer,
            end,
            steps,
            total_token_count: tokens,
            total_price: price,
            latency: started.elapsed().as_secs_f64(),
        }
    }
}

impl fmt::Debug for ChatRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatRun").field("task_id", &self.task_id).finish_non_exhaustive()
    }
}
