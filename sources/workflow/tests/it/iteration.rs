//! Iterations: order, bounds, failures.

use crate::support::{Draw, World, calls, literal, refer};
use domain::ToolOutput;
use serde_json::{Value, json};
use source_workflow::{NodeStatus, RunLimits};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// An iteration over the input `items` whose body doubles even numbers and throws at odd ones from 100 on.
fn doubling(extra: Value) -> Value {
    let fork = json!({"node_type": "condition", "inputs": [refer("n", "int", "b_start", "item")],
        "branches": [{"name": "small", "tests": [{"input": "n", "operator": "lt", "value": 100}]}]});
    let double = json!({"node_type": "code",
        "code": "function main(i) { if (i.n % 2) throw new Error('odd'); return {v: i.n * 2} }",
        "inputs": [refer("n", "int", "b_start", "item")], "outputs": [{"name": "v", "type": "int"}]});
    let join = json!({"node_type": "variable_aggregation", "inputs": [
        refer("a", "int", "b_double", "v"), refer("b", "int", "b_start", "by")]});
    let body = Draw::default()
        .node("b_start", json!({"node_type": "start", "inputs": [
            {"name": "item", "type": "int"}, {"name": "index", "type": "int"}, {"name": "by", "type": "int"}]}))
        .node("b_fork", fork)
        .node("b_double", double)
        .node("b_join", join)
        .node("b_end", json!({"node_type": "end", "outputs": [
            refer("v", "int", "b_join", "output"), refer("i", "int", "b_start", "index")]}))
        .path(&["b_start", "b_fork"])
        .edge("b_fork", "b_double", Some("else"))
        .edge("b_fork", "b_join", Some("small"))
        .path(&["b_double", "b_join", "b_end"])
        .done();
    let mut node = json!({"node_type": "iteration", "body": body, "parallelism": 8, "inputs": [
        refer("items", "array", "start", "items"), literal("by", "int", json!(7))]});
    for (key, value) in extra.as_object().unwrap() {
        node[key] = value.clone();
    }
    Draw::new(&[("items", "array")])
        .node("each", node)
        .end(&[("results", "array", "each", "results"), ("errors", "array", "each", "errors")])
        .path(&["start", "each", "end"])
        .done()
}

#[tokio::test]
async fn results_come_in_the_order_of_the_items() {
    let (outcome, told) = World::new().run(&doubling(json!({})), json!({"items": [100, 1, 102, 2]})).await;
    let got = outcome.unwrap();
    assert_eq!(
        got["results"],
        json!([{"v": 200, "i": 0}, {"v": 7, "i": 1}, {"v": 204, "i": 2}, {"v": 7, "i": 3}])
    );
    assert_eq!(told.with(NodeStatus::Skipped), ["b_double", "b_double"]);
    let paths: Vec<_> =
        told.nodes().iter().filter(|n| &*n.node_data.id == "b_end").map(|n| n.iteration.to_vec()).collect();
    assert!(paths.iter().all(|path| path.len() == 1));
    told.end();
}

#[tokio::test]
async fn a_failing_item_ends_the_iteration_or_is_left_out_and_named() {
    let world = World::new();
    let items = json!({"items": [100, 101, 102]});
    let (outcome, told) = world.run(&doubling(json!({})), items.clone()).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("code_failed", Some("each")));
    assert!(error.message.contains("item 1") && error.message.contains("odd"), "{error}");
    told.end();

    let got = world.run(&doubling(json!({"on_item_error": "skip"})), items).await.0.unwrap();
    assert_eq!(got["results"], json!([{"v": 200, "i": 0}, {"v": 204, "i": 2}]));
    assert_eq!((&got["errors"][0]["index"], &got["errors"][0]["node_id"]), (&json!(1), &json!("b_double")));
}

#[tokio::test]
async fn an_item_of_another_type_fails_before_its_body_begins() {
    let got = World::new()
        .run(&doubling(json!({"on_item_error": "skip"})), json!({"items": ["one", 1]}))
        .await
        .0
        .unwrap();
    assert_eq!(got["errors"][0]["code"], "type_mismatch");
    assert_eq!(got["results"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_iteration_is_bounded() {
    let items: Vec<u32> = (0..11).collect();
    let limits = RunLimits { items: 10, ..RunLimits::default() };
    let error =
        World::with(|d| d, limits).run(&doubling(json!({})), json!({"items": items})).await.0.unwrap_err();
    assert_eq!(error.code, "too_many_items");
    // The budget of nodes ends the run even where failing items are skipped.
    let limits = RunLimits { nodes: 20, ..RunLimits::default() };
    let graph = doubling(json!({"on_item_error": "skip"}));
    let error = World::with(|d| d, limits).run(&graph, json!({"items": items})).await.0.unwrap_err();
    assert_eq!(error.code, "too_many_nodes");
    let empty = World::new().run(&doubling(json!({})), json!({"items": []})).await.0.unwrap();
    assert_eq!(empty, json!({"results": [], "errors": []}));
}

#[tokio::test]
async fn a_thousand_items_run_only_so_many_at_a_time() {
    let world = World::new();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counts, peaks) = (now.clone(), most.clone());
    world.builtin.add("test", "busy", &["n"], move |args, _| {
        let (counts, peaks) = (counts.clone(), peaks.clone());
        async move {
            peaks.fetch_max(counts.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            counts.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolOutput::structured("", args["n"].clone()))
        }
    });
    let body = Draw::default()
        .node("b_start", json!({"node_type": "start", "inputs": [{"name": "item", "type": "int"}]}))
        .node("b_call", calls("busy", vec![refer("n", "int", "b_start", "item")]))
        .node("b_end", json!({"node_type": "end", "outputs": [refer("n", "int", "b_call", "structured")]}))
        .path(&["b_start", "b_call", "b_end"])
        .done();
    let each = json!({"node_type": "iteration", "parallelism": 8, "body": body,
                      "inputs": [refer("items", "array", "start", "items")]});
    let graph = Draw::new(&[("items", "array")])
        .node("each", each)
        .end(&[("results", "array", "each", "results")])
        .path(&["start", "each", "end"])
        .done();
    let items: Vec<u32> = (0..1000).collect();
    let got = world.run(&graph, json!({"items": items})).await.0.unwrap();
    let expected: Vec<Value> = items.iter().map(|n| json!({"n": n})).collect();
    assert_eq!(got["results"], json!(expected));
    assert_eq!(most.load(Ordering::SeqCst), 8);
    assert_eq!(world.assembler.assemblies.load(Ordering::SeqCst), 1);
}
