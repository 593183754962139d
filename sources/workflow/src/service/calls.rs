//! What a graph calls: whether its tools are there, how they behave, and that no workflow comes back to itself.

use crate::{
    engine::Nesting,
    error::WorkflowError,
    graph::kinds::Method,
    nodes::tool::{argument_faults, names_of},
    plan::{Plan, Work},
    problem::{GraphCode, GraphProblem},
    source::WorkflowSource,
};
use domain::{AccountContext, AccountId, Annotations, ToolKind, Toolset, ports::Assembly};
use std::collections::BTreeSet;

/// What was found.
pub(super) struct Checked {
    pub(super) problems: Vec<GraphProblem>,
    /// How the workflow behaves, by what its nodes do.
    pub(super) annotations: Annotations,
    /// The workflows it calls.
    pub(super) calls: Vec<String>,
}

/// Assembles the graph's tools and looks at what they are.
pub(super) async fn check(
    source: &WorkflowSource,
    account: &AccountId,
    id: &str,
    plan: &Plan,
) -> Result<Checked, WorkflowError> {
    let refs = plan.tool_refs();
    let (mut problems, mut annotations) = (Vec::new(), own_annotations(plan));
    if !refs.is_empty() {
        let assembler = source.runner().engine.deps().assembler.get();
        let unbound = || WorkflowError::Internal("no assembler is bound".to_owned());
        let assembly = Assembly::of(refs.to_vec());
        let set =
            assembler.ok_or_else(unbound)?.assemble(assembly, &AccountContext::new(account.clone())).await;
        check_tools(&set, plan, &mut problems);
        annotations = set.entries().iter().map(|e| e.spec().annotations).fold(annotations, worse);
    }
    let calls: BTreeSet<String> = refs
        .iter()
        .filter(|reference| reference.kind == ToolKind::WorkflowTool)
        .map(|reference| reference.provider_id.clone())
        .collect();
    if let Some((code, via, message)) = circle(source, account, id, &calls).await? {
        let node = plan.tool_nodes().into_iter().find(|(_, slot)| refs[*slot].provider_id == via);
        let problem = GraphProblem::of(code, message).field("tool");
        problems.push(match node {
            Some((node, _)) => problem.node(&node.id),
            None => problem,
        });
    }
    Ok(Checked { problems, annotations, calls: calls.into_iter().collect() })
}

fn check_tools(set: &Toolset, plan: &Plan, problems: &mut Vec<GraphProblem>) {
    let names = names_of(set, plan.tool_refs());
    for (node, slot) in plan.tool_nodes() {
        let entry = match &names[slot] {
            Ok(name) => set.get(name),
            Err(unresolved) => {
                let message = format!("{} ({})", unresolved.message, unresolved.code.as_str());
                problems
                    .push(GraphProblem::of(GraphCode::ToolUnresolved, message).node(&node.id).field("tool"));
                continue;
            }
        };
        let given: Vec<&str> = node.inputs.iter().map(|input| input.name.as_str()).collect();
        for (argument, message) in
            entry.map(|e| argument_faults(e.spec().args_schema.value(), &given)).unwrap_or_default()
        {
            let field = format!("inputs.{argument}");
            problems.push(GraphProblem::of(GraphCode::ToolArguments, message).node(&node.id).field(&field));
        }
    }
}

/// Follows the published workflows that are called, level by level.
async fn circle(
    source: &WorkflowSource,
    account: &AccountId,
    id: &str,
    calls: &BTreeSet<String>,
) -> Result<Option<(GraphCode, String, String)>, WorkflowError> {
    for first in calls {
        let mut level = BTreeSet::from([first.clone()]);
        for depth in 1..=Nesting::MAX_DEPTH {
            if level.contains(id) {
                let message = format!("the workflow would call itself, through `{first}`");
                return Ok(Some((GraphCode::WorkflowCycle, first.clone(), message)));
            }
            if depth == Nesting::MAX_DEPTH && !level.is_empty() {
                let message = format!("workflows would be nested more than {} deep", Nesting::MAX_DEPTH);
                return Ok(Some((GraphCode::WorkflowTooDeep, first.clone(), message)));
            }
            let ids: Vec<&str> = level.iter().map(String::as_str).collect();
            let heads = source.runner().store.heads(account, &ids).await?;
            level =
                heads.into_iter().flatten().filter_map(|head| head.published).flat_map(|p| p.calls).collect();
        }
    }
    Ok(None)
}

fn own_annotations(plan: &Plan) -> Annotations {
    let reads_out = Annotations { open_world: true, idempotent: false, ..Annotations::PURE };
    let mut found = Annotations::PURE;
    if plan.any(&|work| matches!(work, Work::Llm(..) | Work::Intent(_) | Work::Retrieve(_))) {
        found = worse(found, reads_out);
    }
    if plan.any(&|work| matches!(work, Work::Http(request) if reads(request.method))) {
        found = worse(found, Annotations { open_world: true, ..Annotations::PURE });
    }
    if plan.any(&|work| matches!(work, Work::Http(request) if !reads(request.method))) {
        found = worse(found, Annotations::default());
    }
    found
}

const fn reads(method: Method) -> bool {
    matches!(method, Method::Get | Method::Head | Method::Options)
}

/// How two behave together.
const fn worse(a: Annotations, b: Annotations) -> Annotations {
    Annotations {
        read_only: a.read_only && b.read_only,
        destructive: a.destructive || b.destructive,
        idempotent: a.idempotent && b.idempotent,
        open_world: a.open_world || b.open_world,
    }
}
