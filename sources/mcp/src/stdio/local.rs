//! `LocalStdio`: runs servers as children of this process and keeps them while they are used.

use super::{
    connection::{StartError, StdioConnection},
    policy::StdioPolicy,
};
use crate::client::{
    OnChange,
    call::{CallOptions, Watch},
    era::Era,
    error::CallError,
    pool::{Full, Pool, PoolKey},
};
use async_trait::async_trait;
use domain::{
    AccountId,
    ports::{StdioContext, StdioError, StdioInvoker, StdioReply, StdioServer},
};
use serde_json::Value;
use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

/// How many servers run at the same time.
const MAX_PROCESSES: usize = 64;
/// How long a server runs without being called.
const IDLE: Duration = Duration::from_mins(5);

/// Told that the tools of an account's server have changed.
pub type ChangeListener = Arc<dyn Fn(AccountId, String) + Send + Sync>;

/// Runs servers as child processes.
pub struct LocalStdio {
    policy: StdioPolicy,
    pool: Pool<StdioConnection>,
    listener: Arc<OnceLock<ChangeListener>>,
}

enum Failure {
    Stdio(StdioError),
    Call(CallError),
}

impl LocalStdio {
    /// Runs what the policy allows.
    pub fn new(policy: StdioPolicy) -> Self {
        Self::with_limits(policy, MAX_PROCESSES, IDLE)
    }

    /// The same with other limits: at most `most` processes, each ended after `idle` without a call.
    pub fn with_limits(policy: StdioPolicy, most: usize, idle: Duration) -> Self {
        Self { policy, pool: Pool::new(most, idle), listener: Arc::default() }
    }

    /// Whom to tell when a server says that its tools have changed. The first one set stays.
    pub fn on_change(&self, listener: ChangeListener) {
        let _ = self.listener.set(listener);
    }

    /// Ends all processes and waits until they have ended.
    pub async fn shutdown(&self) {
        self.pool.close_all().await;
    }

    async fn connect(
        &self,
        server: &StdioServer,
        account: &AccountId,
        watch: &Arc<Watch>,
    ) -> Result<StdioConnection, Failure> {
        let known = server.era.as_deref().and_then(Era::parse);
        let start = |known| StdioConnection::start(server, known, self.changed(account, &server.id), watch);
        match start(known).await {
            // Some servers end when they are asked what they do not know. The handshake, they know.
            Err(StartError::Greet(CallError::Unreachable { .. }))
                if !matches!(known, Some(Era::Legacy(_))) =>
            {
                start(Some(Era::Legacy(crate::client::era::LEGACY[0]))).await
            }
            other => other,
        }
        .map_err(|error| match error {
            StartError::Start(error) => Failure::Stdio(error),
            StartError::Greet(error) => Failure::Call(error),
        })
    }

    fn changed(&self, account: &AccountId, id: &str) -> OnChange {
        let (listener, account, id) = (Arc::clone(&self.listener), account.clone(), id.to_owned());
        Arc::new(move || {
            if let Some(listener) = listener.get() {
                listener(account.clone(), id.clone());
            }
        })
    }

    async fn call(
        &self,
        server: &StdioServer,
        method: &str,
        params: Value,
        cx: &StdioContext,
    ) -> Result<StdioReply, Failure> {
        let options = CallOptions {
            deadline: Instant::now() + cx.timeout,
            patience: cx.patience,
            cancel: cx.cancel.clone(),
            progress: cx.progress.clone(),
        };
        let watch = Watch::new(&options);
        let key =
            PoolKey { account: cx.account.clone(), server: server.id.clone(), revision: server.revision };
        self.pool.close_others(&key);
        let mut again = true;
        loop {
            let connect = || self.connect(server, &cx.account, &watch);
            let (connection, fresh) = self.pool.get(&key, connect).await?;
            match connection.request(method, params.clone(), &watch).await {
                // It had ended before the request reached it: another one is started.
                Err(CallError::Unreachable { sent: false, .. }) if !fresh && again => {
                    again = false;
                    self.pool.discard(&key, &connection);
                }
                Err(error) => return Err(Failure::Call(error)),
                Ok(result) => {
                    let greeting = connection.greeting();
                    return Ok(StdioReply {
                        server: greeting.server.clone(),
                        era: greeting.era.version().to_owned(),
                        result,
                    });
                }
            }
        }
    }
}

#[async_trait]
impl StdioInvoker for LocalStdio {
    async fn request(
        &self,
        server: &StdioServer,
        method: &str,
        params: Value,
        cx: &StdioContext,
    ) -> Result<StdioReply, StdioError> {
        self.policy
            .check_command(&server.command)
            .map_err(|reason| StdioError::Forbidden { command: server.command.clone(), reason })?;
        let called = self.call(server, method, params, cx).await;
        called.map_err(|failure| match failure {
            Failure::Stdio(error) => error,
            Failure::Call(error) => to_stdio(error),
        })
    }

    async fn stop(&self, account: &AccountId, server_id: &str) {
        self.pool.close_server(account, server_id).await;
    }
}

fn to_stdio(error: CallError) -> StdioError {
    match error {
        CallError::Refused { code, message, .. } => StdioError::Refused { code, message },
        CallError::TooLarge { limit } => StdioError::TooLarge { limit },
        CallError::Timeout(after) => StdioError::Timeout(after),
        CallError::Cancelled => StdioError::Cancelled,
        other => StdioError::Died { reason: other.to_string() },
    }
}

impl From<Full> for Failure {
    fn from(Full(most): Full) -> Self {
        Self::Stdio(StdioError::Busy(most))
    }
}

impl fmt::Debug for LocalStdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalStdio").field("policy", &self.policy).finish_non_exhaustive()
    }
}
