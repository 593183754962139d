//! What assembly could not take, named instead of dropped.

use crate::reference::ToolRef;
use serde::{Deserialize, Serialize};

/// Why a reference gave no tool, or a tool that is not quite what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProblemCode {
    /// No source serves this kind here.
    UnknownKind,
    /// The provider or server of the reference does not exist.
    ProviderNotFound,
    /// The provider exists; the tool does not.
    ToolNotFound,
    /// The provider is hidden: new references to it are refused.
    Unavailable,
    /// The tool or its server is switched off.
    Disabled,
    /// `params` are not what the tool declares.
    InvalidParams,
    /// The same reference stands earlier in the list.
    Duplicate,
    /// The tool's schema cannot be used, so its arguments could not be validated.
    InvalidSchema,
    /// The model provider's dialect cannot express the tool.
    NotExpressible,
    /// The tool's definition is not the one that was published.
    Drifted,
    /// The changed definition awaits approval; the approved one is used.
    AwaitingApproval,
    /// The store could not be read.
    StoreFailed,
}

impl ProblemCode {
    /// The code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownKind => "unknown_kind",
            Self::ProviderNotFound => "provider_not_found",
            Self::ToolNotFound => "tool_not_found",
            Self::Unavailable => "unavailable",
            Self::Disabled => "disabled",
            Self::InvalidParams => "invalid_params",
            Self::Duplicate => "duplicate",
            Self::InvalidSchema => "invalid_schema",
            Self::NotExpressible => "not_expressible",
            Self::Drifted => "drifted",
            Self::AwaitingApproval => "awaiting_approval",
            Self::StoreFailed => "store_failed",
        }
    }
}

/// What a source says of a reference it cannot resolve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unresolved {
    /// The stable code.
    pub code: ProblemCode,
    /// A sentence: what is wrong and what to do.
    pub message: String,
}

impl Unresolved {
    /// A reason with its code.
    pub fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// One reference's trouble in an assembly. The other references are not affected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// The reference's position in the list that was assembled, from 0.
    pub index: usize,
    /// The reference.
    #[serde(rename = "ref")]
    pub reference: ToolRef,
    /// The stable code.
    pub code: ProblemCode,
    /// A sentence: what is wrong and what to do.
    pub message: String,
}
