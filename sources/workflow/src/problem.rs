//! What is wrong with a graph, by stable codes that name the node and the field.

use serde::{Deserialize, Serialize};

/// One thing that is wrong with a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphProblem {
    /// The stable code.
    pub code: GraphCode,
    /// The node it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// The edge it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<String>,
    /// The field of the node, edge or graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

impl GraphProblem {
    /// A problem of the graph as a whole.
    pub fn of(code: GraphCode, message: impl Into<String>) -> Self {
        Self { code, node_id: None, edge_id: None, field: None, message: message.into() }
    }

    /// The same, of a node.
    pub fn node(self, id: &str) -> Self {
        Self { node_id: Some(id.to_owned()), ..self }
    }

    /// The same, of an edge.
    pub fn edge(self, id: &str) -> Self {
        Self { edge_id: Some(id.to_owned()), ..self }
    }

    /// The same, of a field.
    pub fn field(self, field: &str) -> Self {
        let field = (!field.is_empty()).then(|| field.to_owned());
        Self { field, ..self }
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal,)+) => {
        /// The codes of [`GraphProblem`]s. They never change their meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum GraphCode { $($(#[doc = $doc])+ #[serde(rename = $wire)] $name,)+ }

        impl GraphCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The code on the wire.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$name => $wire,)+ } }
        }
    };
}

codes! {
    /// The document is not a graph: a list is missing, or the version is unknown.
    GraphShape = "graph_shape",
    /// There are no nodes, or no edges.
    GraphEmpty = "graph_empty",
    /// More nodes, edges or levels than a graph may have.
    GraphTooLarge = "graph_too_large",
    /// A node's fields cannot be read.
    NodeInvalid = "node_invalid",
    /// There is no such node type.
    NodeTypeUnknown = "node_type_unknown",
    /// A node's id is empty, too long or has characters that an id has not.
    NodeId = "node_id",
    /// Two nodes have the same id.
    NodeIdDuplicate = "node_id_duplicate",
    /// A node has no title, or one that is too long.
    NodeTitle = "node_title",
    /// Two nodes of a graph have the same title.
    NodeTitleDuplicate = "node_title_duplicate",
    /// A timeout, retry or error policy that cannot be.
    PolicyInvalid = "policy_invalid",
    /// Not exactly one start.
    StartCount = "start_count",
    /// Not exactly one end.
    EndCount = "end_count",
    /// An edge's fields cannot be read.
    EdgeInvalid = "edge_invalid",
    /// Two edges have the same id.
    EdgeIdDuplicate = "edge_id_duplicate",
    /// An edge leaves or enters a node that is not there.
    EdgeEndpoint = "edge_endpoint",
    /// An edge says another type of its node than the node has.
    EdgeTypeMismatch = "edge_type_mismatch",
    /// Two edges lead from one node to the same other on the same condition.
    EdgeDuplicate = "edge_duplicate",
    /// A node other than the start has no edge into it, or the start has one.
    StartNotSoleEntry = "start_not_sole_entry",
    /// A node other than the end has no edge out of it, or the end has one.
    EndNotSoleExit = "end_not_sole_exit",
    /// A node cannot be reached from the start.
    Unreachable = "unreachable",
    /// The edges go round in a circle.
    Cycle = "cycle",
    /// An edge's condition names no branch of its source.
    ConditionUnknown = "condition_unknown",
    /// An edge leaves a fork without saying on which branch.
    ConditionMissing = "condition_missing",
    /// An edge has a condition, but its source does not fork.
    ConditionUnexpected = "condition_unexpected",
    /// No edge leaves on a branch.
    BranchUnconnected = "branch_unconnected",
    /// A variable's name has characters that a name has not.
    VariableName = "variable_name",
    /// Two variables of a list have the same name.
    VariableDuplicate = "variable_duplicate",
    /// A variable's schema or enum does not fit its type.
    VariableSchema = "variable_schema",
    /// A variable has no value.
    ValueMissing = "value_missing",
    /// A literal is not of the variable's type.
    LiteralType = "literal_type",
    /// A reference names a node that does not come before.
    RefNotAncestor = "ref_not_ancestor",
    /// A reference names an output that the node does not have.
    RefUnknownVariable = "ref_unknown_variable",
    /// A reference's output is of another type.
    RefTypeMismatch = "ref_type_mismatch",
    /// A reference's path is not a JSON pointer.
    RefPath = "ref_path",
    /// A template does not compile.
    TemplateInvalid = "template_invalid",
    /// A template uses a name that is not among the inputs.
    TemplateUnknownName = "template_unknown_name",
    /// Code does not compile, or has no `main`.
    CodeInvalid = "code_invalid",
    /// An address, method, body or input of an HTTP request that cannot be.
    HttpInvalid = "http_invalid",
    /// Branches or tests of a condition that cannot be.
    ConditionInvalid = "condition_invalid",
    /// Intents of a classifier that cannot be.
    IntentsInvalid = "intents_invalid",
    /// An iteration's items, body or parallelism that cannot be.
    IterationInvalid = "iteration_invalid",
    /// A model's id is empty.
    ModelInvalid = "model_invalid",
    /// The node needs exactly one input, `query`, a required string.
    QueryInput = "query_input",
    /// No dataset, or more than five.
    DatasetsInvalid = "datasets_invalid",
    /// An aggregation without inputs.
    AggregationEmpty = "aggregation_empty",
    /// The tool of a node cannot be assembled.
    ToolUnresolved = "tool_unresolved",
    /// An argument that the tool does not have, or one it needs is missing.
    ToolArguments = "tool_arguments",
    /// Published workflows would call each other in a circle.
    WorkflowCycle = "workflow_cycle",
    /// Workflows would call workflows too deep.
    WorkflowTooDeep = "workflow_too_deep",
}
