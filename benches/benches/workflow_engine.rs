//! The workflow engine's own cost: graphs whose nodes do nothing. The aim is under 50 µs a node.
//!
//! One iteration of `chain/200` and `fan_out/200` runs 202 nodes; divide by that for the cost of one.

#![expect(clippy::unwrap_used, reason = "a bench stops where it stands")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use domain::{AccountId, CallContext, Entry};
use serde_json::{Map, Value, json};
use source_workflow::{Engine, EngineDeps, Event, EventSink, LateAssembler, NoEvents, NoModels, Plan};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::runtime::{Builder, Runtime};

const NODES: usize = 200;

fn no_op(id: &str) -> Value {
    json!({"id": id, "title": id, "node_type": "variable_aggregation",
           "inputs": [{"name": "v", "type": "int", "value": {"type": "literal", "content": 1}}]})
}

fn graph(nodes: Vec<Value>, edges: &[(String, String)]) -> Plan {
    let mut all = vec![json!({"id": "start", "title": "start", "node_type": "start", "inputs": [
        {"name": "items", "type": "array", "required": false}]})];
    all.extend(nodes);
    all.push(json!({"id": "end", "title": "end", "node_type": "end"}));
    let edges: Vec<Value> = edges
        .iter()
        .map(|(from, to)| json!({"id": format!("{from}-{to}"), "source": from, "target": to}))
        .collect();
    Plan::of(&json!({"nodes": all, "edges": edges})).unwrap()
}

fn id(n: usize) -> String {
    match n {
        0 => "start".to_owned(),
        n if n == NODES + 1 => "end".to_owned(),
        n => format!("n{n}"),
    }
}

fn chain() -> Plan {
    let edges: Vec<_> = (0..=NODES).map(|n| (id(n), id(n + 1))).collect();
    graph((1..=NODES).map(|n| no_op(&id(n))).collect(), &edges)
}

fn fan_out() -> Plan {
    let edges: Vec<_> = (1..=NODES).flat_map(|n| [(id(0), id(n)), (id(n), id(NODES + 1))]).collect();
    graph((1..=NODES).map(|n| no_op(&id(n))).collect(), &edges)
}

/// An iteration whose body is one node that does nothing.
fn iteration() -> Plan {
    let body = json!({
        "nodes": [{"id": "bs", "title": "bs", "node_type": "start"}, no_op("bn"),
                  {"id": "be", "title": "be", "node_type": "end"}],
        "edges": [{"id": "1", "source": "bs", "target": "bn"}, {"id": "2", "source": "bn", "target": "be"}]});
    let each = json!({"id": "each", "title": "each", "node_type": "iteration", "parallelism": 8, "body": body,
        "inputs": [{"name": "items", "type": "array", "value": {"type": "ref",
                    "content": {"ref_node_id": "start", "ref_var_name": "items"}}}]});
    graph(vec![each], &[("start".into(), "each".into()), ("each".into(), "end".into())])
}

/// Keeps every event, as the record of a run does.
#[derive(Default)]
struct Kept(Mutex<Vec<Event>>);

impl EventSink for Kept {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

fn run(runtime: &Runtime, engine: &Engine, plan: &Plan, inputs: &Map<String, Value>, sink: &dyn EventSink) {
    let cx = CallContext::new(AccountId::generate(), Entry::Debug, "bench", Duration::from_secs(60));
    runtime.block_on(engine.run("run", plan, inputs, &cx, sink)).unwrap();
}

fn bench(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let engine = Engine::new(EngineDeps {
        assembler: LateAssembler::new(),
        models: Arc::new(NoModels),
        retriever: None,
        http: egress::Client::new(egress::Policy::strict()),
    });
    let nothing = Map::new();
    let items = json!({"items": (0..1000).collect::<Vec<u32>>()});
    let items = items.as_object().unwrap();
    let cases = [
        ("chain/200", chain(), &nothing, NODES + 2),
        ("fan_out/200", fan_out(), &nothing, NODES + 2),
        ("iteration/1000", iteration(), items, 3 * 1000 + 3),
    ];
    let mut group = criterion.benchmark_group("workflow");
    for (name, plan, inputs, nodes) in &cases {
        group.throughput(Throughput::Elements(*nodes as u64));
        group.bench_function(format!("{name}/quiet"), |b| {
            b.iter(|| run(&runtime, &engine, plan, inputs, &NoEvents));
        });
        group.bench_function(format!("{name}/events_kept"), |b| {
            b.iter_batched(
                Kept::default,
                |kept| run(&runtime, &engine, plan, inputs, &kept),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
