//! `iteration`: a body once for each item, a few items at a time, results in the items' order.

use super::{Run, RunError, scheduler};
use crate::{
    graph::{describe, kinds::OnItemError},
    nodes::{NodeError, Values, outputs, size_of},
    plan::{IterationWork, Plan},
};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Runs the body for each item. Items that have not begun when one fails the iteration never do.
pub(super) async fn run(
    run: &Run<'_>,
    work: &IterationWork,
    inputs: &Values,
    path: &Arc<[usize]>,
) -> Result<Map<String, Value>, NodeError> {
    let items = match inputs.get("items") {
        Some(Value::Array(items)) => items,
        other => {
            let is = other.map_or("nothing", describe);
            return Err(NodeError::new("type_mismatch", format!("`items` must be a list, it is {is}")));
        }
    };
    if items.len() > run.limits.items {
        let message = format!("{} items are too many: at most {}", items.len(), run.limits.items);
        return Err(NodeError::new("too_many_items", message));
    }
    let others = inputs.iter().filter(|(name, _)| *name != "items");
    let shared: Map<String, Value> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut running = stream::iter(0..items.len())
        .map(|index| one(run, &work.body, (index, &items[index]), &shared, path))
        .buffered(work.parallelism);
    let (mut results, mut errors) = (Vec::with_capacity(items.len()), Vec::new());
    let (mut index, mut size) = (0, 0);
    while let Some(result) = running.next().await {
        match (result, work.on_item_error) {
            (Ok(values), _) => {
                let value = Value::Object(Arc::unwrap_or_clone(values));
                size += size_of(&value);
                results.push(value);
            }
            (Err(error), OnItemError::Skip) if error.code != "too_many_nodes" => {
                errors.push(json!({
                    "index": index, "code": error.code, "message": error.message, "node_id": error.node_id
                }));
            }
            (Err(error), _) => {
                let message = format!("item {index}: {}", error.message);
                return Err(NodeError { code: error.code.into(), message, may_pass: false });
            }
        }
        if size > run.limits.output_bytes {
            let message = format!("the results have more than {} bytes", run.limits.output_bytes);
            return Err(NodeError::new("too_large", message));
        }
        index += 1;
    }
    Ok(outputs([("results", results.into()), ("errors", errors.into())]))
}

/// Boxed, for a body may hold iterations of its own.
fn one<'a>(
    run: &'a Run<'_>,
    body: &'a Plan,
    (index, item): (usize, &'a Value),
    shared: &'a Map<String, Value>,
    path: &'a Arc<[usize]>,
) -> BoxFuture<'a, Result<Values, RunError>> {
    async move {
        let mut given = shared.clone();
        given.insert("item".to_owned(), item.clone());
        given.insert("index".to_owned(), index.into());
        let arguments = body.arguments(&given).map_err(|message| RunError {
            code: "type_mismatch".to_owned(),
            message,
            node_id: Some(body.nodes[body.start].id.to_string()),
        })?;
        let path: Arc<[usize]> = path.iter().copied().chain([index]).collect();
        scheduler::run_graph(run, body, Arc::new(arguments), &path).await
    }
    .boxed()
}
