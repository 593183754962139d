//! A connection: the era found with a server and the session it keeps, renewed once when it has expired.

use super::{
    exchange::Exchange,
    listen::{self, Listening},
    wire::{Asked, MAX_STREAM, Reply, SESSION, VERSION, Wire},
};
use crate::client::{
    call::{CallOptions, Watch},
    era::{self, Era, Greeting, Probed},
    error::CallError,
    headers::{self, ParamHeader},
    message,
    pool::Pooled,
};
use ::http::{HeaderMap, HeaderValue};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// How long a server may keep silent on the question which versions it speaks.
const PROBE: Duration = Duration::from_secs(5);
/// How long ending a session may take.
const GOODBYE: Duration = Duration::from_secs(5);

/// A connection to a server over HTTP.
pub(crate) struct HttpConnection {
    wire: Arc<Wire>,
    state: Mutex<State>,
    /// The server has answered in this era, so a refusal is about the request and not about the era.
    proven: AtomicBool,
    /// Held while the session is renewed.
    renewing: tokio::sync::Mutex<()>,
    /// Set when nothing is to be heard any more.
    closed: CancellationToken,
}

#[derive(Clone)]
struct State {
    greeting: Greeting,
    session: Option<HeaderValue>,
    /// Counts the sessions.
    generation: u64,
}

impl HttpConnection {
    /// Connects: in the era that was found earlier, or after finding it out.
    pub(crate) async fn connect(
        wire: Wire,
        known: Option<Era>,
        options: &CallOptions,
    ) -> Result<Self, CallError> {
        let wire = Arc::new(wire);
        let watch = Watch::new(options);
        let (greeting, session) = match known {
            Some(Era::Modern) => (found(Era::Modern), None),
            Some(Era::Legacy(_)) => initialize(&wire, &watch).await?,
            None => match watch.over(probe(&wire)).await? {
                Probed::Modern(greeting) => (greeting, None),
                Probed::Legacy => initialize(&wire, &watch).await?,
                Probed::Neither(why) => return Err(CallError::Protocol(why)),
            },
        };
        let proven = !(known.is_some() && greeting.era.is_modern());
        Ok(Self {
            wire,
            state: Mutex::new(State { greeting, session, generation: 1 }),
            proven: AtomicBool::new(proven),
            renewing: tokio::sync::Mutex::new(()),
            closed: CancellationToken::new(),
        })
    }

    /// What the server is and speaks.
    pub(crate) fn greeting(&self) -> Greeting {
        self.state().greeting.clone()
    }

    /// Listens for changes of the server's tools, in the background, as long as the connection is kept.
    pub(crate) fn listen(self: &Arc<Self>) {
        let greeting = self.greeting();
        // A modern server that was found earlier is not asked again what it can do: trying shows it.
        if greeting.tells_changes || greeting.era.is_modern() {
            tokio::spawn(listen::listen(Arc::downgrade(self), self.closed.clone()));
        }
    }

    pub(super) fn listening(&self) -> Listening {
        let state = self.state().clone();
        let (wire, headers) = (Arc::clone(&self.wire), state.headers());
        match state.greeting.era {
            Era::Modern => Listening::modern(wire, headers),
            Era::Legacy(_) => Listening { wire, headers, request: None },
        }
    }

    /// Sends a request. When the server has forgotten the session, it is renewed and the request sent once
    /// more: the server says that it has not looked at the first.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        repeated: &[ParamHeader],
        options: &CallOptions,
    ) -> Result<Value, CallError> {
        let watch = Watch::new(options);
        let state = self.state().clone();
        let first = watch.over(self.exchange(&state, method, params.clone(), repeated, &watch));
        let result = match first.await {
            Err(CallError::SessionExpired) => {
                self.renew(state.generation, &watch).await?;
                let state = self.state().clone();
                watch.over(self.exchange(&state, method, params, repeated, &watch)).await
            }
            other => other,
        };
        match result {
            Err(CallError::Refused { code, .. })
                if state.greeting.era.is_modern() && era::denies_modern(code) =>
            {
                Err(CallError::EraChanged)
            }
            Ok(result) => {
                self.proven.store(true, Relaxed);
                Ok(result)
            }
            other => other,
        }
    }

    async fn exchange(
        &self,
        state: &State,
        method: &str,
        params: Value,
        repeated: &[ParamHeader],
        watch: &Watch,
    ) -> Result<Value, CallError> {
        let era = state.greeting.era;
        let mut extra = HeaderMap::new();
        if era.is_modern() {
            headers::standard(method, &params, repeated, &mut extra);
        }
        let exchange = Exchange {
            wire: &self.wire,
            asked: Asked {
                era,
                era_proven: self.proven.load(Relaxed),
                in_session: state.session.is_some(),
                wants_answer: true,
            },
            headers: state.headers(),
            watch,
        };
        Ok(exchange.run(method, params, extra).await?.0?)
    }

    async fn renew(&self, generation: u64, watch: &Watch) -> Result<(), CallError> {
        let _one = self.renewing.lock().await;
        if self.state().generation != generation {
            return Ok(());
        }
        let (greeting, session) = initialize(&self.wire, watch).await?;
        let mut state = self.state();
        *state = State { greeting, session, generation: generation + 1 };
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

impl State {
    fn headers(&self) -> HeaderMap {
        let mut headers = version_header(self.greeting.era);
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
        headers
    }
}

impl Pooled for HttpConnection {
    fn is_live(&self) -> bool {
        true
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.closed.cancel();
            let state = self.state().clone();
            if state.session.is_some()
                && let Err(error) = self.wire.delete(state.headers(), GOODBYE).await
            {
                tracing::debug!(%error, "a session was not ended");
            }
        })
    }
}

fn found(era: Era) -> Greeting {
    Greeting { era, server: None, tells_changes: false }
}

fn version_header(era: Era) -> HeaderMap {
    HeaderMap::from_iter([(VERSION, HeaderValue::from_static(era.version()))])
}

fn fresh(era: Era) -> Asked {
    Asked { era, era_proven: false, in_session: false, wants_answer: true }
}

/// Asks which versions the server speaks. Anything but a modern answer, silence included, means an older one.
async fn probe(wire: &Arc<Wire>) -> Result<Probed, CallError> {
    let watch = Watch::new(&CallOptions::within(PROBE));
    let mut extra = HeaderMap::new();
    headers::standard("server/discover", &Value::Null, &[], &mut extra);
    let exchange =
        Exchange { wire, asked: fresh(Era::Modern), headers: version_header(Era::Modern), watch: &watch };
    match watch.over(exchange.run("server/discover", json!({}), extra)).await {
        Ok((answer, _)) => Ok(era::read_discover(answer.as_ref())),
        Err(CallError::Refused { code, message, data }) => {
            let error = message::RpcError { code, message, data };
            Ok(era::read_discover(Err(&error)))
        }
        Err(
            CallError::EraChanged | CallError::Protocol(_) | CallError::Timeout(_) | CallError::Http { .. },
        ) => Ok(Probed::Legacy),
        Err(error) => Err(error),
    }
}

/// Makes the handshake.
async fn initialize(wire: &Arc<Wire>, watch: &Watch) -> Result<(Greeting, Option<HeaderValue>), CallError> {
    watch.over(handshake(wire, watch)).await
}

async fn handshake(wire: &Arc<Wire>, watch: &Watch) -> Result<(Greeting, Option<HeaderValue>), CallError> {
    let exchange =
        Exchange { wire, asked: fresh(Era::Legacy(era::LEGACY[0])), headers: HeaderMap::new(), watch };
    let greeted = exchange.run("initialize", era::initialize_params(), HeaderMap::new()).await;
    let (answer, head) = greeted.map_err(with_hint)?;
    let greeting = era::read_initialize(&answer?)?;
    let session = head.get(SESSION).cloned();
    let state = State { greeting, session, generation: 0 };
    let ready = message::notice("notifications/initialized", &json!({}));
    let asked =
        Asked { wants_answer: false, in_session: state.session.is_some(), ..fresh(state.greeting.era) };
    let response = wire.post(&ready, state.headers(), super::exchange::LONGEST_WAIT, MAX_STREAM).await?;
    Reply::read(response, &asked).await?;
    Ok((state.greeting, state.session))
}

/// Says what it may mean that there is nothing to greet.
fn with_hint(error: CallError) -> CallError {
    match error {
        CallError::Http { status: status @ (404 | 405), body, retry_after } => CallError::Http {
            status,
            body: format!(
                "{body} (there is no streamable HTTP server at this address; the older HTTP+SSE transport is not \
                 supported, and servers that have it mostly offer streamable HTTP at another path, such as /mcp)"
            ),
            retry_after,
        },
        other => other,
    }
}
