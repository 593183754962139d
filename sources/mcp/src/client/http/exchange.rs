//! A request and its answer, in one piece or out of a stream that may break and be taken up again.

use super::wire::{Asked, MAX_STREAM, Reply, Wire};
use crate::client::{
    MAX_MESSAGE,
    call::Watch,
    era::Era,
    error::CallError,
    message::{self, Answer, Incoming},
    sse::{Decoder, Event},
};
use ::http::HeaderMap;
use egress::Response;
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// How often a broken stream is taken up again without anything having come.
const MAX_RESUMES: u32 = 5;
/// How long to wait before taking up a stream where the server says nothing.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// The longest wait a server may ask for.
const MAX_RETRY: Duration = Duration::from_secs(30);
/// How long telling a server something may take when nobody waits for it.
const ASIDE: Duration = Duration::from_secs(5);
/// No wait of a request is longer; its own bounds end it earlier.
pub(super) const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// One request.
pub(super) struct Exchange<'a> {
    pub(super) wire: &'a Arc<Wire>,
    pub(super) asked: Asked,
    /// What tells the server which session and version this belongs to.
    pub(super) headers: HeaderMap,
    pub(super) watch: &'a Watch,
}

impl Exchange<'_> {
    /// Sends `method` and waits for the answer; gives the answer and the HTTP headers that came first.
    pub(super) async fn run(
        self,
        method: &str,
        params: Value,
        extra: HeaderMap,
    ) -> Result<(Answer, HeaderMap), CallError> {
        let id = self.wire.next_id();
        let token = self.watch.wants_progress().then_some(id);
        let request = message::request(id, method, &self.asked.era.dress(params, token));
        let mut headers = self.headers.clone();
        headers.extend(extra);
        let mut guard = GiveUp::new(&self, id, method);
        let response = self.wire.post(&request, headers, LONGEST_WAIT, MAX_STREAM).await;
        let result = match response {
            Ok(response) => {
                let head = response.headers().clone();
                let reply = Reply::read(response, &self.asked).await;
                let answer = match reply {
                    Ok(reply) => self.answer(reply, id).await,
                    Err(error) => Err(error),
                };
                answer.map(|answer| (answer, head))
            }
            Err(error) => Err(error),
        };
        guard.armed = false;
        result
    }

    async fn answer(&self, reply: Reply, id: i64) -> Result<Answer, CallError> {
        match reply {
            Reply::Accepted => Err(CallError::protocol("it took the request and gives no answer")),
            Reply::Json(messages) => messages
                .into_iter()
                .find_map(|message| self.take(message, id))
                .ok_or_else(|| CallError::protocol("there is no answer to the request in it")),
            Reply::Events(response) => self.read_stream(response, id).await,
        }
    }

    async fn read_stream(&self, response: Response, id: i64) -> Result<Answer, CallError> {
        let mut decoder = Decoder::new(MAX_MESSAGE);
        let mut response = Some(response);
        let mut resumes = 0;
        loop {
            let ended = match response.as_mut() {
                Some(stream) => match stream.chunk().await {
                    Ok(Some(chunk)) => {
                        for event in decoder.push(&chunk)? {
                            resumes = 0;
                            if let Some(answer) = self.take_event(&event, id) {
                                return Ok(answer);
                            }
                        }
                        continue;
                    }
                    Ok(None) => "the stream ended before the answer".to_owned(),
                    Err(error) => match CallError::from_egress(error) {
                        CallError::Unreachable { reason, .. } => reason,
                        other => return Err(other),
                    },
                },
                None => "the stream could not be taken up again".to_owned(),
            };
            let resumable = !self.asked.era.is_modern() && decoder.last_id.is_some();
            if !resumable || resumes == MAX_RESUMES {
                return Err(CallError::Unreachable { reason: ended, sent: true });
            }
            resumes += 1;
            tokio::time::sleep(decoder.retry.unwrap_or(DEFAULT_RETRY).min(MAX_RETRY)).await;
            let (from, retry) = (decoder.last_id.take(), decoder.retry);
            response = self.resume(from.as_deref()).await.ok();
            decoder = Decoder::new(MAX_MESSAGE);
            (decoder.last_id, decoder.retry) = (from, retry);
        }
    }

    async fn resume(&self, after: Option<&str>) -> Result<Response, CallError> {
        let most = 2 * MAX_MESSAGE as u64;
        self.wire.open_stream(after, self.headers.clone(), LONGEST_WAIT, most).await
    }

    fn take_event(&self, event: &Event, id: i64) -> Option<Answer> {
        if !event.is_message() {
            return None;
        }
        // The first event of a stream that can be taken up again has no data.
        let message = serde_json::from_str(&event.data).ok()?;
        let messages = match message {
            Value::Array(batch) => batch,
            one => vec![one],
        };
        let mut messages = messages.into_iter().filter_map(Incoming::read);
        messages.find_map(|message| self.take(message, id))
    }

    /// Takes a message: the answer is handed out, everything else is dealt with here.
    fn take(&self, message: Incoming, id: i64) -> Option<Answer> {
        match message {
            Incoming::Answer(of, answer) if of == id => return Some(answer),
            // On this stream it can only be about this request.
            Incoming::Fault(error) => return Some(Err(error)),
            Incoming::Answer(of, _) => tracing::debug!(of, "an answer to nothing that was asked"),
            Incoming::Request(request, method, _) => self.tell(message::answer_to(request, &method)),
            Incoming::Notice(method, params) => match method.as_str() {
                "notifications/progress" => {
                    if let Some((token, done, total, words)) = message::progress_of(&params)
                        && token == id
                    {
                        self.watch.progress(done, total, words);
                    }
                }
                "notifications/tools/list_changed" => self.wire.changed(),
                _ => {}
            },
        }
        None
    }

    fn tell(&self, message: Value) {
        tell(self.wire, self.headers.clone(), message);
    }
}

/// Sends a message that nobody waits for.
pub(super) fn tell(wire: &Arc<Wire>, headers: HeaderMap, message: Value) {
    let wire = Arc::clone(wire);
    tokio::spawn(async move {
        let sent = tokio::time::timeout(ASIDE, wire.post(&message, headers, ASIDE, MAX_STREAM)).await;
        if let Ok(Err(error)) = sent {
            tracing::debug!(%error, "a message that nobody waits for was not taken");
        }
    });
}

/// Tells the server that a request is given up when its future is dropped before the end.
///
/// A modern server is told by the end of the connection, which comes by itself.
struct GiveUp {
    wire: Arc<Wire>,
    headers: HeaderMap,
    id: i64,
    armed: bool,
}

impl GiveUp {
    fn new(exchange: &Exchange<'_>, id: i64, method: &str) -> Self {
        Self {
            wire: Arc::clone(exchange.wire),
            headers: exchange.headers.clone(),
            id,
            armed: matches!(exchange.asked.era, Era::Legacy(_)) && method != "initialize",
        }
    }
}

impl Drop for GiveUp {
    fn drop(&mut self) {
        if self.armed && tokio::runtime::Handle::try_current().is_ok() {
            let message = message::cancelled(self.id, "the caller no longer waits for it");
            tell(&self.wire, self.headers.clone(), message);
        }
    }
}
