//! `CallError`: why a request to a server gave no result, before it becomes a tool's or an HTTP error.

use domain::ToolError;
use egress::{EgressError, Stage};
use serde_json::Value;
use std::time::Duration;

/// How much of what a server says goes into an error, in characters.
pub(crate) const MAX_SAID: usize = 2000;

/// Why a request gave no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The egress guard refuses the address.
    #[error("{0}")]
    Blocked(String),
    /// The policy on commands refuses it.
    #[error("{0}")]
    Forbidden(String),
    /// It cannot be reached, or went away.
    #[error("{reason}")]
    Unreachable {
        /// What failed.
        reason: String,
        /// Whether the request may have arrived.
        sent: bool,
    },
    /// It wants a credential, or another one.
    #[error(
        "the server answered with status {status}: it wants a credential, or another one than it was given"
    )]
    Unauthorized {
        /// 401 or 403.
        status: u16,
    },
    /// It answered with an HTTP error.
    #[error("the server answered with status {status}{}", said(.body))]
    Http {
        /// The status.
        status: u16,
        /// What it said, trimmed.
        body: String,
        /// When to try again, where it says so.
        retry_after: Option<Duration>,
    },
    /// It answered with a protocol error.
    #[error("the server refused: {message} (code {code})")]
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// Its message.
        message: String,
        /// What came with it.
        data: Option<Value>,
    },
    /// Its session is over. The request was not looked at.
    #[error("the server does not know the session any more")]
    SessionExpired,
    /// It does not speak the protocol version it was spoken to in. The request was not looked at.
    #[error("the server does not speak the protocol version that was found earlier")]
    EraChanged,
    /// Its answer is not what the protocol asks for.
    #[error("the server's answer is unusable: {0}")]
    Protocol(String),
    /// Its answer is larger than is taken.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Time ran out.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// More connections are open than may be.
    #[error("{0}")]
    Busy(String),
    /// The caller went away.
    #[error("the call was cancelled")]
    Cancelled,
    /// A fault of ours.
    #[error("{0}")]
    Internal(String),
}

fn said(body: &str) -> String {
    if body.is_empty() { String::new() } else { format!(": {body}") }
}

impl CallError {
    /// Whether it says that the server is down, so that the next call is better not made.
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Timeout(_) => true,
            Self::Http { status, .. } => matches!(status, 502..=504),
            _ => false,
        }
    }

    /// From a failed HTTP exchange.
    pub(crate) fn from_egress(error: EgressError) -> Self {
        match error {
            EgressError::Blocked(blocked) => Self::Blocked(blocked.to_string()),
            EgressError::TooLarge { limit, .. } => Self::TooLarge { limit },
            EgressError::Timeout { stage: Stage::Waiting | Stage::Reading, after, .. } => {
                Self::Timeout(after)
            }
            EgressError::InvalidUrl { .. } | EgressError::InvalidRequest { .. } => {
                Self::Internal(error.to_string())
            }
            other => Self::Unreachable { sent: !other.was_never_sent(), reason: other.to_string() },
        }
    }

    /// An answer that cannot be used, with what it was for.
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(what.into())
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Blocked(reason) | CallError::Forbidden(reason) => Self::Blocked { reason },
            CallError::Unreachable { reason, .. } => Self::Unreachable { reason },
            CallError::Unauthorized { status } => Self::MissingCredential {
                what: format!(
                    "the MCP server answered with status {status}; give it a valid credential in its headers"
                ),
            },
            CallError::Http { status: 429, retry_after, .. } => Self::RateLimited { retry_after },
            CallError::Http { status, body, .. } => Self::Upstream { status, body },
            CallError::Refused { code, message, .. } => {
                Self::Upstream { status: 0, body: format!("{message} (code {code})") }
            }
            CallError::SessionExpired | CallError::EraChanged | CallError::Protocol(_) => {
                Self::Upstream { status: 0, body: error.to_string() }
            }
            CallError::TooLarge { limit } => Self::TooLarge { what: "the server's answer".into(), limit },
            CallError::Timeout(after) => Self::Timeout { after },
            CallError::Busy(_) => Self::RateLimited { retry_after: None },
            CallError::Cancelled => Self::Cancelled,
            CallError::Internal(message) => Self::Internal { message },
        }
    }
}

/// Text of a server, short enough for an error and on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let clean: String =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SAID).collect();
    if text.trim().chars().nth(MAX_SAID).is_some() {
        return format!("{clean}…");
    }
    clean
}
