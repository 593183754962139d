//! What is stored of a server: how to connect, how to treat what it says, and what was found last.

use crate::definition::Skipped;
use domain::ports::Sealed;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use url::Url;

/// A server's record. Secrets in it are sealed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerRecord {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) icon: Option<String>,
    pub(crate) transport: Transport,
    pub(crate) timeout_s: u32,
    pub(crate) enabled: bool,
    pub(crate) on_change: ChangePolicy,
    #[serde(default)]
    pub(crate) trust_annotations: bool,
    pub(crate) max_concurrency: u32,
    /// Counts the changes of how to connect, so that live connections belong to one of them.
    pub(crate) connection: u64,
    #[serde(default)]
    pub(crate) found: Found,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// How to connect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Transport {
    /// Streamable HTTP.
    Http { url: Url, headers: BTreeMap<String, Sealed> },
    /// A command to run.
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, Sealed> },
}

/// Which transport a server is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TransportKind {
    /// A command to run.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// What happens when a server changes the definition of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChangePolicy {
    /// It is used from then on.
    Accept,
    /// The approved definition stays in use until somebody approves the new one.
    #[default]
    Review,
}

/// What the last discovery found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Found {
    /// The protocol version, so that it is not looked for again.
    pub(crate) era: Option<String>,
    /// What the server says of itself.
    pub(crate) server: Option<Value>,
    /// How many tools can be used.
    pub(crate) tools: usize,
    /// How many definitions wait for approval.
    pub(crate) pending: usize,
    /// What was listed and cannot be used.
    pub(crate) skipped: Vec<Skipped>,
    /// What else is to be said of the list.
    pub(crate) notes: Vec<String>,
    /// When.
    pub(crate) at: Option<Timestamp>,
}

impl ServerRecord {
    /// How long a request may take without a sign of progress.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.into())
    }
}

impl Transport {
    pub(crate) const fn kind(&self) -> TransportKind {
        match self {
            Self::Http { .. } => TransportKind::Http,
            Self::Stdio { .. } => TransportKind::Stdio,
        }
    }

    /// The sealed values with the prefix of their field names.
    pub(crate) const fn secrets(&self) -> (&'static str, &BTreeMap<String, Sealed>) {
        match self {
            Self::Http { headers, .. } => ("headers", headers),
            Self::Stdio { env, .. } => ("env", env),
        }
    }

    /// Whether both lead to the same place, so that a secret given for one may be used for the other.
    pub(crate) fn same_target(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Http { url: a, .. }, Self::Http { url: b, .. }) => a.origin() == b.origin(),
            (Self::Stdio { command: a, args: x, .. }, Self::Stdio { command: b, args: y, .. }) => {
                a == b && x == y
            }
            _ => false,
        }
    }
}
