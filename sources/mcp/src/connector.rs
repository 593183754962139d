//! `Connector`: one request to a registered server, over whichever transport its record names.
//!
//! It opens the secrets, keeps live connections, and holds back calls to a server that is down or busy.

use crate::{
    client::{
        OnChange,
        breaker::Breaker,
        call::{CallOptions, Watch},
        era::Era,
        error::CallError,
        headers::ParamHeader,
        http::{HttpConnection, Wire},
        pool::{Full, Lease, Pool, PoolKey},
    },
    record::{ServerRecord, Transport},
    service::Deps,
};
use ::http::{HeaderMap, HeaderName, HeaderValue};
use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher, CipherError, Scope, StdioContext, StdioError, StdioInvoker, StdioServer},
};
use moka::sync::Cache;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// How many connections over HTTP are kept.
const MAX_CONNECTIONS: usize = 1024;
/// How long a connection is kept without being used.
const IDLE: Duration = Duration::from_mins(10);
/// How long it is remembered whether a server was down.
const GATE_IDLE: Duration = Duration::from_hours(1);

/// Told that the tools of an account's server have changed.
pub(crate) type ChangeListener = Arc<dyn Fn(AccountId, String) + Send + Sync>;

/// A server to talk to.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) account: AccountId,
    pub(crate) id: String,
    pub(crate) record: Arc<ServerRecord>,
}

/// A result with what was learnt on the way.
pub(crate) struct Reply {
    pub(crate) result: Value,
    pub(crate) era: String,
    pub(crate) server: Option<Value>,
}

/// Talks to servers.
pub(crate) struct Connector {
    egress: egress::Client,
    stdio: Arc<dyn StdioInvoker>,
    cipher: Arc<dyn Cipher>,
    pool: Pool<HttpConnection>,
    gates: Cache<PoolKey, Arc<Gate>>,
    listener: Arc<OnceLock<ChangeListener>>,
    /// Whether connections listen for changes between calls.
    listens: bool,
}

/// Holds back calls to one server.
struct Gate {
    breaker: Breaker,
    permits: Semaphore,
    /// How many permits there are in all.
    limit: u32,
}

impl Connector {
    pub(crate) fn new(deps: &Deps) -> Self {
        Self {
            egress: deps.egress.clone(),
            stdio: Arc::clone(&deps.stdio),
            cipher: Arc::clone(&deps.cipher),
            listens: deps.listen,
            pool: Pool::new(MAX_CONNECTIONS, IDLE),
            gates: Cache::builder().max_capacity(100_000).time_to_idle(GATE_IDLE).build(),
            listener: Arc::default(),
        }
    }

    /// Whom to tell when a server says that its tools have changed. The first one set stays.
    pub(crate) fn on_change(&self, listener: ChangeListener) {
        let _ = self.listener.set(listener);
    }

    /// Whether the address may be connected to, as far as that is known without a look-up.
    pub(crate) fn check_url(&self, url: &url::Url) -> Result<(), String> {
        self.egress.check_url(url).map_err(|e| e.to_string())
    }

    /// A call of a tool: not more than the server may have at a time, and none while it is down.
    pub(crate) async fn call(
        &self,
        target: &Target,
        params: Value,
        repeated: &[ParamHeader],
        options: &CallOptions,
    ) -> Result<Reply, CallError> {
        let gate = self.gate(target);
        gate.breaker.admit(Instant::now()).map_err(|wait| CallError::Unreachable {
            reason: format!(
                "the MCP server `{}` failed several times in a row; the next try is in {} s",
                target.record.name,
                wait.as_secs().max(1)
            ),
            sent: false,
        })?;
        let permit = async {
            let permit = gate.permits.acquire().await;
            permit.map_err(|e| CallError::Internal(e.to_string()))
        };
        let _permit = Watch::new(options).over(permit).await?;
        let outcome = self.request(target, "tools/call", params, repeated, options).await;
        match &outcome {
            Err(error) if error.is_outage() => gate.breaker.failed(Instant::now()),
            Err(CallError::Cancelled | CallError::Busy(_) | CallError::Internal(_)) => {}
            _ => gate.breaker.worked(),
        }
        outcome
    }

    /// A request without effects, whether or not the server is thought to be down. When the connection breaks,
    /// it is sent once more: a connection that was kept may have been closed by the server meanwhile.
    pub(crate) async fn ask(
        &self,
        target: &Target,
        method: &str,
        params: Value,
        options: &CallOptions,
    ) -> Result<Reply, CallError> {
        match self.request(target, method, params.clone(), &[], options).await {
            Err(CallError::Unreachable { sent: true, .. }) => {
                self.request(target, method, params, &[], options).await
            }
            other => other,
        }
    }

    async fn request(
        &self,
        target: &Target,
        method: &str,
        params: Value,
        repeated: &[ParamHeader],
        options: &CallOptions,
    ) -> Result<Reply, CallError> {
        match &target.record.transport {
            Transport::Http { .. } => self.over_http(target, method, params, repeated, options).await,
            Transport::Stdio { .. } => self.over_stdio(target, method, params, options).await,
        }
    }

    /// The server answered: whatever was thought of it before, it is up.
    pub(crate) fn is_up(&self, target: &Target) {
        self.gate(target).breaker.worked();
    }

    /// Ends all connections to a server.
    pub(crate) async fn forget(&self, account: &AccountId, id: &str) {
        self.pool.close_server(account, id).await;
        self.stdio.stop(account, id).await;
    }

    /// Ends all connections over HTTP.
    pub(crate) async fn close(&self) {
        self.pool.close_all().await;
    }

    fn gate(&self, target: &Target) -> Arc<Gate> {
        let (key, limit) = (target.key(), target.record.max_concurrency);
        match self.gates.get(&key) {
            Some(gate) if gate.limit == limit => gate,
            _ => {
                let gate = Arc::new(Gate {
                    breaker: Breaker::default(),
                    permits: Semaphore::new(limit as usize),
                    limit,
                });
                self.gates.insert(key, Arc::clone(&gate));
                gate
            }
        }
    }

    async fn over_http(
        &self,
        target: &Target,
        method: &str,
        params: Value,
        repeated: &[ParamHeader],
        options: &CallOptions,
    ) -> Result<Reply, CallError> {
        let key = target.key();
        let known = target.era();
        self.pool.close_others(&key);
        let (connection, fresh) = self.connection(target, &key, known, options).await?;
        let first = connection.request(method, params.clone(), repeated, options);
        match first.await {
            // What was found at discovery does not hold any more, and the server has looked at nothing.
            Err(CallError::EraChanged) if !(fresh && known.is_none()) => {
                self.pool.discard(&key, &connection);
                let (connection, _) = self.connection(target, &key, None, options).await?;
                let result = connection.request(method, params, repeated, options).await?;
                Ok(reply(result, &connection))
            }
            result => Ok(reply(result?, &connection)),
        }
    }

    /// A kept connection, or a new one; says whether it is new.
    async fn connection(
        &self,
        target: &Target,
        key: &PoolKey,
        known: Option<Era>,
        options: &CallOptions,
    ) -> Result<(Lease<HttpConnection>, bool), CallError> {
        let got = self.pool.get(key, || self.connect(target, known, options)).await?;
        if got.1 && self.listens {
            got.0.connection().listen();
        }
        Ok(got)
    }

    async fn connect(
        &self,
        target: &Target,
        known: Option<Era>,
        options: &CallOptions,
    ) -> Result<HttpConnection, CallError> {
        let Transport::Http { url, .. } = &target.record.transport else {
            return Err(CallError::Internal("not a server over HTTP".to_owned()));
        };
        let mut headers = HeaderMap::new();
        for (name, value) in self.open(target).await? {
            let name = HeaderName::try_from(&name).map_err(|e| CallError::Internal(e.to_string()))?;
            let value = HeaderValue::try_from(value.expose_secret());
            let mut value =
                value.map_err(|_| CallError::Internal(format!("the value of `{name}` is no header")))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let wire = Wire::new(self.egress.clone(), url.clone(), headers, self.listener_of(target));
        HttpConnection::connect(wire, known, options).await
    }

    async fn over_stdio(
        &self,
        target: &Target,
        method: &str,
        params: Value,
        options: &CallOptions,
    ) -> Result<Reply, CallError> {
        let Transport::Stdio { command, args, .. } = &target.record.transport else {
            return Err(CallError::Internal("not a server over stdio".to_owned()));
        };
        let server = StdioServer {
            id: target.id.clone(),
            revision: target.record.connection,
            command: command.clone(),
            args: args.clone(),
            env: self.open(target).await?,
            era: target.record.found.era.clone(),
        };
        let cx = StdioContext {
            account: target.account.clone(),
            timeout: options.remaining(),
            patience: options.patience,
            cancel: options.cancel.clone(),
            progress: options.progress.clone(),
        };
        let reply = self.stdio.request(&server, method, params, &cx).await;
        let reply = reply.map_err(CallError::from)?;
        Ok(Reply { result: reply.result, era: reply.era, server: reply.server })
    }

    /// Opens the sealed headers or variables.
    async fn open(&self, target: &Target) -> Result<BTreeMap<String, SecretString>, CallError> {
        let (field, sealed) = target.record.transport.secrets();
        let mut opened = BTreeMap::new();
        for (name, value) in sealed {
            let scope = scope_of(&target.account, &target.id, field, name);
            let value = self.cipher.open(&scope, value).await;
            opened.insert(name.clone(), value.map_err(|e: CipherError| CallError::Internal(e.to_string()))?);
        }
        Ok(opened)
    }

    fn listener_of(&self, target: &Target) -> OnChange {
        let (listener, target) = (Arc::clone(&self.listener), target.clone());
        Arc::new(move || {
            if let Some(listener) = listener.get() {
                listener(target.account.clone(), target.id.clone());
            }
        })
    }
}

/// Where a server's secret belongs.
pub(crate) fn scope_of(account: &AccountId, id: &str, field: &str, name: &str) -> Scope {
    Scope::new(account, Kind::McpServer, id, format!("{field}.{name}"))
}

fn reply(result: Value, connection: &Lease<HttpConnection>) -> Reply {
    let greeting = connection.greeting();
    Reply {
        server: crate::client::era::server_of(&result).or(greeting.server),
        era: greeting.era.version().to_owned(),
        result,
    }
}

impl Target {
    fn key(&self) -> PoolKey {
        PoolKey { account: self.account.clone(), server: self.id.clone(), revision: self.record.connection }
    }

    fn era(&self) -> Option<Era> {
        self.record.found.era.as_deref().and_then(Era::parse)
    }
}

impl From<Full> for CallError {
    fn from(Full(most): Full) -> Self {
        Self::Busy(format!("{most} connections to MCP servers are in use already"))
    }
}

impl From<StdioError> for CallError {
    fn from(error: StdioError) -> Self {
        match error {
            StdioError::Forbidden { .. } => Self::Forbidden(error.to_string()),
            StdioError::Start { .. } => Self::Unreachable { reason: error.to_string(), sent: false },
            StdioError::Died { .. } => Self::Unreachable { reason: error.to_string(), sent: true },
            StdioError::Refused { code, message } => Self::Refused { code, message, data: None },
            StdioError::TooLarge { limit } => Self::TooLarge { limit },
            StdioError::Busy(_) => Self::Busy(error.to_string()),
            StdioError::Timeout(after) => Self::Timeout(after),
            StdioError::Cancelled => Self::Cancelled,
        }
    }
}
