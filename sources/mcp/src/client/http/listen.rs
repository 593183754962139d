//! Listens between calls for a server's word that its tools have changed.
//!
//! Before 2026-07-28 that is a stream opened by GET, since then the answer to `subscriptions/listen`. It is of
//! use only in a process that lives on; what is missed, the scheduled refresh finds.

use super::{
    session::HttpConnection,
    wire::{Reply, Wire},
};
use crate::client::{
    error::CallError,
    headers,
    message::{self, Incoming},
    sse::Decoder,
};
use ::http::HeaderMap;
use egress::Response;
use serde_json::{Value, json};
use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// A stream on which nothing comes for this long, no keep-alive either, is opened anew.
const SILENCE: Duration = Duration::from_mins(10);
/// How long after a broken stream the next is opened; doubled each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// A stream that lived this long was a good one.
const GOOD: Duration = Duration::from_mins(1);
/// The largest event on such a stream, in bytes.
const MAX_EVENT: usize = 1024 * 1024;

/// Listens until the connection is closed, or the server says that it has no such stream.
pub(super) async fn listen(connection: Weak<HttpConnection>, closed: CancellationToken) {
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let Some(listening) = connection.upgrade().map(|c| c.listening()) else { return };
        let heard = tokio::select! {
            heard = hear(&listening) => heard,
            () = closed.cancelled() => return,
        };
        match heard {
            Err(error) if is_final(&error) => {
                tracing::debug!(%error, "a server has no stream of changes");
                return;
            }
            Err(error) => tracing::debug!(%error, "a stream of changes broke"),
            Ok(()) => {}
        }
        pause = if began.elapsed() >= GOOD { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = closed.cancelled() => return,
        }
    }
}

/// What is needed to open a stream.
pub(super) struct Listening {
    pub(super) wire: Arc<Wire>,
    pub(super) headers: HeaderMap,
    /// The request that opens the stream, where it is not opened by GET.
    pub(super) request: Option<Value>,
}

impl Listening {
    /// The request that opens a modern stream.
    pub(super) fn modern(wire: Arc<Wire>, mut headers: HeaderMap) -> Self {
        let params = crate::client::era::Era::Modern.dress(params(), None);
        headers::standard(METHOD, &params, &[], &mut headers);
        let request = message::request(wire.next_id(), METHOD, &params);
        Self { wire, headers, request: Some(request) }
    }
}

const METHOD: &str = "subscriptions/listen";

/// What is listened for.
pub(crate) fn params() -> Value {
    json!({"notifications": {"toolsListChanged": true}})
}

fn is_final(error: &CallError) -> bool {
    match error {
        CallError::Http { status, .. } => (400..500).contains(status) && *status != 429,
        CallError::Refused { .. }
        | CallError::Unauthorized { .. }
        | CallError::SessionExpired
        | CallError::EraChanged
        | CallError::Protocol(_)
        | CallError::Blocked(_) => true,
        _ => false,
    }
}

async fn hear(listening: &Listening) -> Result<(), CallError> {
    let mut stream = open(listening).await?;
    let mut decoder = Decoder::new(MAX_EVENT);
    while let Some(chunk) = stream.chunk().await.map_err(CallError::from_egress)? {
        for event in decoder.push(&chunk)? {
            let message = serde_json::from_str(&event.data).ok().and_then(Incoming::read);
            match message {
                Some(Incoming::Notice(method, _)) if method == "notifications/tools/list_changed" => {
                    listening.wire.changed();
                }
                Some(Incoming::Request(id, method, _)) => {
                    super::exchange::tell(
                        &listening.wire,
                        listening.headers.clone(),
                        message::answer_to(id, &method),
                    );
                }
                Some(Incoming::Answer(_, Err(error)) | Incoming::Fault(error)) => return Err(error.into()),
                _ => {}
            }
        }
    }
    Ok(())
}

async fn open(listening: &Listening) -> Result<Response, CallError> {
    let Listening { wire, headers, request } = listening;
    let Some(request) = request else {
        return wire.open_stream(None, headers.clone(), SILENCE, u64::MAX).await;
    };
    let response = wire.post(request, headers.clone(), SILENCE, u64::MAX).await?;
    let asked = super::wire::Asked {
        era: crate::client::era::Era::Modern,
        era_proven: true,
        in_session: false,
        wants_answer: true,
    };
    match Reply::read(response, &asked).await? {
        Reply::Events(stream) => Ok(stream),
        _ => Err(CallError::protocol("it answers a subscription without a stream")),
    }
}
