//! The rules of each node type.

use super::{http, variables::literal_fault};
use crate::{
    graph::{
        Node, NodeKind, OnError, VarType, Variable,
        kinds::{
            Code, Condition, DatasetRetrieval, ELSE_BRANCH, ERROR_BRANCH, IntentClassifier, Iteration,
            ModelChoice, Operator,
        },
    },
    nodes::{code, template::Template},
    problem::{GraphCode, GraphProblem},
};
use std::collections::HashSet;

/// The longest timeout of a node, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;
/// The most retries of a node.
const MAX_RETRIES: u32 = 10;
/// The longest first wait between tries, in milliseconds.
const MAX_WAIT_MS: u64 = 60_000;
/// The most branches or intents of a fork.
const MAX_BRANCHES: usize = 50;
/// The most items of an iteration that run side by side.
pub(crate) const MAX_PARALLELISM: usize = 32;

/// Checks what a node's type asks of it.
pub(super) fn check(node: &Node, problems: &mut Vec<GraphProblem>) {
    let mut rules = Rules { node, problems };
    rules.policy();
    match &node.kind {
        NodeKind::Start(_) | NodeKind::End(_) | NodeKind::Tool(_) => {}
        NodeKind::Llm(n) => {
            rules.model(&n.model);
            rules.template("prompt", &n.prompt, &n.inputs);
            rules.template("system_prompt", &n.system_prompt, &n.inputs);
        }
        NodeKind::TemplateTransform(n) => rules.template("template", &n.template, &n.inputs),
        NodeKind::HttpRequest(n) => {
            for (field, message) in http::faults(n) {
                rules.add(GraphCode::HttpInvalid, &field, message);
            }
        }
        NodeKind::Code(n) => rules.code(n),
        NodeKind::Condition(n) => rules.condition(n),
        NodeKind::IntentClassifier(n) => rules.intents(n),
        NodeKind::Iteration(n) => rules.iteration(n),
        NodeKind::VariableAggregation(n) => {
            if n.inputs.is_empty() {
                rules.add(GraphCode::AggregationEmpty, "inputs", "there is nothing to gather".into());
            }
        }
        NodeKind::DatasetRetrieval(n) => rules.retrieval(n),
    }
}

struct Rules<'a> {
    node: &'a Node,
    problems: &'a mut Vec<GraphProblem>,
}

impl Rules<'_> {
    fn add(&mut self, code: GraphCode, field: &str, message: String) {
        self.problems.push(GraphProblem::of(code, message).node(&self.node.id).field(field));
    }

    fn policy(&mut self) {
        let policy = &self.node.policy;
        let bounded = [
            ("timeout_ms", policy.timeout_ms.unwrap_or(1), 1, MAX_TIMEOUT_MS),
            ("retry.times", u64::from(policy.retry.times), 0, u64::from(MAX_RETRIES)),
            ("retry.wait_ms", policy.retry.wait_ms, 0, MAX_WAIT_MS),
        ];
        for (field, value, least, most) in bounded {
            if !(least..=most).contains(&value) {
                let message = format!("{value} is not between {least} and {most}");
                self.add(GraphCode::PolicyInvalid, field, message);
            }
        }
        let edge_of_graph = matches!(self.node.kind, NodeKind::Start(_) | NodeKind::End(_));
        if edge_of_graph && *policy != crate::graph::Policy::default() {
            let message = "start and end nodes have no timeout, retry or error policy".into();
            self.add(GraphCode::PolicyInvalid, "on_error", message);
        }
        let OnError::Default { outputs } = &policy.on_error else { return };
        let known = self.node.outputs();
        for (name, value) in outputs {
            let field = format!("on_error.outputs.{name}");
            match known.iter().find(|(known, _)| known == name) {
                None => {
                    let message = format!("the node does not give `{name}`");
                    self.add(GraphCode::PolicyInvalid, &field, message);
                }
                Some((_, kind)) => {
                    if let Some(fault) = kind.and_then(|kind| literal_fault(kind, value)) {
                        let message = format!("`{name}` is {fault}, which is not its type");
                        self.add(GraphCode::PolicyInvalid, &field, message);
                    }
                }
            }
        }
        if !self.node.kind.branches().is_empty() {
            let message = "a fork has no default outputs: use the strategy `branch` or `fail`".into();
            self.add(GraphCode::PolicyInvalid, "on_error.strategy", message);
        }
    }

    fn model(&mut self, model: &ModelChoice) {
        if model.id.is_empty() {
            self.add(GraphCode::ModelInvalid, "model.id", "choose a model".into());
        }
    }

    fn template(&mut self, field: &str, source: &str, inputs: &[Variable]) {
        let template = match Template::compile(source) {
            Ok(template) => template,
            Err(message) => return self.add(GraphCode::TemplateInvalid, field, message),
        };
        for name in template.unknown_names(inputs.iter().map(|v| v.name.as_str())) {
            let message = format!("`{name}` is not among the node's inputs");
            self.add(GraphCode::TemplateUnknownName, field, message);
        }
    }

    fn code(&mut self, node: &Code) {
        if let Err(message) = code::check(&node.code) {
            self.add(GraphCode::CodeInvalid, "code", message);
        }
    }

    fn condition(&mut self, node: &Condition) {
        let names = node.branches.iter().map(|b| b.name.as_str());
        self.names(GraphCode::ConditionInvalid, "branches", names, &[ELSE_BRANCH, ERROR_BRANCH]);
        let known: HashSet<&str> = node.inputs.iter().map(|v| v.name.as_str()).collect();
        for branch in &node.branches {
            let field = format!("branches.{}.tests", branch.name);
            if branch.tests.is_empty() || branch.tests.len() > MAX_BRANCHES {
                let message = format!("a branch has 1 to {MAX_BRANCHES} tests");
                self.add(GraphCode::ConditionInvalid, &field, message);
            }
            for test in &branch.tests {
                for name in [Some(&test.input), test.other.as_ref()].into_iter().flatten() {
                    if !known.contains(name.as_str()) {
                        let message = format!("`{name}` is not among the node's inputs");
                        self.add(GraphCode::ConditionInvalid, &field, message);
                    }
                }
                let unary = matches!(test.operator, Operator::IsEmpty | Operator::IsNotEmpty);
                if test.other.is_some() && !test.value.is_null() || unary && test.other.is_some() {
                    let message = "a test has a `value` or an `other`, not both; is_empty has neither".into();
                    self.add(GraphCode::ConditionInvalid, &field, message);
                }
            }
        }
    }

    fn intents(&mut self, node: &IntentClassifier) {
        self.model(&node.model);
        let names = node.intents.iter().map(|i| i.name.as_str());
        self.names(GraphCode::IntentsInvalid, "intents", names, &[ERROR_BRANCH]);
        self.query(&node.inputs);
    }

    fn names<'n>(
        &mut self,
        code: GraphCode,
        field: &str,
        names: impl Iterator<Item = &'n str>,
        taken: &[&str],
    ) {
        let mut seen = HashSet::new();
        for name in names {
            if name.is_empty() || name.chars().count() > 64 || taken.contains(&name) {
                let message =
                    format!("`{name}` cannot be a name here: 1 to 64 characters, not {}", taken.join(", "));
                self.add(code, field, message);
            }
            if !seen.insert(name) {
                self.add(code, field, format!("there is more than one `{name}`"));
            }
        }
        if seen.is_empty() || seen.len() > MAX_BRANCHES {
            self.add(code, field, format!("there must be 1 to {MAX_BRANCHES} of them"));
        }
    }

    fn query(&mut self, inputs: &[Variable]) {
        let fits = matches!(inputs, [v] if v.name == "query" && v.kind == VarType::String && v.required);
        if !fits {
            let message = "the node takes exactly one input: `query`, a required string".into();
            self.add(GraphCode::QueryInput, "inputs", message);
        }
    }

    fn retrieval(&mut self, node: &DatasetRetrieval) {
        self.query(&node.inputs);
        if node.dataset_ids.is_empty() || node.dataset_ids.len() > 5 {
            self.add(GraphCode::DatasetsInvalid, "dataset_ids", "choose 1 to 5 datasets".into());
        }
        if !(1..=50).contains(&node.retrieval_config.limit) {
            let message = "between 1 and 50 passages can be taken".into();
            self.add(GraphCode::DatasetsInvalid, "retrieval_config.limit", message);
        }
    }

    fn iteration(&mut self, node: &Iteration) {
        if !(1..=MAX_PARALLELISM).contains(&node.parallelism) {
            let message = format!("between 1 and {MAX_PARALLELISM} items can run side by side");
            self.add(GraphCode::IterationInvalid, "parallelism", message);
        }
        match node.inputs.iter().find(|v| v.name == "items") {
            Some(items) if items.kind == VarType::Array => {}
            _ => {
                let message = "the node needs an input `items` of type array".into();
                self.add(GraphCode::IterationInvalid, "inputs.items", message);
            }
        }
        let Some(takes) = node.body.nodes.iter().find_map(|n| match &n.kind {
            NodeKind::Start(start) => Some(&start.inputs),
            _ => None,
        }) else {
            return;
        };
        for variable in takes {
            let given = match variable.name.as_str() {
                "item" => Some(None),
                "index" => Some(Some(VarType::Int)),
                name => node.inputs.iter().find(|v| v.name == name && name != "items").map(|v| Some(v.kind)),
            };
            let field = format!("body.{}", variable.name);
            match given {
                None if !variable.required => {}
                None => {
                    let message = format!(
                        "the body's start wants `{}`: it may want `item`, `index` and the node's own inputs",
                        variable.name
                    );
                    self.add(GraphCode::IterationInvalid, &field, message);
                }
                Some(kind) if !variable.kind.takes(kind) => {
                    let message = format!("the body wants `{}` as {}", variable.name, variable.kind);
                    self.add(GraphCode::IterationInvalid, &field, message);
                }
                Some(_) => {}
            }
        }
    }
}
