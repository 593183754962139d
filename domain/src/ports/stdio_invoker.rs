//! `StdioInvoker`: runs an MCP server as a command, here or in a place made for it.
//!
//! Results are the protocol's own JSON, so that nothing is lost on the way through another process.

use crate::account::AccountId;
use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use tokio_util::sync::CancellationToken;

/// A server that is started as a command. Its environment is opened: it lives only for one call.
#[derive(Clone, Debug)]
pub struct StdioServer {
    /// The server record's id.
    pub id: String,
    /// The record's revision: another revision is another process.
    pub revision: u64,
    /// The command.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, SecretString>,
    /// The protocol era found at discovery, so that it is not probed again.
    pub era: Option<String>,
}

/// Whose call it is and until when.
#[derive(Clone, Debug)]
pub struct StdioContext {
    /// The account; processes are never shared between accounts.
    pub account: AccountId,
    /// How long the whole may take.
    pub timeout: Duration,
    /// Set when the caller goes away.
    pub cancel: CancellationToken,
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
    /// Sends one request (`tools/list`, `tools/call`, …) and gives the result object of the response.
    async fn request(
        &self,
        server: &StdioServer,
        method: &str,
        params: Value,
        cx: &StdioContext,
    ) -> Result<Value, StdioError>;

    /// Ends the server's process if one is kept.
    async fn stop(&self, account: &AccountId, server_id: &str);
}
