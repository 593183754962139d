//! The bytes of an answer to events: a stream of server-sent events, or one JSON document.

use super::{delta::Answer, of_egress, refusal};
use bytes::Bytes;
use domain::ports::{ChatError, ChatEvent, ChatStream};
use egress::{EgressError, Response};
use eventsource_stream::{Event, EventStream, EventStreamError};
use futures::{StreamExt as _, stream, stream::BoxStream};
use http::header;
use secrecy::SecretString;
use serde_json::Value;
use std::{collections::VecDeque, time::Duration};

/// How long figures are waited for once the answer is whole, where the service does not close the stream.
const GRACE: Duration = Duration::from_secs(2);
/// How much is looked at to tell JSON from a stream where no media type says it, in bytes.
const SNIFF: usize = 512;

type Chunks = BoxStream<'static, Result<Bytes, EgressError>>;

/// The events of a response.
pub(super) fn events(response: Response, key: Option<SecretString>) -> ChatStream {
    let media = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = media.unwrap_or_default().to_ascii_lowercase();
    let is_stream = media.starts_with("text/event-stream");
    let chunks = response.stream().boxed();
    stream::once(async move {
        match if is_stream { Ok((false, chunks)) } else { sniff(chunks).await } {
            Ok((true, chunks)) => whole(chunks, key).await,
            Ok((false, chunks)) => streamed(chunks, key),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    })
    .flatten()
    .boxed()
}

/// Whether the body is one JSON document: it begins with a brace.
async fn sniff(mut chunks: Chunks) -> Result<(bool, Chunks), ChatError> {
    let mut seen = Vec::new();
    let mut head = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| of_egress(&error))?;
        head.extend_from_slice(&chunk[..chunk.len().min(SNIFF)]);
        seen.push(Ok(chunk));
        if head.len() >= SNIFF || head.iter().any(|byte| !byte.is_ascii_whitespace()) {
            break;
        }
    }
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok((first == Some(&b'{'), stream::iter(seen).chain(chunks).boxed()))
}

/// One JSON document in the place of a stream.
async fn whole(mut chunks: Chunks, key: Option<SecretString>) -> ChatStream {
    let read = async {
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await {
            body.extend_from_slice(&chunk.map_err(|error| of_egress(&error))?);
        }
        let body = serde_json::from_slice(&body).map_err(|_| ChatError::Broken("it is not JSON".into()))?;
        if let Some(error) = refusal::in_band(&body, key.as_ref()) {
            return Err(error);
        }
        let mut answer = Answer::default();
        let mut events = answer.take(&body)?;
        events.extend(answer.end(true)?);
        Ok(events)
    };
    match read.await {
        Ok(events) => stream::iter(events.into_iter().map(Ok)).boxed(),
        Err(error) => stream::iter([Err(error)]).boxed(),
    }
}

struct Reading {
    source: BoxStream<'static, Result<Event, EventStreamError<EgressError>>>,
    answer: Answer,
    ready: VecDeque<ChatEvent>,
    ended: bool,
    key: Option<SecretString>,
}

fn streamed(chunks: Chunks, key: Option<SecretString>) -> ChatStream {
    // A last event whose blank line never comes is an event all the same.
    let closed = chunks.chain(stream::iter([Ok(Bytes::from_static(b"\n\n"))]));
    let source = EventStream::new(closed).boxed();
    let reading = Reading { source, answer: Answer::default(), ready: VecDeque::new(), ended: false, key };
    stream::try_unfold(reading, |mut reading| async move {
        while reading.ready.is_empty() && !reading.ended {
            reading.step().await?;
        }
        Ok(reading.ready.pop_front().map(|event| (event, reading)))
    })
    .boxed()
}

impl Reading {
    /// Reads one event of the service.
    async fn step(&mut self) -> Result<(), ChatError> {
        let next = if self.answer.is_finished() {
            tokio::time::timeout(GRACE, self.source.next()).await.unwrap_or(None)
        } else {
            self.source.next().await
        };
        match next {
            None => self.end(false),
            Some(Ok(event)) => self.take(&event),
            // What fails after the answer is whole takes nothing away from it.
            Some(Err(_)) if self.answer.is_finished() => self.end(false),
            Some(Err(EventStreamError::Transport(error))) => Err(of_egress(&error)),
            Some(Err(_)) => Err(ChatError::Broken("it is not a stream of events".into())),
        }
    }

    fn take(&mut self, event: &Event) -> Result<(), ChatError> {
        let data = event.data.trim();
        if data.is_empty() || event.event == "ping" {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.end(true);
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            let message = refusal::shown(data, self.key.as_ref());
            return Err(ChatError::Broken(format!("an event is not JSON: {message}")));
        };
        if let Some(error) = refusal::in_band(&chunk, self.key.as_ref()) {
            return Err(error);
        }
        if event.event == "error" {
            let message = refusal::shown(&chunk.to_string(), self.key.as_ref());
            return Err(ChatError::Broken(format!("the service reported: {message}")));
        }
        self.ready.extend(self.answer.take(&chunk)?);
        Ok(())
    }

    fn end(&mut self, marked: bool) -> Result<(), ChatError> {
        self.ended = true;
        self.ready.extend(std::mem::take(&mut self.answer).end(marked)?);
        Ok(())
    }
}
