//! What the author of a builtin tool writes against. See `docs/guides/builtin-tools.md`.
//!
//! A tool's file has a struct of typed arguments, a factory function of the tool's own name, and an
//! implementation of [`CallTool`]. Everything else - parameters, schema, validation, metadata - is made from
//! the YAML file beside it.

use std::future::Future;
use std::sync::Arc;

use domain::Violation;
use domain::ports::{Blobs, Clock, Credentials};
use egress::EgressError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, oneshot};

pub use crate::runtime::BuildError;
pub use domain::{CallContext, Content, ToolError, ToolOutput};

/// What a tool does. The factory returns one.
pub trait CallTool: Send + Sync + 'static {
    /// What a caller fills in. Its doc comments are the descriptions a model reads.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    /// Does it.
    ///
    /// A failure that belongs to the matter (nothing found, division by zero) is a
    /// [`ToolOutput::failed`] in words a model can act on; what stops the call is a [`ToolError`]. The
    /// caller's deadline is enforced from outside, by dropping this future.
    fn call(
        &self,
        args: Self::Args,
        cx: &CallContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// What a tool may use of the world.
#[derive(Clone)]
pub struct ToolDeps {
    /// The only way out: every address is judged before it is connected to.
    pub http: egress::Client,
    /// The account's own keys for this provider.
    pub credentials: Arc<dyn Credentials>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where results too large for an answer go.
    pub blobs: Arc<dyn Blobs>,
}

impl std::fmt::Debug for ToolDeps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolDeps").finish_non_exhaustive()
    }
}

/// Arguments that meet the schema and still make no sense: `argument` is the name of the one that is wrong.
pub fn invalid_argument(argument: &str, message: impl Into<String>) -> ToolError {
    ToolError::InvalidArgs {
        violations: vec![Violation { path: format!("/{argument}"), message: message.into() }],
    }
}

/// Runs work that computes rather than waits, away from the threads that serve requests, on a stack deep enough
/// for libraries that descend into what they read. A few run at a time, the others wait for their turn.
///
/// The work must bound its own time and depth: it goes on when its caller has gone.
///
/// # Errors
/// When the work panics, or no thread can be started.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    static TURNS: Semaphore = Semaphore::const_new(16);
    let turn = TURNS.acquire().await.map_err(ToolError::internal)?;
    let (done, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name("tool".to_owned()).stack_size(STACK);
    let run = move || {
        // Nobody listens when the caller has gone.
        let _ = done.send(work());
        drop(turn);
    };
    thread.spawn(run).map_err(ToolError::internal)?;
    result.await.map_err(|_| ToolError::internal("the work ended without a result; the log has the details"))
}

/// Address space, not memory: only what is used of it is ever backed.
const STACK: usize = 64 * 1024 * 1024;

/// What a failed request means for the tool that made it.
pub fn request_failed(error: &EgressError) -> ToolError {
    match error {
        EgressError::Blocked(blocked) => ToolError::Blocked { reason: blocked.to_string() },
        EgressError::Timeout { after, .. } => ToolError::Timeout { after: *after },
        EgressError::TooLarge { limit, .. } => {
            ToolError::TooLarge { what: "the answer".to_owned(), limit: *limit }
        }
        EgressError::InvalidUrl { reason, .. } => invalid_argument("url", reason.clone()),
        EgressError::InvalidRequest { .. } | EgressError::Setup { .. } => ToolError::internal(error),
        _ => ToolError::Unreachable { reason: error.to_string() },
    }
}
