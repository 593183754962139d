//! Secrets among the params of tool nodes' references: sealed where a graph is stored, masked where it is shown.
//!
//! What is a secret, and how it is sealed, the tool's own source knows.

use crate::error::WorkflowError;
use domain::{AccountContext, AccountId, ToolRef, ToolSource};
use serde_json::{Map, Value, json};
use std::{collections::HashMap, sync::Arc};

/// The graph as it may be stored. A masked secret keeps what the node of the same id holds in `stored`.
pub(super) async fn protect(
    mut graph: Value,
    stored: &Value,
    sources: &[Arc<dyn ToolSource>],
    account: &AccountId,
) -> Result<Value, WorkflowError> {
    let mut before = HashMap::new();
    each_tool(&mut stored.clone(), &mut |id, reference, _| drop(before.insert(id.to_owned(), reference)));
    let mut found = Vec::new();
    each_tool(&mut graph, &mut |id, reference, _| found.push((id.to_owned(), reference)));
    let cx = AccountContext::new(account.clone());
    let mut protected = HashMap::new();
    for (id, reference) in found {
        let Some(source) = source_of(&reference, sources).filter(|_| !reference.params.is_empty()) else {
            continue;
        };
        let stored = before.get(&id).filter(|stored| same_tool(stored, &reference));
        let sealed = match source.protect(&reference, stored, &cx).await {
            Ok(sealed) => sealed,
            // The tool is gone: what is stored of it stays as it was.
            Err(_)
                if stored.is_some_and(|stored| source.mask(stored) == reference || *stored == reference) =>
            {
                stored.cloned().unwrap_or(reference)
            }
            Err(unresolved) => {
                let message = format!("the params of the tool node `{id}` cannot be stored: {unresolved}");
                return Err(WorkflowError::Invalid { field: "nodes", message });
            }
        };
        protected.insert(id, sealed);
    }
    each_tool(&mut graph, &mut |id, _, node| {
        if let Some(sealed) = protected.get(id) {
            node.insert("tool".to_owned(), json!(sealed));
        }
    });
    Ok(graph)
}

/// Masks the secrets of a graph that is shown.
pub(super) fn mask(graph: &mut Value, sources: &[Arc<dyn ToolSource>]) {
    each_tool(graph, &mut |_, reference, node| {
        if let Some(source) = source_of(&reference, sources).filter(|_| !reference.params.is_empty()) {
            node.insert("tool".to_owned(), json!(source.mask(&reference)));
        }
    });
}

fn source_of<'a>(reference: &ToolRef, sources: &'a [Arc<dyn ToolSource>]) -> Option<&'a Arc<dyn ToolSource>> {
    sources.iter().find(|source| source.kind() == reference.kind)
}

fn same_tool(a: &ToolRef, b: &ToolRef) -> bool {
    (a.kind, &a.provider_id, &a.tool_id) == (b.kind, &b.provider_id, &b.tool_id)
}

/// What is done with a node: its id, its reference, itself.
type Visit<'a> = dyn FnMut(&str, ToolRef, &mut Map<String, Value>) + 'a;

/// Visits every node that has a readable `tool`, those of bodies included: its id, the reference, the node.
fn each_tool(graph: &mut Value, visit: &mut Visit<'_>) {
    // The recursion goes no deeper than the JSON parser went.
    let Some(Value::Array(nodes)) = graph.get_mut("nodes") else { return };
    for node in nodes.iter_mut().filter_map(Value::as_object_mut) {
        let id = node.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let reference =
            node.get("tool").and_then(|tool| serde_json::from_value::<ToolRef>(tool.clone()).ok());
        if let Some(reference) = reference {
            visit(&id, reference, node);
        }
        if let Some(body) = node.get_mut("body") {
            each_tool(body, visit);
        }
    }
}
