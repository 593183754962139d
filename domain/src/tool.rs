//! `Tool`: the one runtime object that every source's capability becomes.

use crate::{account::AccountId, error::ToolError, output::ToolOutput, reference::ToolKind, schema::Schema};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// A callable tool, assembled for one use and then gone.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it is.
    fn spec(&self) -> &ToolSpec;

    /// Calls it. `args` have been validated against [`ToolSpec::args_schema`].
    ///
    /// Call through [`crate::Toolset::invoke`], which validates, bounds and records; never directly.
    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError>;
}

/// What a tool is, for a person and for a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its own name within its provider, as the source knows it. The name a model sees is the toolset's.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does, for a model.
    pub description: String,
    /// What a caller fills in: a full JSON Schema, kept lossless.
    pub args_schema: Schema,
    /// What `structured` of the result looks like, where that is known.
    pub output_schema: Option<Schema>,
    /// How it behaves, by our own judgement.
    pub annotations: Annotations,
    /// Where it comes from.
    pub origin: Origin,
}

/// How a tool behaves. The default assumes the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy or overwrite something.
    pub destructive: bool,
    /// Calling it twice with the same arguments changes no more than calling it once.
    pub idempotent: bool,
    /// It reaches beyond this system.
    pub open_world: bool,
}

impl Annotations {
    /// Reads only, and only what is here.
    pub const PURE: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
}

impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

/// Where a tool comes from, in names for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Origin {
    /// Its source.
    pub kind: ToolKind,
    /// The provider's or server's readable name.
    pub provider_name: String,
    /// The revision of the provider it was taken from; 0 where there are none.
    pub revision: u64,
}

/// Which entry a call came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Entry {
    /// The invoke route or the command line.
    Api,
    /// A provider's own debug route.
    Debug,
    /// An agent in the debugger.
    Debugger,
    /// The service API.
    ServiceApi,
    /// The web app.
    WebApp,
    /// WeChat.
    Wechat,
    /// A workflow node.
    Workflow,
    /// An MCP client.
    Mcp,
}

/// Takes a tool's reports of progress.
pub trait Progress: Send + Sync {
    /// `done` of `total`, in the tool's own units, with what it says of it.
    fn report(&self, done: f64, total: Option<f64>, message: Option<&str>);
}

/// What surrounds one call: who, through what, until when.
#[derive(Clone)]
pub struct CallContext {
    /// Whose call it is.
    pub account: AccountId,
    /// The app it is made for, if any.
    pub app_id: Option<String>,
    /// How it came in.
    pub entry: Entry,
    /// The request it belongs to, for logs and audit.
    pub request_id: String,
    /// When it must have ended.
    pub deadline: Instant,
    /// Set when the caller goes away or stops the run.
    pub cancel: CancellationToken,
    /// Where to report progress, if anyone listens.
    pub progress: Option<Arc<dyn Progress>>,
    /// A person has approved this call.
    pub approved: bool,
    /// How many workflows are around this call.
    pub depth: u8,
    /// W3C trace context to pass on to services.
    pub traceparent: Option<String>,
}

impl CallContext {
    /// A call of an account that must end within `timeout`.
    pub fn new(account: AccountId, entry: Entry, request_id: impl Into<String>, timeout: Duration) -> Self {
        Self {
            account,
            app_id: None,
            entry,
            request_id: request_id.into(),
            deadline: Instant::now() + timeout,
            cancel: CancellationToken::new(),
            progress: None,
            approved: false,
            depth: 0,
            traceparent: None,
        }
    }

    /// How long is left until the deadline; zero when it has passed.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("account", &self.account)
            .field("entry", &self.entry)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}
