//! How nodes hang together: one start, one end, edges that fit, everything reachable, no circle.

use crate::{
    graph::{Edge, Graph, Node, NodeKind, OnError, kinds::ERROR_BRANCH},
    problem::{GraphCode, GraphProblem},
};
use std::collections::{HashMap, HashSet};

/// A graph's shape, once it has one: no circle, every end of an edge known.
pub struct Topology<'a> {
    /// Where each node stands in the list.
    pub index: HashMap<&'a str, usize>,
    /// `ancestors[i][j]`: node `j` comes before node `i`.
    pub ancestors: Vec<Vec<bool>>,
}

/// Checks the structure; gives the shape where the graph is whole enough to have one.
pub(super) fn check<'a>(graph: &'a Graph, problems: &mut Vec<GraphProblem>) -> Option<Topology<'a>> {
    let index: HashMap<&str, usize> =
        graph.nodes.iter().enumerate().map(|(i, node)| (node.id.as_str(), i)).collect();
    titles(graph, problems);
    let before = problems.len();
    edges(graph, &index, problems);
    conditions(graph, &index, problems);
    if !graph.complete {
        return None;
    }
    if graph.nodes.is_empty() || graph.edges.is_empty() {
        let (field, message) = if graph.nodes.is_empty() {
            ("nodes", "the graph has no nodes")
        } else {
            ("edges", "the graph has no edges")
        };
        problems.push(GraphProblem::of(GraphCode::GraphEmpty, message).field(field));
        return None;
    }
    counts(graph, problems);
    if index.len() < graph.nodes.len() || problems[before..].iter().any(|p| p.code == GraphCode::EdgeEndpoint)
    {
        return None;
    }
    let ways = Ways::of(graph, &index);
    entries_and_exits(graph, &ways, problems);
    unreachable(graph, &ways, problems);
    let ancestors = ancestors(graph, &ways, problems)?;
    Some(Topology { index, ancestors })
}

/// Successors and predecessors of each node.
struct Ways {
    next: Vec<Vec<usize>>,
    previous: Vec<Vec<usize>>,
}

impl Ways {
    fn of(graph: &Graph, index: &HashMap<&str, usize>) -> Self {
        let mut ways =
            Self { next: vec![Vec::new(); graph.nodes.len()], previous: vec![Vec::new(); graph.nodes.len()] };
        for edge in &graph.edges {
            if let (Some(&from), Some(&to)) =
                (index.get(edge.source.as_str()), index.get(edge.target.as_str()))
            {
                ways.next[from].push(to);
                ways.previous[to].push(from);
            }
        }
        ways
    }
}

fn titles(graph: &Graph, problems: &mut Vec<GraphProblem>) {
    let mut seen = HashSet::new();
    for node in graph.nodes.iter().filter(|n| !n.title.is_empty()) {
        if !seen.insert(node.title.as_str()) {
            let message = format!("the title `{}` is used by more than one node", node.title);
            problems
                .push(GraphProblem::of(GraphCode::NodeTitleDuplicate, message).node(&node.id).field("title"));
        }
    }
}

fn counts(graph: &Graph, problems: &mut Vec<GraphProblem>) {
    let rules = [("start", GraphCode::StartCount), ("end", GraphCode::EndCount)];
    for (name, code) in rules {
        let mut found = graph.nodes.iter().filter(|n| n.type_name() == name);
        if found.next().is_none() {
            problems.push(GraphProblem::of(code, format!("the graph has no {name} node")).field("nodes"));
        }
        for extra in found {
            let message = format!("the graph has more than one {name} node");
            problems.push(GraphProblem::of(code, message).node(&extra.id).field("node_type"));
        }
    }
}

fn edges(graph: &Graph, index: &HashMap<&str, usize>, problems: &mut Vec<GraphProblem>) {
    let (mut ids, mut ways) = (HashSet::new(), HashSet::new());
    for edge in &graph.edges {
        let problem = |code, field: &str, message: String| {
            GraphProblem::of(code, message).edge(&edge.id).node(&edge.source).field(field)
        };
        if edge.id.is_empty() || !ids.insert(edge.id.as_str()) {
            let message = format!("the edge id `{}` is empty, or used more than once", edge.id);
            problems.push(problem(GraphCode::EdgeIdDuplicate, "id", message));
        }
        if !ways.insert((&edge.source, &edge.target, &edge.condition)) {
            let message = format!("there is more than one edge from `{}` to `{}`", edge.source, edge.target);
            problems.push(problem(GraphCode::EdgeDuplicate, "target", message));
        }
        let ends = [
            ("source", &edge.source, "source_type", &edge.source_type),
            ("target", &edge.target, "target_type", &edge.target_type),
        ];
        for (field, id, type_field, said) in ends {
            match index.get(id.as_str()) {
                // In a graph that was not read whole, the node may be one that could not be read.
                None if !graph.complete => {}
                None => problems.push(problem(
                    GraphCode::EdgeEndpoint,
                    field,
                    format!("the edge's {field} `{id}` is not a node of this graph"),
                )),
                Some(&i) => {
                    let is = graph.nodes[i].type_name();
                    if said.as_ref().is_some_and(|said| said != is) {
                        let message = format!("`{id}` is a {is} node, the edge says otherwise");
                        problems.push(problem(GraphCode::EdgeTypeMismatch, type_field, message));
                    }
                }
            }
        }
    }
}

fn conditions(graph: &Graph, index: &HashMap<&str, usize>, problems: &mut Vec<GraphProblem>) {
    let mut leaving: HashMap<usize, Vec<&Edge>> = HashMap::new();
    for edge in &graph.edges {
        if let Some(&from) = index.get(edge.source.as_str()) {
            leaving.entry(from).or_default().push(edge);
        }
    }
    for (i, node) in graph.nodes.iter().enumerate() {
        let edges = leaving.get(&i).map_or(&[][..], Vec::as_slice);
        conditions_of(node, edges, graph.complete, problems);
    }
}

fn conditions_of(node: &Node, edges: &[&Edge], complete: bool, problems: &mut Vec<GraphProblem>) {
    let branches = node.kind.branches();
    let fails_over = node.policy.on_error == OnError::Branch;
    for edge in edges {
        let problem = |code, message: String| {
            GraphProblem::of(code, message).edge(&edge.id).node(&node.id).field("condition")
        };
        match edge.condition.as_deref() {
            Some(ERROR_BRANCH) if fails_over => {}
            Some(condition) if branches.is_empty() => problems.push(problem(
                GraphCode::ConditionUnexpected,
                format!("`{}` does not fork; remove the condition `{condition}`", node.title),
            )),
            Some(condition) if !branches.contains(&condition) => problems.push(problem(
                GraphCode::ConditionUnknown,
                format!("`{condition}` is not a branch of `{}`: {}", node.title, branches.join(", ")),
            )),
            None if !branches.is_empty() => problems.push(problem(
                GraphCode::ConditionMissing,
                format!("say on which branch of `{}` the edge is followed", node.title),
            )),
            _ => {}
        }
    }
    if !complete {
        return;
    }
    // A classifier may name intents that lead nowhere of their own: they take its first edge.
    let must: Vec<&str> = match &node.kind {
        NodeKind::Condition(_) => branches,
        _ => Vec::new(),
    };
    for branch in must.into_iter().chain(fails_over.then_some(ERROR_BRANCH)) {
        if !edges.iter().any(|edge| edge.condition.as_deref() == Some(branch)) {
            let message = format!("no edge leaves `{}` on the branch `{branch}`", node.title);
            problems.push(GraphProblem::of(GraphCode::BranchUnconnected, message).node(&node.id));
        }
    }
}

fn entries_and_exits(graph: &Graph, ways: &Ways, problems: &mut Vec<GraphProblem>) {
    for (i, node) in graph.nodes.iter().enumerate() {
        let (is_start, is_end) =
            (matches!(node.kind, NodeKind::Start(_)), matches!(node.kind, NodeKind::End(_)));
        if ways.previous[i].is_empty() != is_start {
            let message = if is_start { "no edge may enter the start" } else { "no edge enters this node" };
            problems.push(GraphProblem::of(GraphCode::StartNotSoleEntry, message).node(&node.id));
        }
        if ways.next[i].is_empty() != is_end {
            let message = if is_end { "no edge may leave the end" } else { "no edge leaves this node" };
            problems.push(GraphProblem::of(GraphCode::EndNotSoleExit, message).node(&node.id));
        }
    }
}

fn unreachable(graph: &Graph, ways: &Ways, problems: &mut Vec<GraphProblem>) {
    let Some(start) = graph.nodes.iter().position(|n| matches!(n.kind, NodeKind::Start(_))) else {
        return;
    };
    let mut seen = vec![false; graph.nodes.len()];
    let mut waiting = vec![start];
    while let Some(i) = waiting.pop() {
        if !std::mem::replace(&mut seen[i], true) {
            waiting.extend(&ways.next[i]);
        }
    }
    for (i, node) in graph.nodes.iter().enumerate().filter(|(i, _)| !seen[*i]) {
        // A node that nothing enters has been named already.
        if !ways.previous[i].is_empty() {
            let message = "this node cannot be reached from the start";
            problems.push(GraphProblem::of(GraphCode::Unreachable, message).node(&node.id));
        }
    }
}

fn ancestors(graph: &Graph, ways: &Ways, problems: &mut Vec<GraphProblem>) -> Option<Vec<Vec<bool>>> {
    let count = graph.nodes.len();
    let mut left: Vec<usize> = ways.previous.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..count).filter(|&i| left[i] == 0).collect();
    let mut ancestors = vec![vec![false; count]; count];
    let mut done = 0;
    while let Some(i) = ready.pop() {
        done += 1;
        for &to in &ways.next[i] {
            let before = ancestors[i].clone();
            ancestors[to].iter_mut().zip(before).for_each(|(to, from)| *to |= from);
            ancestors[to][i] = true;
            left[to] -= 1;
            if left[to] == 0 {
                ready.push(to);
            }
        }
    }
    if done == count {
        return Some(ancestors);
    }
    for (i, node) in graph.nodes.iter().enumerate().filter(|(i, _)| left[*i] > 0) {
        if on_a_circle(i, ways) {
            let message = "this node comes before itself: the edges go round in a circle";
            problems.push(GraphProblem::of(GraphCode::Cycle, message).node(&node.id));
        }
    }
    None
}

fn on_a_circle(node: usize, ways: &Ways) -> bool {
    let mut seen = vec![false; ways.next.len()];
    let mut waiting = ways.next[node].clone();
    while let Some(i) = waiting.pop() {
        if i == node {
            return true;
        }
        if !std::mem::replace(&mut seen[i], true) {
            waiting.extend(&ways.next[i]);
        }
    }
    false
}
