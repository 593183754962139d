//! Timeouts, retries, and what a failure means.

use crate::support::{Draw, World, around, calls, maybe, refer, says};
use domain::{CallContext, Entry, ToolError, ToolOutput};
use serde_json::{Value, json};
use source_workflow::{NodeStatus, RunStatus};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// A world with a tool `flaky` that fails in this way before it works, and the number of calls made.
fn flaky(failures: usize, error: ToolError) -> (World, Arc<AtomicUsize>) {
    let world = World::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    world.builtin.add("test", "flaky", &[], move |_, _| {
        let fails = counted.fetch_add(1, Ordering::SeqCst) < failures;
        let error = error.clone();
        async move { if fails { Err(error) } else { Ok(ToolOutput::text_of("worked")) } }
    });
    (world, calls)
}

fn node(policy: Value) -> Value {
    let mut node = calls("flaky", vec![]);
    for (key, value) in policy.as_object().unwrap() {
        node[key] = value.clone();
    }
    node
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_is_tried_again_as_often_as_the_node_says() {
    let unreachable = || ToolError::Unreachable { reason: "down".into() };
    let refused = || ToolError::InvalidArgs { violations: vec![] };
    let cases = [
        (2, unreachable(), 2, 3, true),
        (3, unreachable(), 2, 3, false),
        (1, refused(), 5, 1, false),
        (1, unreachable(), 0, 1, false),
    ];
    for (failures, error, times, made, works) in cases {
        let (world, calls) = flaky(failures, error);
        let policy = json!({"retry": {"times": times, "wait_ms": 1000}});
        let (outcome, told) = world.run(&around(node(policy), &[], ("text", "string")), json!({})).await;
        assert_eq!((calls.load(Ordering::SeqCst), outcome.is_ok()), (made, works));
        let attempts: Vec<u32> =
            told.nodes().iter().filter(|n| &*n.node_data.id == "x").map(|n| n.attempts).collect();
        assert_eq!(*attempts.last().unwrap() as usize, made);
        told.end();
    }
}

#[tokio::test]
async fn a_failure_may_become_default_outputs() {
    let (world, _) = flaky(9, ToolError::Blocked { reason: "no".into() });
    let policy = json!({"on_error": {"strategy": "default", "outputs": {"text": "instead"}}});
    let end = json!({"node_type": "end", "outputs": [refer("out", "string", "x", "text"),
                                                      maybe("why", "object", "x", "error")]});
    let graph = Draw::new(&[]).node("x", node(policy)).node("end", end).path(&["start", "x", "end"]).done();
    let (outcome, told) = world.run(&graph, json!({})).await;
    let got = outcome.unwrap();
    assert_eq!((&got["out"], &got["why"]["code"]), (&json!("instead"), &json!("blocked")));
    assert_eq!(told.with(NodeStatus::Failed), ["x"]);
    assert_eq!(told.end().status, RunStatus::Succeeded);
}

#[tokio::test]
async fn a_failure_may_lead_to_a_branch_of_its_own() {
    let policy = json!({"on_error": {"strategy": "branch"}});
    let explain = json!({"node_type": "template_transform", "template": "failed: {{ e.code }}",
                         "inputs": [refer("e", "object", "x", "error")]});
    let join = json!({"node_type": "variable_aggregation", "inputs": [
        refer("a", "string", "well", "output"), refer("b", "string", "badly", "output")]});
    let graph = Draw::new(&[])
        .node("x", node(policy))
        .node("well", says("well"))
        .node("badly", explain)
        .node("join", join)
        .end(&[("out", "string", "join", "output")])
        .path(&["start", "x", "well", "join", "end"])
        .edge("x", "badly", Some("error"))
        .path(&["badly", "join"])
        .done();
    for (failures, out, skipped) in [(0, "well", "badly"), (1, "failed: upstream", "well")] {
        let (world, _) = flaky(failures, ToolError::Upstream { status: 404, body: String::new() });
        let (outcome, told) = world.run(&graph, json!({})).await;
        assert_eq!(outcome.unwrap(), json!({"out": out}));
        assert_eq!(told.with(NodeStatus::Skipped), [skipped]);
    }
}

#[tokio::test]
async fn a_tool_that_reports_a_failure_fails_its_node_with_its_words() {
    let world = World::new();
    world.builtin.add("test", "flaky", &[], |_, _| async { Ok(ToolOutput::failed("no such city")) });
    let (outcome, told) = world.run(&around(node(json!({})), &[], ("text", "string")), json!({})).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("tool_error", Some("x")));
    assert!(error.message.contains("no such city"));
    assert_eq!(told.end().error.unwrap(), error);
}

#[tokio::test]
async fn a_tool_that_panics_or_hangs_ends_its_node_and_is_gone() {
    let world = World::new();
    world.builtin.add("test", "flaky", &[], |_, _| async { panic!("a tool of the test") });
    let error = world.run(&around(node(json!({})), &[], ("text", "string")), json!({})).await.0.unwrap_err();
    assert_eq!(error.code, "internal");

    let world = World::new();
    world.builtin.add("test", "flaky", &[], |_, _| std::future::pending());
    let graph = around(node(json!({"timeout_ms": 20})), &[], ("text", "string"));
    let (outcome, told) = world.run(&graph, json!({})).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("timeout", Some("x")));
    assert_eq!(told.with(NodeStatus::Failed), ["x"]);
    world.nothing_runs();
}

#[tokio::test]
async fn the_deadline_of_the_call_ends_the_run_and_names_a_node_that_was_running() {
    let world = World::new();
    world.builtin.add("test", "flaky", &[], |_, _| std::future::pending());
    let graph = Draw::new(&[])
        .node("x", node(json!({})))
        .node("code", json!({"node_type": "code", "code": "function main() { for (;;) {} }"}))
        .end(&[])
        .path(&["start", "x", "end"])
        .path(&["start", "code", "end"])
        .done();
    let cx = CallContext::new(world.account.clone(), Entry::Debug, "test", Duration::from_millis(50));
    let (outcome, told) = world.run_in(&graph, json!({}), &cx).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.code.as_str(), "timeout");
    // The code may have seen the deadline itself before the run did.
    assert!(matches!(error.node_id.as_deref(), Some("x" | "code")), "{error:?}");
    let cancelled = told.with(NodeStatus::Cancelled);
    assert!(cancelled.contains(&"x".to_owned()), "{cancelled:?}");
    assert_eq!(told.end().status, RunStatus::Failed);
    world.nothing_runs();
}

#[tokio::test]
async fn when_one_branch_fails_the_others_are_stopped() {
    let world = World::new();
    world.builtin.add("test", "flaky", &[], |_, _| std::future::pending());
    let failing = json!({"node_type": "code", "code": "function main() { throw new Error('no') }"});
    let graph = Draw::new(&[])
        .node("x", node(json!({})))
        .node("bad", failing)
        .end(&[])
        .path(&["start", "x", "end"])
        .path(&["start", "bad", "end"])
        .done();
    let (outcome, told) = world.run(&graph, json!({})).await;
    assert_eq!(outcome.unwrap_err().node_id.as_deref(), Some("bad"));
    assert_eq!(told.with(NodeStatus::Cancelled), ["x"]);
    told.end();
    world.nothing_runs();
}
