//! Stopping a run wherever it stands: by its token, and by dropping its future, at every event.

use crate::support::{Draw, Told, World, calls, literal, refer, says};
use domain::ToolOutput;
use serde_json::{Value, json};
use source_workflow::{Event, EventSink, NodeStatus, Plan, RunStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A graph with an await point of every kind that needs nothing from outside.
fn varied() -> Value {
    let body = Draw::default()
        .node("b_start", json!({"node_type": "start", "inputs": [{"name": "item", "type": "int"}]}))
        .node("b_call", calls("slow", vec![refer("n", "int", "b_start", "item")]))
        .node("b_end", json!({"node_type": "end", "outputs": [refer("t", "string", "b_call", "text")]}))
        .path(&["b_start", "b_call", "b_end"])
        .done();
    let each = json!({"node_type": "iteration", "body": body, "parallelism": 2,
                      "inputs": [literal("items", "array", json!([1, 2, 3]))]});
    let code = json!({"node_type": "code", "code": "function main() { return {v: 1} }",
                      "outputs": [{"name": "v", "type": "int"}]});
    Draw::new(&[])
        .node("say", says("{% for i in range(50) %}{{ i }}{% endfor %}"))
        .node("code", code)
        .node("call", calls("slow", vec![literal("n", "int", json!(0))]))
        .node("each", each)
        .end(&[("r", "array", "each", "results")])
        .path(&["start", "say", "each", "end"])
        .path(&["start", "code", "end"])
        .path(&["start", "call", "end"])
        .done()
}

fn world() -> World {
    let world = World::new();
    world.builtin.add("test", "slow", &["n"], |_, _| async {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        Ok(ToolOutput::text_of("slow"))
    });
    world
}

/// Does something at the `n`th event, and keeps them all.
struct At<F: Fn() + Send + Sync> {
    n: usize,
    seen: AtomicUsize,
    told: Told,
    act: F,
}

impl<F: Fn() + Send + Sync> EventSink for At<F> {
    fn emit(&self, event: Event) {
        self.told.emit(event);
        if self.seen.fetch_add(1, Ordering::SeqCst) == self.n {
            (self.act)();
        }
    }
}

#[tokio::test]
async fn a_run_can_be_stopped_at_every_event() {
    let world = world();
    let plan = Plan::of(&varied()).unwrap();
    let whole = world.run(&varied(), json!({})).await.1.0.lock().unwrap().len();
    assert!(whole > 20, "{whole}");
    for n in 0..whole {
        let mut cx = world.cx();
        cx.cancel = CancellationToken::new();
        let sink = At { n, seen: AtomicUsize::new(0), told: Told::default(), act: || cx.cancel.cancel() };
        let inputs = serde_json::Map::new();
        let outcome = world.engine.run("run", &plan, &inputs, &cx, &sink).await;
        let end = sink.told.end();
        match outcome {
            Ok(_) => assert_eq!(end.status, RunStatus::Succeeded),
            Err(error) => {
                assert_eq!(
                    (end.status, error.code.as_str()),
                    (RunStatus::Cancelled, "cancelled"),
                    "event {n}"
                );
                assert!(n + 1 < whole);
            }
        }
        world.nothing_runs();
    }
}

#[tokio::test]
async fn a_run_whose_future_is_dropped_at_any_event_still_tells_its_end() {
    let world = world();
    let plan = Plan::of(&varied()).unwrap();
    let whole = world.run(&varied(), json!({})).await.1.0.lock().unwrap().len();
    for n in 0..whole - 1 {
        let now = Notify::new();
        let cx = world.cx();
        let sink = At { n, seen: AtomicUsize::new(0), told: Told::default(), act: || now.notify_one() };
        let inputs = serde_json::Map::new();
        let dropped = {
            let run = world.engine.run("run", &plan, &inputs, &cx, &sink);
            tokio::select! { biased; () = now.notified() => true, _ = run => false }
        };
        let end = sink.told.end();
        if dropped {
            assert_eq!(end.status, RunStatus::Cancelled, "event {n}");
            let ended = sink.told.nodes().iter().filter(|e| e.status != NodeStatus::Running).count();
            assert!(ended > 0);
        }
        world.nothing_runs();
    }
}
