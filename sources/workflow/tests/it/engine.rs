//! What runs, in which order, with which values.

use crate::support::{Draw, World, around, calls, literal, maybe, refer, says};
use domain::{Content, ToolOutput};
use serde_json::{Value, json};
use source_workflow::{NodeStatus, RunLimits, RunStatus};
use std::sync::{Arc, atomic::Ordering};
use tokio::sync::Barrier;

#[tokio::test]
async fn values_flow_from_the_start_through_templates_and_code_to_the_end() {
    let code = json!({"node_type": "code", "language": "javascript",
        "code": "function main(i) { return {total: i.a + i.b, words: i.text.split(' ')} }",
        "inputs": [refer("a", "int", "start", "a"), literal("b", "int", json!(2)),
                   refer("text", "string", "say", "output")],
        "outputs": [{"name": "total", "type": "int"}, {"name": "words", "type": "array"}]});
    let say = json!({"node_type": "template_transform", "template": "{{ who }} counts",
                     "inputs": [refer("who", "string", "start", "who")]});
    let graph = Draw::new(&[("a", "int"), ("who", "string")])
        .node("say", say)
        .node("sum", code)
        .end(&[("total", "int", "sum", "total"), ("words", "array", "sum", "words")])
        .path(&["start", "say", "sum", "end"])
        .done();
    let (outcome, told) = World::new().run(&graph, json!({"a": 40, "who": "Ada"})).await;
    assert_eq!(outcome.unwrap(), json!({"total": 42, "words": ["Ada", "counts"]}));
    assert_eq!(told.end().status, RunStatus::Succeeded);
    assert_eq!(told.with(NodeStatus::Succeeded), ["start", "say", "sum", "end"]);
}

#[tokio::test]
async fn independent_branches_run_side_by_side_and_meet() {
    let world = World::new();
    // Each call waits for the other two: one after another they would never end.
    let all = Arc::new(Barrier::new(3));
    world.builtin.add("test", "meet", &["n"], move |args, _| {
        let all = all.clone();
        async move {
            all.wait().await;
            Ok(ToolOutput::structured("met", json!({"n": args["n"]})))
        }
    });
    let mut graph = Draw::new(&[]);
    for (id, n) in [("a", 1), ("b", 2), ("c", 3)] {
        graph =
            graph.node(id, calls("meet", vec![literal("n", "int", json!(n))])).path(&["start", id, "join"]);
    }
    let inputs = ["a", "b", "c"].map(|id| refer(id, "object", id, "structured"));
    let join = json!({"node_type": "variable_aggregation", "mode": "list", "inputs": inputs});
    let graph =
        graph.node("join", join).end(&[("all", "array", "join", "output")]).path(&["join", "end"]).done();
    let (outcome, _) = world.run(&graph, json!({})).await;
    assert_eq!(outcome.unwrap(), json!({"all": [{"n": 1}, {"n": 2}, {"n": 3}]}));
    assert_eq!(world.assembler.assemblies.load(Ordering::SeqCst), 1, "one assembly for all tool nodes");
}

fn forked() -> Value {
    let fork = json!({"node_type": "condition", "inputs": [refer("n", "int", "start", "n")],
        "branches": [{"name": "big", "tests": [{"input": "n", "operator": "gt", "value": 10}]}]});
    let first = json!({"node_type": "variable_aggregation", "inputs": [
        refer("b", "string", "big2", "output"), refer("s", "string", "small", "output")]});
    Draw::new(&[("n", "int")])
        .node("fork", fork)
        .node("big1", says("big1"))
        .node("big2", says("big2"))
        .node("small", says("small"))
        .node("always", says("always"))
        .node("join", first)
        .node(
            "end",
            json!({"node_type": "end", "outputs": [
            refer("got", "string", "join", "output"), maybe("big", "string", "big2", "output"),
            refer("branch", "string", "fork", "branch")]}),
        )
        .path(&["start", "fork"])
        .edge("fork", "big1", Some("big"))
        .edge("fork", "small", Some("else"))
        .path(&["big1", "big2", "join"])
        .path(&["small", "join", "end"])
        .path(&["start", "always", "join"])
        .done()
}

#[tokio::test]
async fn a_fork_follows_one_branch_and_what_is_behind_the_other_is_skipped() {
    let world = World::new();
    let (outcome, told) = world.run(&forked(), json!({"n": 11})).await;
    assert_eq!(outcome.unwrap(), json!({"got": "big2", "big": "big2", "branch": "big"}));
    assert_eq!(told.with(NodeStatus::Skipped), ["small"]);
    let (outcome, told) = world.run(&forked(), json!({"n": 3})).await;
    assert_eq!(outcome.unwrap(), json!({"got": "small", "big": "", "branch": "else"}));
    assert_eq!(told.with(NodeStatus::Skipped), ["big1", "big2"]);
    told.end();
}

#[tokio::test]
async fn the_same_inputs_give_the_same_run() {
    let world = World::new();
    let mut runs = Vec::new();
    for _ in 0..10 {
        let (outcome, told) = world.run(&forked(), json!({"n": 11})).await;
        let mut nodes: Vec<_> = told
            .nodes()
            .into_iter()
            .map(|n| (n.node_data.id.to_string(), format!("{:?}", n.status), n.inputs, n.outputs))
            .collect();
        nodes.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        runs.push((outcome.unwrap(), nodes));
    }
    assert!(runs.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn a_required_value_of_a_node_that_did_not_run_fails_the_node_that_needs_it() {
    let mut graph = forked();
    let end = graph["nodes"].as_array_mut().unwrap().last_mut().unwrap();
    end["outputs"][1]["required"] = json!(true);
    let (outcome, told) = World::new().run(&graph, json!({"n": 3})).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("missing_input", Some("end")));
    assert_eq!(told.end().error, Some(error));
}

#[tokio::test]
async fn a_tool_node_gives_text_structure_and_files() {
    let world = World::new();
    world.builtin.add("test", "all", &[], |_, _| async {
        let mut output = ToolOutput::structured("words", json!({"deep": {"list": [1, {"x": "y"}]}}));
        output.content.push(Content::image("AAAA", "image/png"));
        output.content.push(Content::link("https://a.example/b.pdf", "b", "application/pdf"));
        Ok(output)
    });
    let mut deep = refer("deep", "string", "x", "structured");
    deep["value"]["content"]["path"] = json!("/deep/list/1/x");
    let end = json!({"node_type": "end", "outputs": [
        refer("text", "string", "x", "text"), refer("whole", "object", "x", "structured"),
        refer("files", "array", "x", "files"), deep]});
    let graph =
        Draw::new(&[]).node("x", calls("all", vec![])).node("end", end).path(&["start", "x", "end"]).done();
    let got = world.run(&graph, json!({})).await.0.unwrap();
    assert_eq!(got["whole"], json!({"deep": {"list": [1, {"x": "y"}]}}));
    assert_eq!(got["deep"], "y");
    assert_eq!(got["files"][0]["uri"], "data:image/png;base64,AAAA");
    assert_eq!(got["files"][1]["mime_type"], "application/pdf");
    assert!(got["text"].as_str().unwrap().starts_with("words\n"));
}

#[tokio::test]
async fn a_tool_is_called_inside_the_workflow_with_its_depth_and_entry() {
    let world = World::new();
    world.builtin.add("test", "where", &[], |_, cx| async move {
        Ok(ToolOutput::text_of(format!("{:?} {}", cx.entry, cx.depth)))
    });
    let graph = around(calls("where", vec![]), &[], ("text", "string"));
    assert_eq!(world.run(&graph, json!({})).await.0.unwrap(), json!({"out": "Workflow 1"}));
}

#[tokio::test]
async fn a_reference_that_cannot_be_assembled_fails_its_node_and_no_other() {
    let world = World::new();
    let fork = json!({"node_type": "condition", "inputs": [refer("n", "int", "start", "n")],
        "branches": [{"name": "call", "tests": [{"input": "n", "operator": "gt", "value": 10}]}]});
    let graph = Draw::new(&[("n", "int")])
        .node("fork", fork)
        .node("gone", calls("gone", vec![]))
        .end(&[])
        .path(&["start", "fork"])
        .edge("fork", "gone", Some("call"))
        .edge("fork", "end", Some("else"))
        .path(&["gone", "end"])
        .done();
    assert!(world.run(&graph, json!({"n": 1})).await.0.is_ok());
    let error = world.run(&graph, json!({"n": 11})).await.0.unwrap_err();
    assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("tool_not_found", Some("gone")));
}

#[tokio::test]
async fn a_run_is_bounded_in_nodes_and_in_what_a_node_gives() {
    let world = World::with(|deps| deps, RunLimits { nodes: 2, ..RunLimits::default() });
    let graph = around(says("x"), &[], ("output", "string"));
    let (outcome, told) = world.run(&graph, json!({})).await;
    assert_eq!(outcome.unwrap_err().code, "too_many_nodes");
    assert_eq!(told.end().status, RunStatus::Failed);

    let world = World::with(|deps| deps, RunLimits { output_bytes: 10, ..RunLimits::default() });
    let graph = around(says("0123456789"), &[], ("output", "string"));
    let error = world.run(&graph, json!({})).await.0.unwrap_err();
    assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("too_large", Some("x")));
}
