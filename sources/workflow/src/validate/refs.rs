//! References: only to nodes that come before, to outputs they have, of types that fit.

use super::Topology;
use crate::{
    graph::{Graph, Node, VarRef, VarValue, Variable},
    problem::{GraphCode, GraphProblem},
};

/// Checks where each variable's value comes from.
pub(super) fn check(graph: &Graph, topology: &Topology<'_>, problems: &mut Vec<GraphProblem>) {
    for (i, node) in graph.nodes.iter().enumerate() {
        let (list, variables) = node.kind.inputs();
        for variable in variables {
            let VarValue::Ref { content } = &variable.value else { continue };
            let ancestor = topology
                .index
                .get(content.ref_node_id.as_str())
                .filter(|&&j| topology.ancestors[i][j])
                .map(|&j| &graph.nodes[j]);
            if let Some((code, message)) = fault(variable, content, ancestor) {
                let field = format!("{list}.{}.value", variable.name);
                problems.push(GraphProblem::of(code, message).node(&node.id).field(&field));
            }
        }
    }
}

fn fault(variable: &Variable, to: &VarRef, ancestor: Option<&Node>) -> Option<(GraphCode, String)> {
    let Some(from) = ancestor else {
        let message = format!(
            "`{}` refers to `{}`, which is not a node before this one",
            variable.name, to.ref_node_id
        );
        return Some((GraphCode::RefNotAncestor, message));
    };
    let outputs = from.outputs();
    let Some((_, kind)) = outputs.iter().find(|(name, _)| *name == to.ref_var_name) else {
        let names: Vec<&str> = outputs.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!(
            "`{}` refers to `{}`, which `{}` does not give; it gives: {}",
            variable.name,
            to.ref_var_name,
            from.title,
            names.join(", ")
        );
        return Some((GraphCode::RefUnknownVariable, message));
    };
    if !to.path.is_empty() {
        let legal = to.path.starts_with('/') && to.path.len() <= 1024;
        let message = || format!("`{}` is not a JSON pointer: it begins with `/`", to.path);
        return (!legal).then(|| (GraphCode::RefPath, message()));
    }
    if variable.kind.takes(*kind) {
        return None;
    }
    let is = kind.map_or("any", |k| k.as_str());
    let message = format!(
        "`{}` is of type {}, but `{}` of `{}` is of type {is}",
        variable.name, variable.kind, to.ref_var_name, from.title
    );
    Some((GraphCode::RefTypeMismatch, message))
}
