//! Assembly: references in, a toolset out, with one round of reads per source, side by side.

use async_trait::async_trait;
use domain::{
    AccountContext, ProblemCode, Tool, ToolKind, ToolRef, ToolSource, Toolset, Unresolved,
    ports::{Assembler, Assembly},
    toolset::Runtime,
};
use futures::future::join_all;
use std::{fmt, sync::Arc};

/// Assembles from the sources it is given, one per kind.
pub struct SourceAssembler {
    sources: Vec<Arc<dyn ToolSource>>,
    runtime: Arc<Runtime>,
}

type Resolved = Result<Arc<dyn Tool>, Unresolved>;

impl SourceAssembler {
    /// An assembler over sources; their toolsets call through `runtime`.
    pub fn new(sources: Vec<Arc<dyn ToolSource>>, runtime: Arc<Runtime>) -> Self {
        Self { sources, runtime }
    }

    /// The source of a kind.
    pub fn source(&self, kind: ToolKind) -> Option<&Arc<dyn ToolSource>> {
        self.sources.iter().find(|source| source.kind() == kind)
    }

    /// The sources, in the order lists show them.
    pub fn sources(&self) -> &[Arc<dyn ToolSource>] {
        &self.sources
    }

    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Resolved> {
        let mut answers: Vec<Option<Resolved>> = refs.iter().map(refused).collect();
        let groups = self.sources.iter().filter_map(|source| {
            let places: Vec<usize> =
                (0..refs.len()).filter(|&i| answers[i].is_none() && refs[i].kind == source.kind()).collect();
            let group: Vec<ToolRef> = places.iter().map(|&i| refs[i].clone()).collect();
            (!group.is_empty()).then_some(async move { (places, source.resolve(&group, cx).await) })
        });
        let groups: Vec<_> = groups.collect();
        for (places, resolved) in join_all(groups).await {
            for (place, answer) in places.into_iter().zip(resolved) {
                answers[place] = Some(answer);
            }
        }
        let unserved = |(answer, reference): (Option<Resolved>, &ToolRef)| {
            answer.unwrap_or_else(|| {
                let message = format!("nothing here serves references of the type `{}`", reference.kind);
                Err(Unresolved::new(ProblemCode::UnknownKind, message))
            })
        };
        answers.into_iter().zip(refs).map(unserved).collect()
    }
}

#[async_trait]
impl Assembler for SourceAssembler {
    async fn assemble(&self, assembly: Assembly, cx: &AccountContext) -> Toolset {
        let resolved = self.resolve(&assembly.refs, cx).await;
        Toolset::new(
            assembly.refs,
            resolved,
            &assembly.reserved_names,
            assembly.approval,
            self.runtime.clone(),
        )
    }
}

impl fmt::Debug for SourceAssembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.sources.iter().map(|source| source.kind()).collect();
        f.debug_struct("SourceAssembler").field("kinds", &kinds).finish_non_exhaustive()
    }
}

/// What is wrong with a reference whatever its source says.
fn refused(reference: &ToolRef) -> Option<Resolved> {
    if reference.kind == ToolKind::BuiltinTool || reference.params.is_empty() {
        return None;
    }
    let message = format!("`params` must be {{}} in a reference of the type `{}`", reference.kind);
    Some(Err(Unresolved::new(ProblemCode::InvalidParams, message)))
}
