//! From JSON to [`Graph`], with what could not be read.

use super::{
    Edge, FORMAT_VERSION, Graph, Node, NodeKind,
    kinds::{Iteration, IterationFields},
    node::Common,
};
use crate::problem::{GraphCode, GraphProblem};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The most nodes of one graph.
pub(crate) const MAX_NODES: usize = 500;
/// The most edges of one graph.
const MAX_EDGES: usize = 2_000;
/// How deep iterations may stand in iterations.
const MAX_NESTING: usize = 4;

/// The keys that every node may have.
const COMMON_KEYS: [&str; 8] =
    ["id", "node_type", "title", "description", "position", "timeout_ms", "retry", "on_error"];

/// Reads a graph. What cannot be read is left out and named.
pub fn parse(document: &Value) -> (Graph, Vec<GraphProblem>) {
    let mut problems = Vec::new();
    let graph = parse_at(document, 0, &mut problems);
    (graph, problems)
}

fn parse_at(document: &Value, depth: usize, problems: &mut Vec<GraphProblem>) -> Graph {
    let shape = |field: &str, message: String| GraphProblem::of(GraphCode::GraphShape, message).field(field);
    if depth > MAX_NESTING {
        let message = format!("iterations stand more than {MAX_NESTING} deep in each other");
        problems.push(GraphProblem::of(GraphCode::GraphTooLarge, message));
        return Graph::default();
    }
    match document.get("version") {
        None => {}
        Some(version) if version.as_u64() == Some(FORMAT_VERSION) => {}
        Some(version) => {
            problems
                .push(shape("version", format!("version {version} is not known; write {FORMAT_VERSION}")));
        }
    }
    let mut list = |field: &str, most: usize| match document.get(field) {
        Some(Value::Array(items)) if items.len() > most => {
            let message = format!("{} {field} are too many: at most {most}", items.len());
            problems.push(GraphProblem::of(GraphCode::GraphTooLarge, message).field(field));
            &[]
        }
        Some(Value::Array(items)) => items.as_slice(),
        _ => {
            problems.push(shape(field, format!("`{field}` must be a list")));
            &[]
        }
    };
    let (nodes, edges) = (list("nodes", MAX_NODES), list("edges", MAX_EDGES));
    let written = nodes.len() + edges.len();
    let nodes: Vec<_> = nodes.iter().filter_map(|node| parse_node(node, depth, problems)).collect();
    let edges: Vec<_> =
        edges.iter().enumerate().filter_map(|(i, edge)| parse_edge(i, edge, problems)).collect();
    let complete = nodes.len() + edges.len() == written;
    Graph { nodes, edges, complete }
}

fn parse_edge(index: usize, edge: &Value, problems: &mut Vec<GraphProblem>) -> Option<Edge> {
    match read::<Edge>(edge.clone()) {
        Ok(mut edge) => {
            // Editors write "no condition" in several ways.
            edge.condition = edge.condition.filter(|c| !c.is_empty());
            Some(edge)
        }
        Err((field, message)) => {
            let id =
                edge.get("id").and_then(Value::as_str).map_or_else(|| format!("#{index}"), str::to_owned);
            problems.push(
                GraphProblem::of(GraphCode::EdgeInvalid, format!("edge `{id}`: {message}"))
                    .edge(&id)
                    .field(&field),
            );
            None
        }
    }
}

fn parse_node(node: &Value, depth: usize, problems: &mut Vec<GraphProblem>) -> Option<Node> {
    let Value::Object(fields) = node else {
        problems.push(GraphProblem::of(GraphCode::NodeInvalid, "a node must be an object").field("nodes"));
        return None;
    };
    let id = fields.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let refuse = |(field, message): (String, String)| {
        GraphProblem::of(GraphCode::NodeInvalid, message).node(&id).field(&field)
    };
    let (common, own): (Map<_, _>, Map<_, _>) =
        fields.clone().into_iter().partition(|(key, _)| COMMON_KEYS.contains(&key.as_str()));
    let common: Common = match read(Value::Object(common)) {
        Ok(common) => common,
        Err(fault) => {
            problems.push(refuse(fault));
            return None;
        }
    };
    if !NodeKind::TYPES.contains(&common.node_type.as_str()) {
        let message = format!(
            "`{}` is not a node type; the types are {}",
            common.node_type,
            NodeKind::TYPES.join(", ")
        );
        problems.push(GraphProblem::of(GraphCode::NodeTypeUnknown, message).node(&id).field("node_type"));
        return None;
    }
    match parse_kind(&common.node_type, own, depth, problems) {
        Ok(kind) => {
            Some(Node { id: common.id, title: common.title.trim().to_owned(), policy: common.policy, kind })
        }
        Err(fault) => {
            problems.push(refuse(fault));
            None
        }
    }
}

fn parse_kind(
    node_type: &str,
    mut own: Map<String, Value>,
    depth: usize,
    problems: &mut Vec<GraphProblem>,
) -> Result<NodeKind, (String, String)> {
    // What these types give is fixed; editors repeat it in `outputs`.
    if !matches!(node_type, "end" | "code") {
        own.remove("outputs");
    }
    let own = Value::Object(own);
    Ok(match node_type {
        "start" => NodeKind::Start(read(own)?),
        "end" => NodeKind::End(read(own)?),
        "tool" => NodeKind::Tool(read(own)?),
        "llm" => NodeKind::Llm(read(own)?),
        "template_transform" => NodeKind::TemplateTransform(read(own)?),
        "http_request" => NodeKind::HttpRequest(read(own)?),
        "code" => NodeKind::Code(read(own)?),
        "condition" => NodeKind::Condition(read(own)?),
        "intent_classifier" => NodeKind::IntentClassifier(read(own)?),
        "variable_aggregation" => NodeKind::VariableAggregation(read(own)?),
        "dataset_retrieval" => NodeKind::DatasetRetrieval(read(own)?),
        _ => {
            let IterationFields { inputs, parallelism, on_item_error, body } = read(own)?;
            let body = parse_at(&body, depth + 1, problems);
            NodeKind::Iteration(Box::new(Iteration { inputs, parallelism, on_item_error, body }))
        }
    })
}

/// Reads a value, or gives the field and what is wrong with it.
fn read<T: DeserializeOwned>(value: Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        let field = if path == "." { named_field(&message).unwrap_or_default() } else { path };
        (field, message)
    })
}

/// The field that a message such as "missing field `code`" is about.
fn named_field(message: &str) -> Option<String> {
    let rest = ["missing field `", "unknown field `"].iter().find_map(|start| message.strip_prefix(start))?;
    Some(rest.split('`').next()?.to_owned())
}
