//! Servers that run as commands: who may start what, and the processes themselves.
//!
//! [`StdioPolicy`] is asked before anything is started. [`LocalStdio`] runs the commands as children of this
//! process; where that is not wanted, another [`domain::ports::StdioInvoker`] takes its place.

#[cfg(feature = "stdio")]
mod connection;
#[cfg(feature = "stdio")]
mod framing;
#[cfg(feature = "stdio")]
mod local;
mod policy;
#[cfg(feature = "stdio")]
mod process;
#[cfg(feature = "stdio")]
mod stderr;

#[cfg(feature = "stdio")]
pub use local::{ChangeListener, LocalStdio};
pub use policy::{StdioPolicy, StdioPolicyError};

use async_trait::async_trait;
use domain::{
    AccountId,
    ports::{StdioContext, StdioError, StdioInvoker, StdioReply, StdioServer},
};
use serde_json::Value;

/// Runs nothing: for places where servers must not be started as commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStdio;

#[async_trait]
impl StdioInvoker for NoStdio {
    async fn request(
        &self,
        server: &StdioServer,
        _method: &str,
        _params: Value,
        _cx: &StdioContext,
    ) -> Result<StdioReply, StdioError> {
        Err(StdioError::Forbidden { command: server.command.clone(), reason: StdioPolicy::Off.why_not() })
    }

    async fn stop(&self, _account: &AccountId, _server_id: &str) {}
}
