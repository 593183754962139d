//! Assembling toolsets from a warm store, and what the road adds to a call.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on stops")]

use benches::World;
use criterion::{Criterion, criterion_group, criterion_main};
use domain::{
    CallContext, Entry, ToolKind, ToolRef,
    ports::{Assembler as _, Assembly},
};
use serde_json::json;
use std::{hint::black_box, time::Duration};
use tokio::runtime::Runtime;

fn assemble(c: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be started");
    let world = runtime.block_on(World::new()).expect("the world can be made");
    for count in [10, 100, 250] {
        let refs = world.refs(count);
        // The first assembly fills the caches.
        let set = runtime.block_on(world.assembler.assemble(Assembly::of(refs.clone()), &world.cx));
        let tools = set.entries().len();
        c.bench_function(&format!("assemble {count} references ({tools} tools)"), |b| {
            b.to_async(&runtime).iter(|| async {
                black_box(world.assembler.assemble(Assembly::of(refs.clone()), &world.cx).await)
            });
        });
    }
}

fn invoke(c: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be started");
    let world = runtime.block_on(World::new()).expect("the world can be made");
    let reference = ToolRef::new(ToolKind::BuiltinTool, "time", "current_time");
    let set = runtime.block_on(world.assembler.assemble(Assembly::of(vec![reference]), &world.cx));
    let cx = CallContext::new(world.cx.account.clone(), Entry::Api, "bench", Duration::from_hours(1));
    let args = json!({"timezone": "Asia/Shanghai"});
    c.bench_function("the tool alone", |b| {
        let tool = &set.entries()[0].tool;
        b.to_async(&runtime).iter(|| async { black_box(tool.call(args.clone(), &cx).await) });
    });
    c.bench_function("the tool through the road", |b| {
        b.to_async(&runtime)
            .iter(|| async { black_box(set.invoke("current_time", args.clone(), &cx).await) });
    });
}

criterion_group!(benches, assemble, invoke);
criterion_main!(benches);
