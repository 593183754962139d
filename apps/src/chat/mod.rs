//! The chat service: what every channel calls.
//!
//! An app, a person and a question go in; a stream of events comes out, closed by exactly one terminal event, after what
//! it says was stored. A channel only translates: it decides who is asking, and how events are shown.
//!
//! | module | purpose |
//! |---|---|
//! | [`ask`] | what is asked, and why it may be refused |
//! | [`run`] | the events of a run, and the answer they make |
//! | `prepare` | all that a run needs, read side by side |
//! | `recorder` | each event to the store, then to whoever listens |
//! | `quota` | what an app may use in a day |

pub mod ask;
mod prepare;
mod quota;
mod recorder;
pub mod run;

pub use ask::{Ask, ChatRefusal, ConfigChoice, ConversationChoice};
pub use run::{ChatAnswer, ChatEvent, ChatRun};

use crate::{
    app::Apps,
    conversations::{Audience, ConversationError, Conversations},
};
use domain::{
    AccountId,
    ports::{Agent, AgentEvent, AgentEventKind, AgentSink as _, Clock, Signal, Table},
};
use futures::FutureExt as _;
use prepare::Prepared;
use quota::Quota;
use recorder::Recorder;
use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// The flag that stops a run.
pub const STOP: &str = "stop";
/// How many events may wait for whoever listens.
const WAITING: usize = 256;
/// How long to wait before a flag that could not be read is read again.
const SIGNAL_PAUSE: Duration = Duration::from_secs(1);

/// Answers questions with apps.
#[derive(Clone)]
pub struct ChatService {
    apps: Apps,
    conversations: Conversations,
    agent: Arc<dyn Agent>,
    signal: Arc<dyn Signal>,
    clock: Arc<dyn Clock>,
    quota: Quota,
}

impl ChatService {
    /// A service over its parts.
    pub fn new(
        apps: Apps,
        agent: Arc<dyn Agent>,
        signal: Arc<dyn Signal>,
        table: Arc<dyn Table>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let conversations = Conversations::new(table.clone(), clock.clone());
        Self { apps, conversations, agent, signal, quota: Quota::new(table, clock.clone()), clock }
    }

    /// The conversations it holds.
    pub fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// The apps it answers with.
    pub fn apps(&self) -> &Apps {
        &self.apps
    }

    /// Begins a run. What stands against it is told before any event; after that, events tell it.
    ///
    /// The run goes on by itself. It is stopped when [`ChatRun::events`] is dropped before its end.
    pub async fn start(&self, ask: Ask) -> Result<ChatRun, ChatRefusal> {
        let prepared = self.prepare(ask).await?;
        let (sender, receiver) = mpsc::channel(WAITING);
        let run = ChatRun::new(&prepared.message, receiver);
        let service = self.clone();
        tokio::spawn(async move { service.run(prepared, sender).await });
        Ok(run)
    }

    /// Stops a run, wherever it goes on. Stopping one that is over changes nothing.
    pub async fn stop(
        &self,
        account: &AccountId,
        app_id: &str,
        audience: &Audience,
        task_id: &str,
    ) -> Result<(), ChatRefusal> {
        let not_found = || ChatRefusal::NotFound(format!("the task `{task_id}`"));
        let found = self.conversations.message(account, task_id).await;
        let (conversation, _) = found.map_err(|error| match error {
            ConversationError::NotFound(_) => not_found(),
            other => other.into(),
        })?;
        if !conversation.belongs_to(app_id, audience) {
            return Err(not_found());
        }
        self.signal.set(account, task_id, STOP).await?;
        Ok(())
    }

    async fn run(self, prepared: Prepared, sender: mpsc::Sender<ChatEvent>) {
        let Prepared { request, conversation, is_new, message } = prepared;
        let cancel = request.cx.cancel.clone();
        let account = request.cx.account.clone();
        let run = message.id.clone();
        let mut recorder = Recorder::begin(
            self.conversations.clone(),
            self.quota.clone(),
            account.clone(),
            (conversation, is_new),
            message,
            (sender.clone(), cancel.clone()),
            self.clock.clone(),
        );
        let unwanted = self.unwanted(&account, &run, request.cx.remaining(), &sender);
        let ended = {
            let mut running = AssertUnwindSafe(self.agent.run(request, &mut recorder)).catch_unwind();
            tokio::select! {
                ended = &mut running => ended,
                () = unwanted => {
                    cancel.cancel();
                    running.await
                }
            }
        };
        let why = match ended {
            Ok(()) => "the run ended without a result",
            Err(_) => "the run failed inside; the log has the details",
        };
        let end = AgentEvent { observation: why.to_owned(), ..AgentEvent::step(AgentEventKind::Error) };
        // A run that has ended takes no second end.
        let _ = recorder.event(end).await;
    }

    /// Returns when a run's stop flag is set, by whatever instance, or when nobody listens any more.
    async fn unwanted(
        &self,
        account: &AccountId,
        run: &str,
        longest: Duration,
        listener: &mpsc::Sender<ChatEvent>,
    ) {
        let flagged = async {
            loop {
                match self.signal.wait(account, run, STOP, longest).await {
                    Ok(true) => return,
                    Ok(false) => std::future::pending().await,
                    Err(error) => tracing::warn!(%error, "the stop flag of a run could not be read"),
                }
                tokio::time::sleep(SIGNAL_PAUSE).await;
            }
        };
        tokio::select! {
            () = flagged => {}
            () = listener.closed() => {}
        }
    }
}

impl fmt::Debug for ChatService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatService").finish_non_exhaustive()
    }
}
