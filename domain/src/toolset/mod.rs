//! `Toolset`: what an assembly gives back, and the one road by which every tool is called.

mod invoke;
mod names;
mod output_cap;
mod repair;

pub use names::is_legal_name;
pub use repair::repair;

use crate::{
    ports::{AuditSink, Blobs, Clock, NoAudit, SystemClock},
    problem::{Problem, ProblemCode, Unresolved},
    reference::ToolRef,
    tool::{Tool, ToolSpec},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
    time::Duration,
};

/// Tools ready to be called, in the order of their references, under names that models accept.
pub struct Toolset {
    entries: Vec<ToolEntry>,
    by_name: HashMap<String, usize>,
    problems: Vec<Problem>,
    approval: ApprovalPolicy,
    runtime: Arc<Runtime>,
}

/// One tool of a set.
#[derive(Clone)]
pub struct ToolEntry {
    /// The name a caller uses: unique in the set, `^[A-Za-z][A-Za-z0-9_-]{0,63}$`.
    pub name: String,
    /// The reference it was resolved from.
    pub reference: ToolRef,
    /// The tool.
    pub tool: Arc<dyn Tool>,
}

impl ToolEntry {
    /// What the tool is.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }
}

/// When a person must approve a call before it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ApprovalPolicy {
    /// Never.
    #[default]
    Never,
    /// When the tool may destroy something, by our annotations.
    Destructive,
    /// Always.
    Always,
}

/// What a toolset needs to call its tools.
pub struct Runtime {
    /// Takes a record of every call.
    pub audit: Arc<dyn AuditSink>,
    /// Takes content that is too large to hand back inline.
    pub blobs: Option<Arc<dyn Blobs>>,
    /// Tells the time of audit records.
    pub clock: Arc<dyn Clock>,
    /// How large things may be.
    pub limits: Limits,
}

impl Default for Runtime {
    fn default() -> Self {
        Self {
            audit: Arc::new(NoAudit),
            blobs: None,
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
        }
    }
}

/// How large the two sides of a call may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Arguments, in bytes of JSON.
    pub args_bytes: usize,
    /// One block of content before it becomes a link, in bytes.
    pub inline_bytes: usize,
    /// All of a result's inline content together, in bytes.
    pub output_bytes: usize,
    /// How long a link to content works.
    pub link_keep: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            args_bytes: 1024 * 1024,
            inline_bytes: 1024 * 1024,
            output_bytes: 4 * 1024 * 1024,
            link_keep: Duration::from_hours(24),
        }
    }
}

impl Toolset {
    /// Puts together what the sources answered: `resolved[i]` belongs to `refs[i]`.
    ///
    /// A reference that stands twice is taken once; the second is a problem. Names in `reserved` are not given.
    pub fn new(
        refs: Vec<ToolRef>,
        resolved: Vec<Result<Arc<dyn Tool>, Unresolved>>,
        reserved: &[String],
        approval: ApprovalPolicy,
        runtime: Arc<Runtime>,
    ) -> Self {
        let mut problems = Vec::new();
        let mut kept = Vec::with_capacity(refs.len());
        let mut seen = HashSet::with_capacity(refs.len());
        for (index, (reference, answer)) in refs.into_iter().zip(resolved).enumerate() {
            let hash = reference.stable_hash();
            let answer = match answer {
                Ok(_) if !seen.insert(hash.clone()) => Err(Unresolved::new(
                    ProblemCode::Duplicate,
                    "this reference stands earlier in the list; it was taken once",
                )),
                other => other,
            };
            match answer {
                Ok(tool) => kept.push((reference, hash, tool)),
                Err(Unresolved { code, message }) => {
                    problems.push(Problem { index, reference, code, message });
                }
            }
        }
        let wanted =
            kept.iter().map(|(_, hash, tool)| names::Wanted::new(tool.spec(), hash)).collect::<Vec<_>>();
        let names = names::assign(&wanted, reserved);
        let by_name = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        let entries = kept
            .into_iter()
            .zip(names)
            .map(|((reference, _, tool), name)| ToolEntry { name, reference, tool })
            .collect();
        Self { entries, by_name, problems, approval, runtime }
    }

    /// Adds a tool of the caller's own at a position, under its own name, which the caller reserved beforehand.
    ///
    /// A position past the end is the end. A name that is taken or not legal is refused: the tool is given back.
    ///
    /// # Errors
    /// The tool, where its name cannot be had.
    pub fn insert(
        &mut self,
        at: usize,
        reference: ToolRef,
        tool: Arc<dyn Tool>,
    ) -> Result<(), Arc<dyn Tool>> {
        let name = tool.spec().name.clone();
        if self.by_name.contains_key(&name) || !is_legal_name(&name) {
            return Err(tool);
        }
        self.entries.insert(at.min(self.entries.len()), ToolEntry { name, reference, tool });
        let names = self.entries.iter().enumerate();
        self.by_name = names.map(|(i, entry)| (entry.name.clone(), i)).collect();
        Ok(())
    }

    /// The tools, in the order of their references.
    pub fn entries(&self) -> &[ToolEntry] {
        &self.entries
    }

    /// The tool of a name.
    pub fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.by_name.get(name).map(|&i| &self.entries[i])
    }

    /// What could not be taken, by position in the list.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Adds trouble that was found after assembly, such as a schema that a model provider refuses.
    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
        self.problems.sort_by_key(|p| p.index);
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset")
            .field("tools", &self.entries.iter().map(|e| &e.name).collect::<Vec<_>>())
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}
