//! Each event of a run to the store, then to whoever listens. What was shown is stored; what ends a run is stored first.

use super::{ChatEvent, quota::Quota};
use crate::conversations::{Conversation, Conversations, Message, MessageStatus, Step};
use async_trait::async_trait;
use domain::{
    AccountId,
    ports::{AgentEvent, AgentEventKind, AgentSink, Clock, SinkClosed, TableError},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// How often an answer that is growing is written down.
const CHECKPOINT: Duration = Duration::from_secs(2);
/// The waits between attempts of a write that fails.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(300)];
/// How long a listener may take no event before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Recorder {
    conversations: Conversations,
    quota: Quota,
    account: AccountId,
    clock: Arc<dyn Clock>,
    message: Message,
    /// The first write, which goes on while the model is asked.
    beginning: Option<JoinHandle<Result<(), TableError>>>,
    listener: Option<mpsc::Sender<ChatEvent>>,
    cancel: CancellationToken,
    steps: u32,
    /// The message whose pieces are arriving.
    open: Option<AgentEvent>,
    started: Instant,
    written: Instant,
    ended: bool,
}

impl Recorder {
    pub(super) fn begin(
        conversations: Conversations,
        quota: Quota,
        account: AccountId,
        (conversation, is_new): (Conversation, bool),
        message: Message,
        (listener, cancel): (mpsc::Sender<ChatEvent>, CancellationToken),
        clock: Arc<dyn Clock>,
    ) -> Self {
        let first = (conversations.clone(), account.clone(), message.clone());
        let beginning = tokio::spawn(async move {
            let (conversations, account, message) = first;
            conversations.begin(&account, &conversation, is_new, &message).await
        });
        Self {
            conversations,
            quota,
            account,
            clock,
            message,
            beginning: Some(beginning),
            listener: Some(listener),
            cancel,
            steps: 0,
            open: None,
            started: Instant::now(),
            written: Instant::now(),
            ended: false,
        }
    }

    /// Waits for the first write.
    async fn begun(&mut self) -> Result<(), TableError> {
        match self.beginning.take() {
            None => Ok(()),
            Some(beginning) => beginning.await.unwrap_or_else(|error| Err(TableError::Failed(error.into()))),
        }
    }

    async fn store(&mut self, event: &AgentEvent) -> Result<(), TableError> {
        self.begun().await?;
        self.message.total_token_count += event.total_token_count;
        self.message.total_price += event.total_price;
        if event.event == AgentEventKind::AgentMessage {
            return self.gather(event).await;
        }
        self.close_message().await?;
        if !event.event.is_terminal() {
            return self.put_step(event.clone()).await;
        }
        self.finish(event).await
    }

    /// Joins a piece to its message.
    async fn gather(&mut self, event: &AgentEvent) -> Result<(), TableError> {
        if self.open.as_ref().is_some_and(|open| open.id != event.id) {
            self.close_message().await?;
        }
        self.message.answer.push_str(&event.answer);
        match &mut self.open {
            None => self.open = Some(event.clone()),
            Some(open) => {
                open.answer.push_str(&event.answer);
                open.thought.push_str(&event.thought);
                open.reasoning.push_str(&event.reasoning);
                open.total_token_count += event.total_token_count;
                open.total_price += event.total_price;
                open.latency = open.latency.max(event.latency);
            }
        }
        if self.written.elapsed() >= CHECKPOINT {
            self.put_message().await?;
        }
        Ok(())
    }

    async fn close_message(&mut self) -> Result<(), TableError> {
        match self.open.take() {
            Some(open) => self.put_step(open).await,
            None => Ok(()),
        }
    }

    async fn put_step(&mut self, event: AgentEvent) -> Result<(), TableError> {
        let step = Step { position: self.steps, event, created_at: self.clock.now() };
        self.steps += 1;
        let (conversations, account, message) = (&self.conversations, &self.account, &self.message.id);
        again(|| conversations.put_step(account, message, &step)).await
    }

    async fn put_message(&mut self) -> Result<(), TableError> {
        self.written = Instant::now();
        let (conversations, account, message) = (&self.conversations, &self.account, &self.message);
        again(|| conversations.put(account, message)).await
    }

    /// Writes how the run ended.
    async fn finish(&mut self, event: &AgentEvent) -> Result<(), TableError> {
        self.message.latency = self.started.elapsed().as_secs_f64();
        self.message.status = match event.event {
            AgentEventKind::AgentEnd => MessageStatus::Normal,
            AgentEventKind::Stop => MessageStatus::Stop,
            AgentEventKind::Timeout => MessageStatus::Timeout,
            _ => MessageStatus::Error,
        };
        self.message.error.clone_from(&event.observation);
        self.put_message().await?;
        if self.message.total_token_count > 0 {
            let spent =
                self.quota.spend(&self.account, &self.message.app_id, self.message.total_token_count).await;
            if let Err(error) = spent {
                tracing::warn!(%error, app = %self.message.app_id, "tokens of a run were not counted");
            }
        }
        Ok(())
    }

    /// Ends a run whose events can no longer be stored, as well as that can be done.
    async fn fail(&mut self, error: &TableError) {
        tracing::error!(%error, message = %self.message.id, "a run could not be stored");
        let observation =
            "the run could not be stored and was ended; what was shown may be missing later".to_owned();
        let end = AgentEvent { observation, ..AgentEvent::step(AgentEventKind::Error) };
        // The store may work again by now. Where it does not, the record ends by its own time.
        if let Err(error) = self.finish(&end).await {
            tracing::error!(%error, message = %self.message.id, "the end of a run could not be stored");
        }
        self.ended = true;
        self.cancel.cancel();
        self.tell(end).await;
    }

    /// Shows an event. Where nobody listens any more, the run is stopped, and ends by itself.
    async fn tell(&mut self, event: AgentEvent) {
        let Some(listener) = &self.listener else { return };
        let event = ChatEvent::of(&self.message, event);
        if !matches!(tokio::time::timeout(PATIENCE, listener.send(event)).await, Ok(Ok(()))) {
            self.listener = None;
            self.cancel.cancel();
        }
    }
}

#[async_trait]
impl AgentSink for Recorder {
    async fn event(&mut self, event: AgentEvent) -> Result<(), SinkClosed> {
        if self.ended {
            return Err(SinkClosed);
        }
        if let Err(error) = self.store(&event).await {
            self.fail(&error).await;
            return Err(SinkClosed);
        }
        self.ended = event.event.is_terminal();
        self.tell(event).await;
        Ok(())
    }
}

/// Does a write again where it fails for a moment.
async fn again<F: Future<Output = Result<(), TableError>>>(write: impl Fn() -> F) -> Result<(), TableError> {
    for pause in PAUSES {
        match write().await {
            Err(error) if !error.is_conflict() => {
                tracing::debug!(%error, "a write is done again");
                tokio::time::sleep(pause).await;
            }
            other => return other,
        }
    }
    write().await
}
