//! Random graphs: valid ones run every node that a branch leads to exactly once; broken ones are refused.

use crate::support::{Draw, Told, World, literal, maybe, refer};
use proptest::prelude::*;
use serde_json::{Value, json};
use source_workflow::{GraphCode, NodeStatus, Plan, RunStatus, validate};
use std::collections::{BTreeMap, BTreeSet};

/// A graph as edges between places: 0 is the start, 1..=n are nodes, n + 1 is the end.
#[derive(Clone, Debug)]
struct Shape {
    nodes: usize,
    /// Which nodes fork, and whether they take their branch or `else`.
    forks: BTreeMap<usize, bool>,
    /// From, to, and for forks on which branch.
    edges: BTreeSet<(usize, usize, Option<bool>)>,
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1_usize..14)
        .prop_flat_map(|nodes| {
            let forks = prop::collection::btree_map(1..=nodes, any::<bool>(), 0..4);
            let edges = prop::collection::vec((0..=nodes, 1..=nodes + 1, any::<bool>()), 0..30);
            let entries = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), nodes);
            (Just(nodes), forks, edges, entries)
        })
        .prop_map(|(nodes, forks, more, entries)| {
            let mut edges = BTreeSet::new();
            let mut add = |from: usize, to: usize, branch: bool| {
                edges.insert((from, to, forks.contains_key(&from).then_some(branch)));
            };
            for (i, (index, branch)) in entries.iter().enumerate() {
                add(index.index(i + 1), i + 1, *branch);
            }
            more.iter()
                .filter(|(from, to, _)| from < to)
                .for_each(|(from, to, branch)| add(*from, *to, *branch));
            for node in 0..=nodes {
                let branches: &[bool] = if forks.contains_key(&node) { &[true, false] } else { &[true] };
                for branch in branches {
                    let wanted = forks.contains_key(&node).then_some(*branch);
                    if !edges.iter().any(|(from, _, b)| *from == node && *b == wanted) {
                        edges.insert((node, nodes + 1, wanted));
                    }
                }
            }
            Shape { nodes, forks, edges }
        })
}

impl Shape {
    fn id(&self, place: usize) -> String {
        match place {
            0 => "start".to_owned(),
            p if p == self.nodes + 1 => "end".to_owned(),
            p => format!("n{p}"),
        }
    }

    /// Which places are reached by edges that are followed.
    fn reached(&self) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([0]);
        for place in 1..=self.nodes + 1 {
            let followed = |(from, to, branch): &(usize, usize, Option<bool>)| {
                *to == place && reached.contains(from) && branch.is_none_or(|b| b == self.forks[from])
            };
            if self.edges.iter().any(followed) {
                reached.insert(place);
            }
        }
        reached
    }

    fn document(&self) -> Value {
        let mut draw = Draw::new(&[("seed", "int")]);
        for place in 1..=self.nodes {
            // Every node looks at whatever comes right before it.
            let before: Vec<usize> =
                self.edges.iter().filter(|(_, to, _)| *to == place).map(|(from, _, _)| *from).collect();
            let mut inputs = vec![literal("own", "int", json!(place))];
            for from in before.iter().filter(|from| **from > 0 && !self.forks.contains_key(from)) {
                let mut input = maybe(&format!("i{from}"), "int", &self.id(*from), "output");
                input["required"] = json!(false);
                inputs.push(input);
            }
            inputs.dedup_by(|a, b| a["name"] == b["name"]);
            let node = match self.forks.get(&place) {
                Some(taken) => json!({"node_type": "condition", "inputs": [literal("own", "int", json!(1))],
                    "branches": [{"name": "yes", "tests": [
                        {"input": "own", "operator": "eq", "value": i32::from(*taken)}]}]}),
                None => json!({"node_type": "variable_aggregation", "inputs": inputs}),
            };
            draw = draw.node(&self.id(place), node);
        }
        draw = draw.end(&[("seed", "int", "start", "seed")]);
        for (from, to, branch) in &self.edges {
            let condition = branch.map(|b| if b { "yes" } else { "else" });
            draw = draw.edge(&self.id(*from), &self.id(*to), condition);
        }
        draw.done()
    }
}

#[expect(clippy::too_many_lines, reason = "a list of ways")]
/// A way to break a valid graph, and the code it must be refused with.
fn broken(shape: &Shape, how: usize, which: prop::sample::Index) -> (GraphCode, Value) {
    let mut graph = shape.document();
    let node = which.index(shape.nodes) + 1;
    let id = shape.id(node);
    let edge = which.index(shape.edges.len());
    let node_at = format!("/nodes/{node}");
    let count = graph["edges"].as_array().unwrap().len();
    let mut push = |edge: Value| graph["edges"].as_array_mut().unwrap().push(edge);
    let code = match how {
        0 => {
            push(json!({"id": "new", "source": id, "target": "nowhere"}));
            GraphCode::EdgeEndpoint
        }
        1 => {
            let mut again = shape.document()["edges"][edge].take();
            again["id"] = json!("new");
            push(again);
            GraphCode::EdgeDuplicate
        }
        2 => {
            graph["edges"][edge]["id"] = graph["edges"][(edge + 1) % count]["id"].clone();
            if count == 1 {
                graph["edges"][0]["id"] = json!("");
            }
            GraphCode::EdgeIdDuplicate
        }
        3 => {
            graph.pointer_mut(&node_at).unwrap()["id"] = json!("start");
            GraphCode::NodeIdDuplicate
        }
        4 => {
            graph.pointer_mut(&node_at).unwrap()["title"] = json!("start ");
            GraphCode::NodeTitleDuplicate
        }
        5 => {
            graph.pointer_mut(&node_at).unwrap()["node_type"] = json!("other");
            GraphCode::NodeTypeUnknown
        }
        6 => {
            let bad = refer("bad", "int", "end", "seed");
            graph.pointer_mut(&node_at).unwrap()["inputs"].as_array_mut().unwrap().push(bad);
            GraphCode::RefNotAncestor
        }
        7 => {
            let bad = refer("bad", "int", "start", "other");
            graph.pointer_mut(&node_at).unwrap()["inputs"].as_array_mut().unwrap().push(bad);
            GraphCode::RefUnknownVariable
        }
        8 => {
            let bad = refer("bad", "array", "start", "seed");
            graph.pointer_mut(&node_at).unwrap()["inputs"].as_array_mut().unwrap().push(bad);
            GraphCode::RefTypeMismatch
        }
        9 => {
            let condition = shape.forks.contains_key(&node).then_some("else");
            push(json!({"id": "new", "source": id, "target": id, "condition": condition}));
            GraphCode::Cycle
        }
        10 => {
            graph["edges"].as_array_mut().unwrap().retain(|e| e["target"] != json!(id));
            GraphCode::StartNotSoleEntry
        }
        11 => {
            graph["edges"].as_array_mut().unwrap().retain(|e| e["source"] != json!(id));
            GraphCode::EndNotSoleExit
        }
        12 => {
            graph["edges"][edge]["condition"] = json!("elsewhere");
            let from: Vec<_> = shape.edges.iter().collect();
            if shape.forks.contains_key(&from[edge].0) {
                GraphCode::ConditionUnknown
            } else {
                GraphCode::ConditionUnexpected
            }
        }
        _ => {
            graph["edges"][edge]["target_type"] = json!("llm");
            GraphCode::EdgeTypeMismatch
        }
    };
    (code, graph)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_valid_graph_runs_every_reached_node_exactly_once(shape in shapes(), seed in any::<i32>()) {
        let graph = shape.document();
        let plan = Plan::of(&graph).map_err(|p| TestCaseError::fail(format!("{p:#?}\n{graph:#}")))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (outcome, told) = runtime.block_on(async {
            let world = World::new();
            let told = Told::default();
            let inputs = json!({"seed": seed});
            let outcome =
                world.engine.run("run", &plan, inputs.as_object().unwrap(), &world.cx(), &told).await;
            (outcome, told)
        });
        prop_assert_eq!(told.end().status, RunStatus::Succeeded);
        prop_assert_eq!(&outcome.unwrap()["seed"], &json!(seed));
        let reached = shape.reached();
        let ids = |places: &mut dyn Iterator<Item = usize>| {
            let mut ids: Vec<String> = places.map(|p| shape.id(p)).collect();
            ids.sort();
            ids
        };
        let told_sorted = |status| {
            let mut ids = told.with(status);
            ids.sort();
            ids
        };
        prop_assert_eq!(told_sorted(NodeStatus::Running), ids(&mut reached.iter().copied()));
        prop_assert_eq!(told_sorted(NodeStatus::Succeeded), ids(&mut reached.iter().copied()));
        let skipped = (0..=shape.nodes + 1).filter(|p| !reached.contains(p));
        prop_assert_eq!(told_sorted(NodeStatus::Skipped), ids(&mut { skipped }));
        // A node ran after everything before it had ended or been passed by.
        let nodes = told.nodes();
        for (from, to, _) in &shape.edges {
            let (from, to) = (shape.id(*from), shape.id(*to));
            let began = nodes.iter().position(|n| *n.node_data.id == *to);
            let ended = nodes.iter().rposition(|n| *n.node_data.id == *from);
            prop_assert!(ended < began, "{} before {}", from, to);
        }
    }

    #[test]
    fn a_broken_graph_is_refused_with_the_code_of_what_is_broken(
        shape in shapes(),
        how in 0_usize..14,
        which in any::<prop::sample::Index>(),
    ) {
        let (code, graph) = broken(&shape, how, which);
        let (_, problems) = validate::check(&graph);
        prop_assert!(problems.iter().any(|p| p.code == code), "{code:?}: {problems:#?}\n{graph:#}");
        prop_assert!(Plan::of(&graph).is_err());
    }
}
