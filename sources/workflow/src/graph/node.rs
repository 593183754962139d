//! Nodes: what every one has, and what its type gives and asks.

use super::{
    VarType, Variable,
    kinds::{
        Code, Condition, DatasetRetrieval, ELSE_BRANCH, End, Gather, HttpRequest, IntentClassifier,
        Iteration, Llm, Start, TemplateTransform, ToolCall, VariableAggregation,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A node of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its id, unique in the whole workflow.
    pub id: String,
    /// Its title, unique in its graph.
    pub title: String,
    /// What happens when it is slow or fails.
    pub policy: Policy,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is its type's own struct")]
pub enum NodeKind {
    Start(Start),
    End(End),
    Tool(ToolCall),
    Llm(Llm),
    TemplateTransform(TemplateTransform),
    HttpRequest(HttpRequest),
    Code(Code),
    Condition(Condition),
    IntentClassifier(IntentClassifier),
    Iteration(Box<Iteration>),
    VariableAggregation(VariableAggregation),
    DatasetRetrieval(DatasetRetrieval),
}

/// What every node has besides its own fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "description and position are checked and kept for the editor")]
pub(super) struct Common {
    pub(super) id: String,
    pub(super) node_type: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    position: Option<Position>,
    #[serde(flatten)]
    pub(super) policy: Policy,
}

/// Where an editor draws it.
#[derive(Deserialize)]
#[expect(dead_code, reason = "checked and kept for the editor")]
struct Position {
    x: f64,
    y: f64,
}

/// How long a node may take, how often it is tried, and what its failure means.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Policy {
    /// At most this long each time, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// How often it is tried again.
    #[serde(default)]
    pub retry: Retry,
    /// What its failure means.
    #[serde(default)]
    pub on_error: OnError,
}

/// Trying again after a failure that may pass. Each wait is twice the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How often, beyond the first time.
    #[serde(default)]
    pub times: u32,
    /// How long it waits the first time, in milliseconds.
    #[serde(default)]
    pub wait_ms: u64,
}

/// What a node's failure means for the run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(tag = "strategy", rename_all = "snake_case", deny_unknown_fields)]
pub enum OnError {
    /// The run fails.
    #[default]
    Fail,
    /// The node gives these outputs instead, and `error`.
    Default {
        /// The outputs.
        outputs: Map<String, Value>,
    },
    /// Only edges with the condition `error` are followed; `error` can be referred to.
    Branch,
}

impl Node {
    /// The node's type on the wire.
    pub const fn type_name(&self) -> &'static str {
        self.kind.type_name()
    }

    /// What the node gives, with `None` for any type.
    pub fn outputs(&self) -> Vec<(String, Option<VarType>)> {
        let mut outputs = self.kind.outputs();
        if self.policy.on_error != OnError::Fail {
            outputs.push(("error".to_owned(), Some(VarType::Object)));
        }
        outputs
    }
}

impl NodeKind {
    /// Every type name, as an error message lists them.
    pub const TYPES: &'static [&'static str] = &[
        "start",
        "end",
        "tool",
        "llm",
        "template_transform",
        "http_request",
        "code",
        "condition",
        "intent_classifier",
        "iteration",
        "variable_aggregation",
        "dataset_retrieval",
    ];

    /// The type's name on the wire.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::End(_) => "end",
            Self::Tool(_) => "tool",
            Self::Llm(_) => "llm",
            Self::TemplateTransform(_) => "template_transform",
            Self::HttpRequest(_) => "http_request",
            Self::Code(_) => "code",
            Self::Condition(_) => "condition",
            Self::IntentClassifier(_) => "intent_classifier",
            Self::Iteration(_) => "iteration",
            Self::VariableAggregation(_) => "variable_aggregation",
            Self::DatasetRetrieval(_) => "dataset_retrieval",
        }
    }

    /// The variables whose values the node takes from elsewhere, and the field they stand in.
    pub fn inputs(&self) -> (&'static str, &[Variable]) {
        match self {
            Self::Start(_) => ("inputs", &[]),
            Self::End(n) => ("outputs", &n.outputs),
            Self::Tool(n) => ("inputs", &n.inputs),
            Self::Llm(n) => ("inputs", &n.inputs),
            Self::TemplateTransform(n) => ("inputs", &n.inputs),
            Self::HttpRequest(n) => ("inputs", &n.inputs),
            Self::Code(n) => ("inputs", &n.inputs),
            Self::Condition(n) => ("inputs", &n.inputs),
            Self::IntentClassifier(n) => ("inputs", &n.inputs),
            Self::Iteration(n) => ("inputs", &n.inputs),
            Self::VariableAggregation(n) => ("inputs", &n.inputs),
            Self::DatasetRetrieval(n) => ("inputs", &n.inputs),
        }
    }

    /// The variables the node declares without taking them from elsewhere, and their field.
    pub fn declared(&self) -> (&'static str, &[Variable]) {
        match self {
            Self::Start(n) => ("inputs", &n.inputs),
            Self::Code(n) => ("outputs", &n.outputs),
            _ => ("outputs", &[]),
        }
    }

    /// The names that an edge from this node may carry as its condition; none when it does not fork.
    pub fn branches(&self) -> Vec<&str> {
        match self {
            Self::Condition(n) => n.branches.iter().map(|b| b.name.as_str()).chain([ELSE_BRANCH]).collect(),
            Self::IntentClassifier(n) => n.intents.iter().map(|i| i.name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    fn outputs(&self) -> Vec<(String, Option<VarType>)> {
        let fixed = |list: &[(&str, Option<VarType>)]| {
            list.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
        };
        let declared = |list: &[Variable]| list.iter().map(|v| (v.name.clone(), Some(v.kind))).collect();
        match self {
            Self::Start(n) => declared(&n.inputs),
            Self::End(n) => declared(&n.outputs),
            Self::Code(n) => declared(&n.outputs),
            Self::Tool(_) => fixed(&[
                ("text", Some(VarType::String)),
                ("structured", None),
                ("files", Some(VarType::Array)),
            ]),
            Self::Llm(_) => fixed(&[("output", Some(VarType::String)), ("usage", Some(VarType::Object))]),
            Self::TemplateTransform(_) => fixed(&[("output", Some(VarType::String))]),
            Self::HttpRequest(_) => fixed(&[
                ("status_code", Some(VarType::Int)),
                ("text", Some(VarType::String)),
                ("headers", Some(VarType::Object)),
                ("json", None),
            ]),
            Self::Condition(_) => fixed(&[("branch", Some(VarType::String))]),
            Self::IntentClassifier(_) => {
                fixed(&[("intent_name", Some(VarType::String)), ("confidence", Some(VarType::Float))])
            }
            Self::Iteration(_) => {
                fixed(&[("results", Some(VarType::Array)), ("errors", Some(VarType::Array))])
            }
            Self::VariableAggregation(n) => fixed(&[("output", gathered(n))]),
            Self::DatasetRetrieval(_) => {
                fixed(&[("combine_documents", Some(VarType::String)), ("documents", Some(VarType::Array))])
            }
        }
    }
}

fn gathered(node: &VariableAggregation) -> Option<VarType> {
    match node.mode {
        Gather::List => Some(VarType::Array),
        Gather::Object => Some(VarType::Object),
        Gather::First => {
            let mut kinds = node.inputs.iter().map(|v| v.kind);
            let first = kinds.next()?;
            kinds.all(|kind| kind == first).then_some(first)
        }
    }
}
