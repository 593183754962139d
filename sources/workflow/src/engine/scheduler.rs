//! Which node runs when.
//!
//! Every edge ends up followed or dead. A node waits until that is known of each edge into it, and runs if one
//! was followed; else it is skipped, and its own edges are dead. So a node behind ordinary nodes waits for all
//! of them, and a node where branches meet runs as soon as no other branch can still arrive: which of them
//! ran does not depend on timing.

use super::{Run, RunError, perform};
use crate::{
    nodes::{NodeError, Values},
    plan::{Absent, Input, Plan, PlanNode, Source, When, Work},
};
use futures::{StreamExt as _, stream::FuturesUnordered};
use serde_json::{Map, Value};
use std::{collections::VecDeque, sync::Arc};

/// How a node ended, for those behind it.
pub(super) enum Ended {
    /// With outputs, and the branch it chose if it forks.
    Done { outputs: Values, branch: Option<String> },
    /// It failed, and edges for that are followed.
    FailedOver { outputs: Values },
    /// It failed, and the run with it.
    Failed(RunError),
}

/// Runs a graph, or an iteration's body, and gives its end node's outputs. `path` says in which items.
pub(super) async fn run_graph(
    run: &Run<'_>,
    plan: &Plan,
    arguments: Values,
    path: &Arc<[usize]>,
) -> Result<Values, RunError> {
    let mut board = Board::new(plan);
    let mut working = FuturesUnordered::new();
    loop {
        while working.len() < run.limits.at_once
            && let Some(place) = board.ready.pop_front()
        {
            let node = &plan.nodes[place];
            run.spend_node(&node.id)?;
            let inputs = match node.work {
                Work::Start => Ok(arguments.clone()),
                _ => board.inputs_of(node).map(Arc::new),
            };
            working.push(async move { (place, perform::perform(run, node, inputs, path).await) });
        }
        let Some((place, ended)) = working.next().await else { break };
        board.settle(run, place, ended, path)?;
    }
    board.outputs[plan.end].take().ok_or_else(|| RunError {
        code: "end_not_reached".to_owned(),
        message: "no branch that was followed leads to the end".to_owned(),
        node_id: Some(plan.nodes[plan.end].id.to_string()),
    })
}

/// Where a run of one graph stands.
struct Board<'a> {
    plan: &'a Plan,
    /// For each node: edges into it of which nothing is known yet, and edges that were followed.
    waiting: Vec<(usize, usize)>,
    outputs: Vec<Option<Values>>,
    ready: VecDeque<usize>,
}

impl<'a> Board<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            waiting: plan.nodes.iter().map(|node| (node.incoming, 0)).collect(),
            outputs: vec![None; plan.nodes.len()],
            ready: VecDeque::from([plan.start]),
        }
    }

    /// A node's inputs from literals and from what ran before it.
    fn inputs_of(&self, node: &PlanNode) -> Result<Map<String, Value>, NodeError> {
        let mut inputs = Map::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let value = match (self.find(input), &input.absent) {
                (Some(value), _) => input.kind.coerce(value.clone()).map_err(|is| {
                    let message = format!("`{}` must be of type {}, it is {is}", input.name, input.kind);
                    NodeError::new("type_mismatch", message)
                })?,
                (None, Absent::LeavesOut) => continue,
                (None, Absent::Becomes(value)) => value.clone(),
                (None, Absent::Fails) => {
                    let message = format!(
                        "`{}` is required and has no value: what it refers to gave none, or did not run",
                        input.name
                    );
                    return Err(NodeError::new("missing_input", message));
                }
            };
            inputs.insert(input.name.clone(), value);
        }
        Ok(inputs)
    }

    fn find<'v>(&'v self, input: &'v Input) -> Option<&'v Value> {
        let value = match &input.source {
            Source::Nowhere => None,
            Source::Literal(value) => Some(value),
            Source::Output { node, name, path } => {
                let value = self.outputs[*node].as_ref()?.get(name)?;
                if path.is_empty() { Some(value) } else { value.pointer(path) }
            }
        };
        value.filter(|value| !value.is_null())
    }

    /// Notes how a node ended, and follows its edges.
    fn settle(
        &mut self,
        run: &Run<'_>,
        place: usize,
        ended: Ended,
        path: &Arc<[usize]>,
    ) -> Result<(), RunError> {
        let (outputs, branch, failed) = match ended {
            Ended::Done { outputs, branch } => (outputs, branch, false),
            Ended::FailedOver { outputs } => (outputs, None, true),
            Ended::Failed(error) => return Err(error),
        };
        self.outputs[place] = Some(outputs);
        let plan = self.plan;
        let edges = &plan.nodes[place].edges;
        let takes = |when: &When| match (when, &branch) {
            (When::Failed, _) => failed,
            (When::Done, _) => !failed,
            (When::Branch(name), Some(chosen)) => name == chosen,
            (When::Branch(_), None) => false,
        };
        // A fork whose choice no edge carries takes its first branch.
        let lost = branch.is_some() && !edges.iter().any(|edge| takes(&edge.when));
        let first = edges.iter().position(|edge| matches!(edge.when, When::Branch(_)));
        for (i, edge) in edges.iter().enumerate() {
            let followed = takes(&edge.when) || (lost && first == Some(i));
            self.arrive(run, edge.to, followed, path);
        }
        Ok(())
    }

    /// Notes that an edge into a node was followed or is dead; what that decides further back is noted too.
    fn arrive(&mut self, run: &Run<'_>, place: usize, followed: bool, path: &Arc<[usize]>) {
        let mut edges = vec![(place, followed)];
        while let Some((place, followed)) = edges.pop() {
            let (unknown, arrived) = &mut self.waiting[place];
            *unknown -= 1;
            *arrived += usize::from(followed);
            if *unknown > 0 {
                continue;
            }
            if *arrived > 0 {
                self.ready.push_back(place);
            } else {
                let node = &self.plan.nodes[place];
                run.reporter.skipped(node, path);
                edges.extend(node.edges.iter().map(|edge| (edge.to, false)));
            }
        }
    }
}
