//! The rules of a graph that may be published.
//!
//! [`check`] reports everything it finds, in the order a person would mend it: what cannot be read, nodes by
//! themselves, how they hang together, where values come from. It does no I/O; what needs the account (does
//! the tool exist, do workflows call each other in a circle) is checked by [`crate::service`].

mod http;
mod kinds;
mod refs;
mod structure;
mod variables;

pub use structure::Topology;

use crate::{
    graph::{Graph, Node, NodeKind, parse},
    problem::{GraphCode, GraphProblem},
};
use serde_json::Value;
use std::collections::HashSet;

/// Reads a graph and checks every rule that needs nothing but the graph.
///
/// Compiles templates and code, so it may take some tens of milliseconds: call it off the async threads.
pub fn check(document: &Value) -> (Graph, Vec<GraphProblem>) {
    let (graph, mut problems) = parse(document);
    check_level(&graph, &mut HashSet::new(), &mut problems);
    (graph, problems)
}

/// A graph that breaks no rule, or all that it breaks.
pub fn valid(document: &Value) -> Result<Graph, Vec<GraphProblem>> {
    match check(document) {
        (graph, problems) if problems.is_empty() => Ok(graph),
        (_, problems) => Err(problems),
    }
}

fn check_level<'a>(graph: &'a Graph, ids: &mut HashSet<&'a str>, problems: &mut Vec<GraphProblem>) {
    for node in &graph.nodes {
        check_node(node, ids, problems);
        if let NodeKind::Iteration(iteration) = &node.kind {
            check_level(&iteration.body, ids, problems);
        }
    }
    if let Some(topology) = structure::check(graph, problems) {
        refs::check(graph, &topology, problems);
    }
}

fn check_node<'a>(node: &'a Node, ids: &mut HashSet<&'a str>, problems: &mut Vec<GraphProblem>) {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if node.id.is_empty() || node.id.len() > 64 || !node.id.bytes().all(legal) {
        let message = "an id has 1 to 64 letters, digits, `_` or `-`";
        problems.push(GraphProblem::of(GraphCode::NodeId, message).node(&node.id).field("id"));
    }
    if !ids.insert(&node.id) {
        let message = format!("the id `{}` is used by more than one node", node.id);
        problems.push(GraphProblem::of(GraphCode::NodeIdDuplicate, message).node(&node.id).field("id"));
    }
    if node.title.is_empty() || node.title.chars().count() > 100 {
        let message = "a title has 1 to 100 characters";
        problems.push(GraphProblem::of(GraphCode::NodeTitle, message).node(&node.id).field("title"));
    }
    variables::check(node, problems);
    kinds::check(node, problems);
}
