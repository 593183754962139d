//! `Assembler`: references in, a toolset out.

use crate::{
    reference::ToolRef,
    source::AccountContext,
    toolset::{ApprovalPolicy, Toolset},
};
use async_trait::async_trait;

/// What to assemble.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// The references, in the order the toolset keeps.
    pub refs: Vec<ToolRef>,
    /// When a person must approve a call.
    pub approval: ApprovalPolicy,
    /// Names that the caller needs for tools of its own; no assembled tool takes one of them.
    pub reserved_names: Vec<String>,
}

impl Assembly {
    /// An assembly of references with the defaults of everything else.
    pub fn of(refs: Vec<ToolRef>) -> Self {
        Self { refs, ..Self::default() }
    }
}

/// Assembles toolsets. Every entry of the product uses this, and this alone.
#[async_trait]
pub trait Assembler: Send + Sync {
    /// Assembles. It never fails as a whole: what could not be taken is in [`Toolset::problems`].
    async fn assemble(&self, assembly: Assembly, cx: &AccountContext) -> Toolset;
}
