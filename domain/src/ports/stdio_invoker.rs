//! `StdioInvoker`: runs an MCP server as a command, here or in a place made for it.
//!
//! Results are the protocol's own JSON, so that nothing is lost on the way through another process.

use crate::{account::AccountId, tool::Progress};
use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::Value;
use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// A server that is started as a command. Its environment is opened: it lives only for one call.
#[derive(Clone, Debug)]
pub struct StdioServer {
    /// The server record's id.
    pub id: String,
    /// Counts the changes of how it is started: another number is another process.
    pub revision: u64,
    /// The command.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables it is configured with.
    pub env: BTreeMap<String, SecretString>,
    /// The protocol era found at discovery, so that it is not probed again.
    pub era: Option<String>,
}

/// Whose call it is and until when.
#[derive(Clone)]
pub struct StdioContext {
    /// The account; processes are never shared between accounts.
    pub account: AccountId,
    /// How long the whole may take.
    pub timeout: Duration,
    /// How long it may take without a sign of progress.
    pub patience: Duration,
    /// Set when the caller goes away.
    pub cancel: CancellationToken,
    /// Where to report progress. An invoker in another place may be unable to.
    pub progress: Option<Arc<dyn Progress>>,
}

impl fmt::Debug for StdioContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioContext")
            .field("account", &self.account)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What a server answered, and how it was spoken to.
#[derive(Clone, Debug, PartialEq)]
pub struct StdioReply {
    /// The result object of the response, as it came.
    pub result: Value,
    /// The protocol version that was agreed on, to be kept with the server.
    pub era: String,
    /// What the server says of itself (`name`, `version`, …), where it does.
    pub server: Option<Value>,
}

/// Why a command gave no result.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The policy forbids running it.
    #[error("running `{command}` is not allowed here: {reason}")]
    Forbidden {
        /// The command.
        command: String,
        /// Why, and the setting that would allow it.
        reason: String,
    },
    /// It could not be started.
    #[error("`{command}` could not be started: {reason}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        reason: String,
    },
    /// It ended, or stopped speaking the protocol.
    #[error("the server's process failed: {reason}")]
    Died {
        /// What happened, with the end of its error output where there is one.
        reason: String,
    },
    /// It answered with a protocol error.
    #[error("the server refused: {message} (code {code})")]
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// Its answer is larger than is taken.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// More processes are running than may.
    #[error("{0} servers are running already, and none of them is idle")]
    Busy(usize),
    /// The deadline passed.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The caller went away.
    #[error("the call was cancelled")]
    Cancelled,
}

/// Talks to MCP servers that run as commands.
#[async_trait]
pub trait StdioInvoker: Send + Sync {
    /// Sends one request (`tools/list`, `tools/call`, …) and gives the result of the response. The server is
    /// started and greeted where that has not been done; a request is never sent twice.
    async fn request(
        &self,
        server: &StdioServer,
        method: &str,
        params: Value,
        cx: &StdioContext,
    ) -> Result<StdioReply, StdioError>;

    /// Ends the server's process if one is kept.
    async fn stop(&self, account: &AccountId, server_id: &str);
}
