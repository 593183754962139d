//! `ToolSource`: where tools of one kind come from.

use crate::{
    account::AccountId,
    problem::Unresolved,
    reference::{ToolKind, ToolRef},
    tool::Tool,
};
use async_trait::async_trait;
use std::sync::Arc;

/// Whose references are resolved.
#[derive(Clone, Debug)]
pub struct AccountContext {
    /// The account that owns, or may use, what is referred to.
    pub account: AccountId,
}

impl AccountContext {
    /// The context of an account.
    pub fn new(account: AccountId) -> Self {
        Self { account }
    }
}

/// A source of tools: builtin, API, MCP or workflow.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// The kind of reference this source resolves.
    fn kind(&self) -> ToolKind;

    /// Resolves all references of this source at once, in their order: as many answers as references.
    ///
    /// One batch read of heads, whatever the number of references; no network call to what is behind a tool.
    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>>;

    /// The reference as it may be stored: secrets among its params sealed. A masked one keeps what `stored` holds.
    ///
    /// # Errors
    /// When the reference cannot be stored safely: its tool is unknown, or its params are not what it declares.
    async fn protect(
        &self,
        reference: &ToolRef,
        stored: Option<&ToolRef>,
        cx: &AccountContext,
    ) -> Result<ToolRef, Unresolved> {
        let _ = (stored, cx);
        Ok(reference.clone())
    }

    /// The reference as it may be shown: secrets among its params masked.
    fn mask(&self, reference: &ToolRef) -> ToolRef {
        reference.clone()
    }

    /// Where the picture of the reference's provider is, as a path of the API or an address; none where it has none.
    fn icon(&self, reference: &ToolRef) -> Option<String> {
        let _ = reference;
        None
    }
}
