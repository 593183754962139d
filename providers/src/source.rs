//! `BuiltinSource`: references to builtin tools -> tools, by the static table. Reads no store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use domain::ports::Cipher;
use domain::{AccountContext, ProblemCode, Tool, ToolKind, ToolRef, ToolSource, Unresolved};

use crate::contract::ToolDeps;
use crate::nearest::hint;
use crate::registry::PROVIDERS;
use crate::runtime::{BuildError, Provider, Registry, ToolEntry};
use crate::sealing;

/// The tools that are compiled in.
pub struct BuiltinSource {
    registry: &'static Registry,
    deps: ToolDeps,
    cipher: Arc<dyn Cipher>,
}

impl BuiltinSource {
    /// A source whose tools use `deps`, and whose `password` parameters `cipher` seals and opens.
    pub fn new(deps: ToolDeps, cipher: Arc<dyn Cipher>) -> Self {
        Self { registry: &PROVIDERS, deps, cipher }
    }

    /// The same over another generated registry.
    pub fn with_registry(self, registry: &'static Registry) -> Self {
        Self { registry, ..self }
    }

    /// The reference as it may be stored: each `password` parameter sealed. A masked one keeps what `stored`
    /// holds.
    ///
    /// # Errors
    /// When the reference is unknown, its params are not what the tool declares, or sealing fails.
    pub async fn seal(
        &self,
        reference: &ToolRef,
        stored: Option<&ToolRef>,
        cx: &AccountContext,
    ) -> Result<ToolRef, Unresolved> {
        let entry = self.find(reference)?;
        let kept = sealing::keep_masked(entry, reference, stored);
        let opened = sealing::open(entry, &kept, &*self.cipher, &cx.account).await?;
        crate::runtime::check(entry.params, &opened)
            .map_err(|problems| refused(reference, &BuildError::InvalidParams(problems)))?;
        sealing::seal(entry, kept, &*self.cipher, &cx.account).await
    }

    /// The registry entry that a reference names.
    fn find(&self, reference: &ToolRef) -> Result<&'static ToolEntry, Unresolved> {
        let available = || self.registry.values().filter(|provider| provider.available);
        let Some(provider) = self.registry.get(&reference.provider_id) else {
            let known: Vec<_> = available().map(|provider| provider.name).collect();
            let hint = hint(&reference.provider_id, "builtin providers", known);
            let message = format!("there is no builtin provider `{}`: {hint}", shown(&reference.provider_id));
            return Err(Unresolved::new(ProblemCode::ProviderNotFound, message));
        };
        if !provider.available {
            let message = format!("the builtin provider `{}` is not available", provider.name);
            return Err(Unresolved::new(ProblemCode::Unavailable, message));
        }
        find_tool(provider, &reference.tool_id)
    }

    async fn resolve_one(
        &self,
        reference: &ToolRef,
        cx: &AccountContext,
    ) -> Result<Arc<dyn Tool>, Unresolved> {
        let entry = self.find(reference)?;
        let params = sealing::open(entry, reference, &*self.cipher, &cx.account).await?;
        entry.build(&params, &self.deps).map_err(|error| refused(reference, &error))
    }
}

impl fmt::Debug for BuiltinSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltinSource").finish_non_exhaustive()
    }
}

#[async_trait]
impl ToolSource for BuiltinSource {
    fn kind(&self) -> ToolKind {
        ToolKind::BuiltinTool
    }

    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let mut resolved = Vec::with_capacity(refs.len());
        for reference in refs {
            resolved.push(self.resolve_one(reference, cx).await);
        }
        resolved
    }

    async fn protect(
        &self,
        reference: &ToolRef,
        stored: Option<&ToolRef>,
        cx: &AccountContext,
    ) -> Result<ToolRef, Unresolved> {
        self.seal(reference, stored, cx).await
    }

    fn mask(&self, reference: &ToolRef) -> ToolRef {
        mask_by(self.registry, reference)
    }

    fn icon(&self, reference: &ToolRef) -> Option<String> {
        let provider = self.registry.get(&reference.provider_id)?;
        Some(format!("/builtin-tools/{}/icon", provider.name))
    }
}

/// The reference as it may be shown: each `password` parameter masked. One to an unknown tool shows no params.
pub fn mask(reference: &ToolRef) -> ToolRef {
    mask_by(&PROVIDERS, reference)
}

fn mask_by(registry: &Registry, reference: &ToolRef) -> ToolRef {
    let entry =
        registry.get(&reference.provider_id).and_then(|provider| provider.tools.get(&reference.tool_id));
    match entry {
        Some(entry) => sealing::mask(entry, reference),
        None => ToolRef::new(reference.kind, &reference.provider_id, &reference.tool_id),
    }
}

fn find_tool(provider: &'static Provider, tool: &str) -> Result<&'static ToolEntry, Unresolved> {
    provider.tools.get(tool).copied().ok_or_else(|| {
        let known: Vec<_> = provider.tools.keys().copied().collect();
        let hint = hint(tool, "tools", known);
        let message =
            format!("the builtin provider `{}` has no tool `{}`: {hint}", provider.name, shown(tool));
        Unresolved::new(ProblemCode::ToolNotFound, message)
    })
}

fn refused(reference: &ToolRef, error: &BuildError) -> Unresolved {
    match error {
        BuildError::InvalidParams(_) => {
            Unresolved::new(ProblemCode::InvalidParams, format!("params: {error}"))
        }
        BuildError::Internal(_) => {
            tracing::error!(tool = %reference, %error, "a builtin tool could not be built");
            Unresolved::new(ProblemCode::StoreFailed, "the tool could not be built; the log says why")
        }
    }
}

/// What was sent, cut to a length that a message can carry.
fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}
