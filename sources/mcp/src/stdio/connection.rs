//! A conversation with one child process: requests matched with answers, and the handshake before them.

use super::{
    framing::{self, Line},
    process,
};
use crate::client::{
    MAX_MESSAGE, OnChange,
    call::{CallOptions, Watch},
    era::{self, Era, Greeting, Probed},
    error::{CallError, excerpt},
    http::listen_params,
    message::{self, Answer, Incoming, RpcError},
    pool::Pooled,
};
use domain::ports::{StdioError, StdioServer};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::{mpsc, oneshot, watch},
};
use tokio_util::sync::CancellationToken;

/// How long a server may keep silent on which versions it speaks before the handshake is tried beside it.
const PROBE: Duration = Duration::from_secs(2);
/// Longer than any process runs.
const FOREVER: Duration = Duration::from_hours(24 * 365);
/// How many messages may wait for a child that does not read.
const QUEUE: usize = 64;

/// A started and greeted server.
pub(super) struct StdioConnection {
    peer: Arc<Peer>,
    greeting: Greeting,
    stop: CancellationToken,
    over: watch::Receiver<bool>,
}

/// Why a server could not be started or greeted.
pub(super) enum StartError {
    Start(StdioError),
    Greet(CallError),
}

/// The two directions of a conversation.
struct Peer {
    out: mpsc::Sender<Vec<u8>>,
    state: Mutex<State>,
    next_id: AtomicI64,
    on_change: OnChange,
}

enum State {
    /// Requests without an answer yet.
    Open(HashMap<i64, Pending>),
    /// Why nothing more will come.
    Over(String),
}

struct Pending {
    answer: oneshot::Sender<Result<Answer, CallError>>,
    watch: Arc<Watch>,
}

impl StdioConnection {
    /// Starts the command and greets it in the era that is known, or finds it out.
    pub(super) async fn start(
        server: &StdioServer,
        known: Option<Era>,
        on_change: OnChange,
        watch: &Arc<Watch>,
    ) -> Result<Self, StartError> {
        let process = process::start(server).map_err(StartError::Start)?;
        let (out, outgoing) = mpsc::channel(QUEUE);
        let peer = Arc::new(Peer {
            out,
            state: Mutex::new(State::Open(HashMap::new())),
            next_id: AtomicI64::new(1),
            on_change,
        });
        let stop = CancellationToken::new();
        tokio::spawn(write(process.stdin, outgoing, stop.clone()));
        let reader = tokio::spawn(read(process.stdout, Arc::clone(&peer), stop.clone()));
        let (ended, over) = watch::channel(false);
        tokio::spawn({
            let (peer, stop) = (Arc::clone(&peer), stop.clone());
            async move {
                let reason = process.keeper.keep(stop.clone(), reader).await;
                tracing::debug!(%reason, "a stdio server is gone");
                peer.end(&reason);
                stop.cancel();
                ended.send_replace(true);
            }
        });
        let mut connection = Self {
            peer,
            greeting: Greeting { era: Era::Modern, server: None, tells_changes: false },
            stop,
            over,
        };
        let greeted = watch.over(connection.peer.greet(known, watch)).await;
        connection.greeting = greeted.map_err(StartError::Greet)?;
        connection.listen();
        Ok(connection)
    }

    /// Asks a modern server to tell of changes; one before 2026-07-28 does so by itself. The request has no
    /// answer as long as the server runs.
    fn listen(&self) {
        if !(self.greeting.era.is_modern() && self.greeting.tells_changes) {
            return;
        }
        let (peer, stop) = (Arc::clone(&self.peer), self.stop.clone());
        tokio::spawn(async move {
            let watch = Watch::new(&CallOptions::within(FOREVER));
            let params = |token| Era::Modern.dress(listen_params(), token);
            tokio::select! {
                _ = peer.ask("subscriptions/listen", params, &watch, false) => {}
                () = stop.cancelled() => {}
            }
        });
    }

    /// What the server is and speaks.
    pub(super) fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn request(
        &self,
        method: &str,
        params: Value,
        watch: &Arc<Watch>,
    ) -> Result<Value, CallError> {
        let era = self.greeting.era;
        let ask = self.peer.ask(method, |token| era.dress(params, token), watch, true);
        Ok(watch.over(ask).await??)
    }
}

impl Drop for StdioConnection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Pooled for StdioConnection {
    fn is_live(&self) -> bool {
        !self.stop.is_cancelled()
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.stop.cancel();
            let mut over = self.over.clone();
            // An error means that the keeper is gone, and the process with it.
            let _ = over.wait_for(|over| *over).await;
        })
    }
}

impl Peer {
    async fn greet(&self, known: Option<Era>, watch: &Arc<Watch>) -> Result<Greeting, CallError> {
        if let Some(Era::Legacy(_)) = known {
            return self.initialize(watch).await;
        }
        let dress = |token| Era::Modern.dress(json!({}), token);
        let mut probe = pin!(self.ask("server/discover", dress, watch, false));
        let probed = match tokio::time::timeout(PROBE, &mut probe).await {
            Ok(answer) => era::read_discover(answer?.as_ref()),
            // Silent, or slow to start: the handshake is tried beside the probe, and the server decides.
            Err(_) => match self.initialize(watch).await {
                Err(refusal @ CallError::Refused { .. }) => match era::read_discover(probe.await?.as_ref()) {
                    Probed::Legacy => return Err(refusal),
                    other => other,
                },
                greeted => return greeted,
            },
        };
        match probed {
            Probed::Modern(greeting) => Ok(greeting),
            Probed::Legacy => self.initialize(watch).await,
            Probed::Neither(why) => Err(CallError::Protocol(why)),
        }
    }

    async fn initialize(&self, watch: &Arc<Watch>) -> Result<Greeting, CallError> {
        let params = |_| era::initialize_params();
        let answer = self.ask("initialize", params, watch, false).await?;
        let greeting = era::read_initialize(&answer?)?;
        self.tell(&message::notice("notifications/initialized", &json!({})));
        Ok(greeting)
    }

    /// Sends a request and waits for the answer. Where `give_up` is set, the server is told when the wait ends early.
    async fn ask(
        &self,
        method: &str,
        params: impl FnOnce(Option<i64>) -> Value,
        watch: &Arc<Watch>,
        give_up: bool,
    ) -> Result<Answer, CallError> {
        let id = self.next_id.fetch_add(1, Relaxed);
        let token = watch.wants_progress().then_some(id);
        let request = line(&message::request(id, method, &params(token)));
        let (answer, answered) = oneshot::channel();
        match &mut *self.state() {
            State::Over(reason) => return Err(gone(reason, false)),
            State::Open(pending) => {
                let watch = Arc::clone(watch);
                pending.insert(id, Pending { answer, watch });
            }
        }
        let mut waiting = Waiting { peer: self, id, sent: false, give_up };
        let reason = || match &*self.state() {
            State::Over(reason) => reason.clone(),
            State::Open(_) => "its input is closed".to_owned(),
        };
        if self.out.send(request).await.is_err() {
            return Err(gone(&reason(), false));
        }
        waiting.sent = true;
        let answer = answered.await.unwrap_or_else(|_| Err(gone(&reason(), true)));
        waiting.sent = false;
        answer
    }

    /// Sends a message that nobody waits for. It is dropped when the child does not read.
    fn tell(&self, message: &Value) {
        if self.out.try_send(line(message)).is_err() {
            tracing::debug!("a stdio server does not read; a message to it was dropped");
        }
    }

    fn take_line(&self, line: Line) {
        match line {
            Line::TooLong(start, end) => {
                let limit = MAX_MESSAGE as u64;
                self.fail(framing::id_in_ends(&start, &end), &CallError::TooLarge { limit });
            }
            Line::Whole(line) => match serde_json::from_slice(&line) {
                Ok(Value::Array(batch)) => batch.into_iter().for_each(|message| self.take(message)),
                Ok(message) => self.take(message),
                // Many servers print to their output; a broken answer is told from that by its id.
                Err(error) if line.starts_with(b"{") => {
                    if let Some(id) = framing::id_in_ends(&line, &line) {
                        let why = format!("it is not JSON ({error})");
                        self.fail(Some(id), &CallError::Protocol(why));
                    }
                }
                Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Err(_) => {
                    let text = excerpt(&String::from_utf8_lossy(&line[..line.len().min(200)]));
                    tracing::debug!(%text, "a stdio server printed something that is not the protocol");
                }
            },
        }
    }

    fn take(&self, message: Value) {
        match Incoming::read(message) {
            Some(Incoming::Answer(id, answer)) => {
                let pending = self.state().remove(id);
                if let Some(pending) = pending {
                    let _ = pending.answer.send(Ok(answer));
                }
            }
            Some(Incoming::Request(id, method, _)) => self.tell(&message::answer_to(id, &method)),
            Some(Incoming::Fault(error)) => self.fault(error),
            Some(Incoming::Notice(method, params)) => self.take_notice(&method, &params),
            None => {}
        }
    }

    fn take_notice(&self, method: &str, params: &Value) {
        match method {
            "notifications/progress" => {
                if let Some((token, done, total, words)) = message::progress_of(params) {
                    let watch = match &*self.state() {
                        State::Open(pending) => pending.get(&token).map(|p| Arc::clone(&p.watch)),
                        State::Over(_) => None,
                    };
                    if let Some(watch) = watch {
                        watch.progress(done, total, words);
                    }
                }
            }
            "notifications/tools/list_changed" => (self.on_change)(),
            _ => {}
        }
    }

    /// An error without an id can only be told to somebody when a single request is waiting.
    fn fault(&self, error: RpcError) {
        let mut state = self.state();
        let State::Open(pending) = &mut *state else { return };
        let only = pending.keys().next().copied().filter(|_| pending.len() == 1);
        match only.and_then(|id| pending.remove(&id)) {
            Some(pending) => drop(pending.answer.send(Ok(Err(error)))),
            None => {
                tracing::debug!(code = error.code, message = %error.message, "a stdio server reports an error");
            }
        }
    }

    /// Ends the request of that id, or every one where it is not known which is meant.
    fn fail(&self, id: Option<i64>, error: &CallError) {
        let mut state = self.state();
        let State::Open(pending) = &mut *state else { return };
        let meant: Vec<Pending> = match id {
            Some(id) => pending.remove(&id).into_iter().collect(),
            None => pending.drain().map(|(_, pending)| pending).collect(),
        };
        for pending in meant {
            let _ = pending.answer.send(Err(error.clone()));
        }
    }

    fn end(&self, reason: &str) {
        self.fail(None, &gone(reason, true));
        *self.state() = State::Over(reason.to_owned());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, id: i64) -> Option<Pending> {
        match self {
            Self::Open(pending) => pending.remove(&id),
            Self::Over(_) => None,
        }
    }
}

/// A request that is waited for. When the wait ends early, the server is told.
struct Waiting<'a> {
    peer: &'a Peer,
    id: i64,
    sent: bool,
    give_up: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited = self.peer.state().remove(self.id).is_some();
        if waited && self.sent && self.give_up {
            let message = message::cancelled(self.id, "the caller no longer waits for it");
            self.peer.tell(&message);
        }
    }
}

fn gone(reason: &str, sent: bool) -> CallError {
    CallError::Unreachable { reason: reason.to_owned(), sent }
}

/// A message as a line: JSON text has no newline of its own.
fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

async fn write(mut stdin: ChildStdin, mut messages: mpsc::Receiver<Vec<u8>>, stop: CancellationToken) {
    let writing = async {
        while let Some(message) = messages.recv().await {
            if stdin.write_all(&message).await.is_err() || stdin.flush().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = stop.cancelled() => {}
    }
    // Dropping the pipe closes the child's input, which asks it to end.
}

async fn read(stdout: ChildStdout, peer: Arc<Peer>, stop: CancellationToken) {
    let mut reader = BufReader::with_capacity(64 * 1024, stdout);
    while let Ok(Some(line)) = framing::next_line(&mut reader, MAX_MESSAGE).await {
        peer.take_line(line);
    }
    // A server that has closed its output has nothing more to say.
    stop.cancel();
}
