//! A valid graph made ready to run: ids resolved to places, templates compiled, references to tools gathered.

use crate::{
    graph::{
        Edge, Graph, Node, NodeKind, OnError, Policy, VarType, VarValue, Variable,
        kinds::{
            Condition, DatasetRetrieval, ERROR_BRANCH, HttpRequest, IntentClassifier, ModelChoice,
            OnItemError, VariableAggregation,
        },
        object_schema,
    },
    nodes::{llm::Prompts, template::Template},
    problem::{GraphCode, GraphProblem},
    validate,
};
use domain::{Schema, ToolRef};
use serde_json::{Map, Value};
use std::{collections::HashMap, fmt, sync::Arc};

/// A graph that can run, any number of times and side by side.
pub struct Plan {
    pub(crate) nodes: Vec<PlanNode>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    inputs: Vec<Variable>,
    outputs: Vec<Variable>,
    /// All tools of the graph and the bodies in it, each once; empty in the plan of a body.
    refs: Vec<ToolRef>,
}

/// A node that can run.
pub(crate) struct PlanNode {
    pub(crate) id: Arc<str>,
    pub(crate) title: Arc<str>,
    pub(crate) type_name: &'static str,
    pub(crate) policy: Policy,
    /// How many edges enter it.
    pub(crate) incoming: usize,
    pub(crate) edges: Vec<PlanEdge>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) work: Work,
}

/// A way out of a node.
pub(crate) struct PlanEdge {
    pub(crate) to: usize,
    pub(crate) when: When,
}

/// When an edge is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The node succeeded.
    Done,
    /// The node chose this branch.
    Branch(String),
    /// The node failed, and its policy says to go on.
    Failed,
}

/// A value that a node takes.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) kind: VarType,
    pub(crate) source: Source,
    pub(crate) absent: Absent,
}

/// Where a value comes from.
pub(crate) enum Source {
    Literal(Value),
    Output { node: usize, name: String, path: String },
    Nowhere,
}

/// What happens when there is no value.
pub(crate) enum Absent {
    Fails,
    LeavesOut,
    Becomes(Value),
}

/// What a node does.
pub(crate) enum Work {
    Start,
    End,
    /// The place of its reference among all of the run.
    Tool(usize),
    Llm(ModelChoice, Prompts),
    Template(Template),
    Http(HttpRequest),
    Code {
        source: Arc<str>,
        outputs: Vec<Variable>,
    },
    Condition(Condition),
    Intent(IntentClassifier),
    Iteration(Box<IterationWork>),
    Aggregate(VariableAggregation),
    Retrieve(DatasetRetrieval),
}

/// An iteration and the plan of its body.
pub(crate) struct IterationWork {
    pub(crate) parallelism: usize,
    pub(crate) on_item_error: OnItemError,
    pub(crate) body: Plan,
}

impl Plan {
    /// Checks a document and makes it ready, or says all that is wrong with it.
    ///
    /// Compiles templates and code: call it off the async threads.
    pub fn of(document: &Value) -> Result<Self, Vec<GraphProblem>> {
        let graph = validate::valid(document)?;
        let mut refs = Refs::default();
        let mut plan = Self::compile(graph, &mut refs).map_err(|problem| vec![problem])?;
        plan.refs = refs.list;
        Ok(plan)
    }

    /// What the workflow is called with, as a JSON Schema.
    pub fn args_schema(&self) -> Schema {
        Schema::new(object_schema(&self.inputs))
    }

    /// What it gives, as a JSON Schema.
    pub fn output_schema(&self) -> Schema {
        Schema::new(object_schema(&self.outputs))
    }

    /// The references of all tool nodes, each once.
    pub fn tool_refs(&self) -> &[ToolRef] {
        &self.refs
    }

    /// The tool nodes with the place of their reference in [`Plan::tool_refs`] and the names of their inputs.
    pub(crate) fn tool_nodes(&self) -> Vec<(&PlanNode, usize)> {
        let mut found = Vec::new();
        for node in &self.nodes {
            match &node.work {
                Work::Tool(slot) => found.push((node, *slot)),
                Work::Iteration(iteration) => found.extend(iteration.body.tool_nodes()),
                _ => {}
            }
        }
        found
    }

    /// Whether some node of the graph or a body in it is like this.
    pub(crate) fn any(&self, like: &dyn Fn(&Work) -> bool) -> bool {
        self.nodes.iter().any(|node| {
            like(&node.work) || matches!(&node.work, Work::Iteration(iteration) if iteration.body.any(like))
        })
    }

    /// The start's outputs: the arguments it declares, absent ones filled in. What it does not declare is left.
    pub(crate) fn arguments(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let one = |variable: &Variable| {
            let value = match given.get(&variable.name) {
                None | Some(Value::Null) if variable.required => {
                    return Err(format!("`{}` is required", variable.name));
                }
                None | Some(Value::Null) => variable.absent_value(),
                Some(value) => variable.kind.coerce(value.clone()).map_err(|is| {
                    format!("`{}` must be of type {}, it is {is}", variable.name, variable.kind)
                })?,
            };
            Ok((variable.name.clone(), value))
        };
        self.inputs.iter().map(one).collect()
    }

    fn compile(graph: Graph, refs: &mut Refs) -> Result<Self, GraphProblem> {
        let index: HashMap<String, usize> =
            graph.nodes.iter().enumerate().map(|(i, node)| (node.id.clone(), i)).collect();
        let place = |kind: &str| {
            let missing = || GraphProblem::of(GraphCode::GraphShape, format!("there is no {kind} node"));
            graph.nodes.iter().position(|n| n.type_name() == kind).ok_or_else(missing)
        };
        let (start, end) = (place("start")?, place("end")?);
        let mut plan =
            Self { nodes: Vec::new(), start, end, inputs: Vec::new(), outputs: Vec::new(), refs: Vec::new() };
        for node in graph.nodes {
            match &node.kind {
                NodeKind::Start(n) => plan.inputs.clone_from(&n.inputs),
                NodeKind::End(n) => plan.outputs.clone_from(&n.outputs),
                _ => {}
            }
            plan.nodes.push(PlanNode::compile(node, &index, refs)?);
        }
        for edge in &graph.edges {
            let (Some(&from), Some(&to)) = (index.get(&edge.source), index.get(&edge.target)) else {
                let message = "an edge leaves or enters a node that is not there";
                return Err(GraphProblem::of(GraphCode::EdgeEndpoint, message).edge(&edge.id));
            };
            plan.nodes[to].incoming += 1;
            plan.nodes[from].edges.push(PlanEdge { to, when: when(edge) });
        }
        Ok(plan)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}

fn when(edge: &Edge) -> When {
    match edge.condition.as_deref() {
        None => When::Done,
        Some(ERROR_BRANCH) => When::Failed,
        Some(branch) => When::Branch(branch.to_owned()),
    }
}

impl PlanNode {
    fn compile(node: Node, index: &HashMap<String, usize>, refs: &mut Refs) -> Result<Self, GraphProblem> {
        let (_, variables) = node.kind.inputs();
        let leaves_out = matches!(node.kind, NodeKind::Tool(_) | NodeKind::VariableAggregation(_));
        let all_optional = matches!(node.kind, NodeKind::VariableAggregation(_));
        let input = |variable: &Variable| Input {
            name: variable.name.clone(),
            kind: variable.kind,
            source: source(variable, index),
            absent: match variable.required && !all_optional {
                true => Absent::Fails,
                false if leaves_out => Absent::LeavesOut,
                false => Absent::Becomes(variable.kind.empty_value()),
            },
        };
        let inputs = variables.iter().map(input).collect();
        let type_name = node.kind.type_name();
        let Node { id, title, policy, kind } = node;
        let work = work(kind, refs).map_err(|problem| problem.node(&id))?;
        Ok(Self {
            id: id.into(),
            title: title.into(),
            type_name,
            policy,
            incoming: 0,
            edges: Vec::new(),
            inputs,
            work,
        })
    }

    /// Whether the run goes on when the node fails.
    pub(crate) fn fails_over(&self) -> bool {
        self.policy.on_error != OnError::Fail
    }
}

fn source(variable: &Variable, index: &HashMap<String, usize>) -> Source {
    match &variable.value {
        VarValue::Literal { content } => Source::Literal(content.clone()),
        VarValue::Ref { content } => match index.get(&content.ref_node_id) {
            Some(&node) => {
                Source::Output { node, name: content.ref_var_name.clone(), path: content.path.clone() }
            }
            None => Source::Nowhere,
        },
        VarValue::Generated => Source::Nowhere,
    }
}

fn work(kind: NodeKind, refs: &mut Refs) -> Result<Work, GraphProblem> {
    let template = |field: &str, source: &str| {
        Template::compile(source)
            .map_err(|message| GraphProblem::of(GraphCode::TemplateInvalid, message).field(field))
    };
    Ok(match kind {
        NodeKind::Start(_) => Work::Start,
        NodeKind::End(_) => Work::End,
        NodeKind::Tool(n) => Work::Tool(refs.slot(n.tool)),
        NodeKind::Llm(n) => {
            let system = (!n.system_prompt.is_empty())
                .then(|| template("system_prompt", &n.system_prompt))
                .transpose()?;
            Work::Llm(n.model, Prompts { system, prompt: template("prompt", &n.prompt)? })
        }
        NodeKind::TemplateTransform(n) => Work::Template(template("template", &n.template)?),
        NodeKind::HttpRequest(n) => Work::Http(n),
        NodeKind::Code(n) => Work::Code { source: n.code.into(), outputs: n.outputs },
        NodeKind::Condition(n) => Work::Condition(n),
        NodeKind::IntentClassifier(n) => Work::Intent(n),
        NodeKind::Iteration(n) => Work::Iteration(Box::new(IterationWork {
            parallelism: n.parallelism,
            on_item_error: n.on_item_error,
            body: Plan::compile(n.body, refs)?,
        })),
        NodeKind::VariableAggregation(n) => Work::Aggregate(n),
        NodeKind::DatasetRetrieval(n) => Work::Retrieve(n),
    })
}

/// References as they are met, each once.
#[derive(Default)]
struct Refs {
    list: Vec<ToolRef>,
    places: HashMap<String, usize>,
}

impl Refs {
    fn slot(&mut self, reference: ToolRef) -> usize {
        let next = self.list.len();
        let slot = *self.places.entry(reference.stable_hash()).or_insert(next);
        if slot == next {
            self.list.push(reference);
        }
        slot
    }
}
