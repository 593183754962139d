//! `ToolError`: why a call did not give a result, told twice: to the model and to the operator.

use serde::{Deserialize, Serialize};
use std::{fmt::Write as _, time::Duration};

/// One place where arguments break a tool's schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Violation {
    /// JSON pointer into the arguments; empty for the whole.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// What stopped a call before or around the tool. A failure that the tool itself reports is not one of
/// these: it is a [`crate::ToolOutput`] with `is_error`.
///
/// No variant ever holds a secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not meet the tool's schema. Nothing was sent.
    #[error("the arguments do not meet the tool's schema{}", first(.violations))]
    InvalidArgs {
        /// Where and why.
        violations: Vec<Violation>,
    },
    /// There is no such tool in the set, or what it stands on is gone.
    #[error("{what} was not found")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// The tool, or the server it belongs to, is switched off.
    #[error("{what} is disabled")]
    Disabled {
        /// What is switched off.
        what: String,
    },
    /// The tool needs a credential that the account has not stored, or that was refused as absent.
    #[error("a credential is missing: {what}")]
    MissingCredential {
        /// Which one, and how to give it.
        what: String,
    },
    /// The app's policy wants a person's approval first.
    #[error("`{tool}` needs approval before it may run")]
    NeedsApproval {
        /// The tool's name in the set.
        tool: String,
    },
    /// The egress guard or a policy forbids it.
    #[error("blocked: {reason}")]
    Blocked {
        /// Why, and the setting that would allow it.
        reason: String,
    },
    /// The service behind the tool answered that it failed.
    #[error("the service answered with status {status}")]
    Upstream {
        /// Its HTTP status, or 0 where the protocol has none.
        status: u16,
        /// What it said, trimmed.
        body: String,
    },
    /// The service behind the tool could not be reached, or went away.
    #[error("unreachable: {reason}")]
    Unreachable {
        /// What failed.
        reason: String,
    },
    /// The deadline passed first.
    #[error("no result within {} ms", .after.as_millis())]
    Timeout {
        /// How long was waited.
        after: Duration,
    },
    /// Arguments or result are larger than a limit.
    #[error("{what} is too large: the limit is {limit} bytes")]
    TooLarge {
        /// What is too large.
        what: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A limit on the number of calls is used up, here or at the service.
    #[error("too many calls")]
    RateLimited {
        /// When to try again, where that is known.
        retry_after: Option<Duration>,
    },
    /// The caller went away or stopped the run.
    #[error("the call was cancelled")]
    Cancelled,
    /// A fault of ours.
    #[error("internal error: {message}")]
    Internal {
        /// For the operator; callers see the request id only.
        message: String,
    },
}

fn first(violations: &[Violation]) -> String {
    match violations {
        [] => String::new(),
        [v, rest @ ..] => {
            let at = if v.path.is_empty() { "the arguments" } else { &v.path };
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            format!(": at {at}: {}{more}", v.message)
        }
    }
}

impl ToolError {
    /// A fault of ours, from any error.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        Self::Internal { message: error.to_string() }
    }

    /// The stable code of this kind of error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgs { .. } => "invalid_args",
            Self::NotFound { .. } => "not_found",
            Self::Disabled { .. } => "disabled",
            Self::MissingCredential { .. } => "missing_credential",
            Self::NeedsApproval { .. } => "needs_approval",
            Self::Blocked { .. } => "blocked",
            Self::Upstream { .. } => "upstream",
            Self::Unreachable { .. } => "unreachable",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too_large",
            Self::RateLimited { .. } => "rate_limited",
            Self::Cancelled => "cancelled",
            Self::Internal { .. } => "internal",
        }
    }

    /// What to tell the model: the fault, and what to do differently.
    pub fn for_model(&self) -> String {
        match self {
            Self::InvalidArgs { violations } => {
                let mut text = String::from(
                    "The arguments were refused; nothing was sent. Correct these and call again:",
                );
                for v in violations {
                    let at = if v.path.is_empty() { "(whole)" } else { &v.path };
                    let _ = write!(text, "\n- {at}: {}", v.message);
                }
                text
            }
            Self::NotFound { what } => format!("{what} was not found. Use one of the tools you were given."),
            Self::Disabled { what } => format!("{what} is switched off. Do without it."),
            Self::MissingCredential { what } => {
                format!("A credential is missing ({what}). Tell the user; calling again will not help.")
            }
            Self::NeedsApproval { tool } => {
                format!("`{tool}` may only run after a person approves it. Ask the user for approval.")
            }
            Self::Blocked { .. } => {
                "The call was blocked by policy. Do not try other forms of the same address.".into()
            }
            Self::Upstream { status: 0, body } => format!("The service reported an error: {body}"),
            Self::Upstream { status, body } => format!("The service answered with status {status}: {body}"),
            Self::Unreachable { .. } => {
                "The service could not be reached. Try once more later, or do without it.".into()
            }
            Self::Timeout { after } => {
                format!(
                    "No result within {} s. Ask for less at a time, or do without it.",
                    after.as_secs_f32()
                )
            }
            Self::TooLarge { what, limit } => {
                format!("{what} is too large (limit {limit} bytes). Ask for less.")
            }
            Self::RateLimited { retry_after: Some(wait) } => {
                format!("Too many calls. Wait {} s before calling again.", wait.as_secs().max(1))
            }
            Self::RateLimited { retry_after: None } => "Too many calls. Wait before calling again.".into(),
            Self::Cancelled => "The call was cancelled.".into(),
            Self::Internal { .. } => "The tool failed for a reason that is not yours. Do without it.".into(),
        }
    }

    /// What to tell the operator: the whole fault with its details.
    pub fn for_operator(&self) -> String {
        match self {
            Self::Upstream { body, .. } if !body.is_empty() => format!("{self}: {body}"),
            _ => self.to_string(),
        }
    }
}
