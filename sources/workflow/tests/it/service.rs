//! Drafts, publishing, workflows as tools, and the records of runs.

use crate::support::{Draw, World, around, calls, literal, refer, says};
use domain::{
    AccountContext, AccountId, CallContext, Entry, ListRequest, ProblemCode, ToolError, ToolKind,
    ToolLister as _, ToolOutput, ToolRef,
    ports::{Assembler as _, Assembly},
};
use serde_json::{Value, json};
use source_workflow::{Event, GraphCode, NodeStatus, RunStatus, WorkflowError, WorkflowFields};
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

fn fields(name: &str, tool: &str) -> WorkflowFields {
    serde_json::from_value(json!({"name": name, "tool_call_name": tool, "description": "d"})).unwrap()
}

/// start(who: string) -> x -> end(greeting): a greeting in these words.
fn greeting(words: &str) -> Value {
    let node = json!({"node_type": "template_transform", "template": format!("{words} {{{{ who }}}}"),
                      "inputs": [refer("who", "string", "start", "who")]});
    Draw::default()
        .node(
            "start",
            json!({"node_type": "start", "inputs": [
            {"name": "who", "type": "string", "description": "whom to greet", "enum": ["Ada", "Bob"]},
            {"name": "loud", "type": "boolean", "required": false}]}),
        )
        .node("x", node)
        .end(&[("greeting", "string", "x", "output"), ("loud", "boolean", "start", "loud")])
        .path(&["start", "x", "end"])
        .done()
}

async fn call(world: &World, reference: ToolRef, args: Value) -> Result<ToolOutput, ToolError> {
    let account = AccountContext::new(world.account.clone());
    let set = world.assembler.assemble(Assembly::of(vec![reference]), &account).await;
    assert_eq!(set.problems(), []);
    let name = set.entries()[0].name.clone();
    set.invoke(&name, args, &world.cx()).await
}

fn tool(id: &str, name: &str) -> ToolRef {
    ToolRef::new(ToolKind::WorkflowTool, id, name)
}

#[tokio::test]
async fn names_are_legal_unique_and_kept_once_published() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    for bad in ["", "1a", "a-b", "a b", &"a".repeat(51)] {
        assert!(
            matches!(service.create(account, fields("n", bad)).await, Err(WorkflowError::Invalid { .. })),
            "{bad}"
        );
    }
    let one = service.create(account, fields("one", "one")).await.unwrap();
    let two = service.create(account, fields("two", "two")).await.unwrap();
    let taken = |result| matches!(result, Err(WorkflowError::NameTaken(name)) if name == "one");
    assert!(taken(service.create(account, fields("x", "one")).await));
    assert!(taken(service.update(account, &two.id, fields("x", "one")).await));
    service.create(&AccountId::generate(), fields("x", "one")).await.expect("another account's name is free");
    service
        .update(account, &one.id, fields("one", "uno"))
        .await
        .expect("a name may change before publishing");
    service.update(account, &two.id, fields("two", "one")).await.expect("the old name is free again");
    service.put_draft(account, &one.id, greeting("Hi")).await.unwrap();
    service.publish(account, &one.id).await.unwrap();
    let kept = service.update(account, &one.id, fields("one", "ein")).await;
    assert!(matches!(kept, Err(WorkflowError::NameKept(_))));
    assert_eq!(service.find(account, "uno").await.unwrap().id, one.id);
}

#[tokio::test]
async fn a_draft_may_be_wrong_and_only_a_valid_one_is_published() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    let id = service.create(account, fields("w", "w")).await.unwrap().id;
    let (draft, problems) =
        service.put_draft(account, &id, json!({"nodes": [{"x": 1}], "edges": []})).await.unwrap();
    assert_eq!((draft.graph["nodes"][0]["x"].as_u64(), problems[0].code), (Some(1), GraphCode::NodeInvalid));
    let refused = service.publish(account, &id).await;
    assert!(
        matches!(refused, Err(WorkflowError::Problems(problems)) if problems[0].code == GraphCode::NodeInvalid)
    );
    let shapeless = service.put_draft(account, &id, json!({"nodes": 1})).await;
    assert!(matches!(shapeless, Err(WorkflowError::Invalid { field: "nodes", .. })));
    let (_, problems) = service.put_draft(account, &id, greeting("Hi")).await.unwrap();
    assert_eq!(problems, []);
    let published = service.publish(account, &id).await.unwrap().published.unwrap();
    assert_eq!((published.version, published.annotations.read_only), (1, true));
    assert!(matches!(service.draft(account, "wf_none").await, Err(WorkflowError::NotFound(_))));
    assert!(matches!(service.draft(&AccountId::generate(), &id).await, Err(WorkflowError::NotFound(_))));
}

#[tokio::test]
async fn secrets_of_tools_are_sealed_where_a_draft_is_stored_and_masked_where_it_is_shown() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    world.builtin.add("test", "keyed", &[], |_, _| async { Ok(ToolOutput::text_of("x")) });
    let with = |secret: &str| {
        let mut node = calls("keyed", vec![]);
        node["tool"]["params"] = json!({"secret": secret, "size": 1});
        around(node, &[], ("text", "string"))
    };
    let id = world.drafted("w", &with("s3cret")).await;
    let shown = service.draft(account, &id).await.unwrap().graph;
    assert_eq!(shown["nodes"][1]["tool"]["params"], json!({"secret": "********", "size": 1}));
    // What the engine gets is what is stored, and a masked value that comes back changes nothing of it.
    let (ran, _) = service.debug(account, &id, json!({}), &world.cx()).await.unwrap();
    assert_eq!(ran.graph["nodes"][1]["tool"]["params"]["secret"], "<s3cret>");
    service.put_draft(account, &id, shown).await.unwrap();
    let (ran, _) = service.debug(account, &id, json!({}), &world.cx()).await.unwrap();
    assert_eq!(ran.graph["nodes"][1]["tool"]["params"]["secret"], "<s3cret>");
    service.put_draft(account, &id, with("other")).await.unwrap();
    let (ran, _) = service.debug(account, &id, json!({}), &world.cx()).await.unwrap();
    assert_eq!(ran.graph["nodes"][1]["tool"]["params"]["secret"], "<other>");
    assert_eq!(service.validate(account, &id, None).await.unwrap(), []);
}

#[tokio::test]
async fn a_published_workflow_is_a_tool_with_schemas_from_its_start_and_end() {
    let world = World::new();
    let id = world.published("greet", &greeting("Hi")).await;
    let account = AccountContext::new(world.account.clone());
    let set = world.assembler.assemble(Assembly::of(vec![tool(&id, "greet")]), &account).await;
    let spec = set.entries()[0].spec();
    assert_eq!((set.entries()[0].name.as_str(), spec.origin.revision), ("greet", 1));
    insta::assert_json_snapshot!(spec.args_schema);
    insta::assert_json_snapshot!(spec.output_schema);
    let output = set.invoke("greet", json!({"who": "Ada"}), &world.cx()).await.unwrap();
    assert_eq!(output.structured, Some(json!({"greeting": "Hi Ada", "loud": false})));
    assert_eq!(output.text(), r#"{"greeting":"Hi Ada","loud":false}"#);
    let refused = set.invoke("greet", json!({"who": "Eve"}), &world.cx()).await;
    assert!(matches!(refused, Err(ToolError::InvalidArgs { .. })));
    let listed =
        world.source.list(&account, &ListRequest { q: None, limit: 10, cursor: None }).await.unwrap();
    assert_eq!(listed.items[0].reference, tool(&id, "greet"));
}

#[tokio::test]
async fn references_resolve_to_what_is_published_now_and_runs_keep_what_they_began_with() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    let go = Arc::new(Notify::new());
    let (began, waits) = (Arc::new(Notify::new()), go.clone());
    let tells = began.clone();
    world.builtin.add("test", "wait", &[], move |_, _| {
        let (waits, tells) = (waits.clone(), tells.clone());
        async move {
            tells.notify_one();
            waits.notified().await;
            Ok(ToolOutput::text_of("one"))
        }
    });
    let id = world.published("w", &around(calls("wait", vec![]), &[], ("text", "string"))).await;
    let mut running = service.run(account, &id, json!({}), &world.cx()).await.unwrap();
    began.notified().await;
    service.put_draft(account, &id, around(says("two"), &[], ("output", "string"))).await.unwrap();
    assert_eq!(service.publish(account, &id).await.unwrap().published.unwrap().version, 2);
    assert_eq!(call(&world, tool(&id, "w"), json!({})).await.unwrap().text(), "two");
    go.notify_one();
    assert_eq!(running.output().await.unwrap().text(), "one");
    let (runs, _) = service.runs(account, &id, 10, None).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.version).collect::<Vec<_>>(), [Some(2), Some(1)]);

    service.unpublish(account, &id).await.unwrap();
    let cx = AccountContext::new(account.clone());
    let refs = [("x", "w"), (&*id, "other"), (&*id, "w"), (&*id, "")].map(|(id, name)| tool(id, name));
    let set = world.assembler.assemble(Assembly::of(refs.to_vec()), &cx).await;
    let codes: Vec<_> = set.problems().iter().map(|p| p.code).collect();
    let expected = [
        ProblemCode::ProviderNotFound,
        ProblemCode::ToolNotFound,
        ProblemCode::Disabled,
        ProblemCode::Disabled,
    ];
    assert_eq!(codes, expected);
    assert!(matches!(
        service.run(account, &id, json!({}), &world.cx()).await,
        Err(WorkflowError::NotPublished(_))
    ));
    service.publish(account, &id).await.unwrap();
    assert_eq!(call(&world, tool(&id, ""), json!({})).await.unwrap().text(), "two");
}

/// A workflow that calls a workflow.
fn calling(id: &str, name: &str) -> Value {
    let node = json!({"node_type": "tool", "inputs": [literal("who", "string", json!("Ada"))],
        "tool": {"type": "workflow_tool", "provider_id": id, "tool_id": name, "params": {}}});
    around(node, &[], ("structured", "object"))
}

fn calling_plain(id: &str, name: &str) -> Value {
    let mut graph = calling(id, name);
    graph["nodes"][1]["inputs"] = json!([]);
    graph
}

#[tokio::test]
async fn structure_survives_a_workflow_in_a_workflow() {
    let world = World::new();
    let inner = world.published("inner", &greeting("Hi")).await;
    let outer = world.published("outer", &calling(&inner, "inner")).await;
    let output = call(&world, tool(&outer, "outer"), json!({})).await.unwrap();
    assert_eq!(output.structured, Some(json!({"out": {"greeting": "Hi Ada", "loud": false}})));
    let (inner_runs, _) = world.service.runs(&world.account, &inner, 10, None).await.unwrap();
    assert_eq!(inner_runs, [], "an inner run is a node of the outer one's record");
}

#[tokio::test]
async fn a_circle_is_refused_at_publishing_and_at_run_time() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    let plain = around(says("x"), &[], ("output", "string"));
    let a = world.published("a", &plain).await;
    let b = world.published("b", &calling_plain(&a, "a")).await;
    let (_, problems) = service.put_draft(account, &a, calling_plain(&b, "b")).await.unwrap();
    assert_eq!((problems[0].code, problems[0].node_id.as_deref()), (GraphCode::WorkflowCycle, Some("x")));
    assert!(matches!(service.publish(account, &a).await, Err(WorkflowError::Problems(_))));
    // The draft can be run all the same, and is stopped where it would come back to itself.
    let (_, mut run) = service.debug(account, &a, json!({}), &world.cx()).await.unwrap();
    let output = run.output().await.unwrap();
    assert!(output.is_error && output.text().contains("would run inside itself"), "{}", output.text());
}

#[tokio::test]
async fn workflows_are_nested_only_so_deep() {
    let world = World::new();
    let mut last = world.published("w0", &around(says("x"), &[], ("output", "string"))).await;
    for n in 1..5 {
        let graph = calling_plain(&last, &format!("w{}", n - 1));
        last = world.published(&format!("w{n}"), &graph).await;
    }
    assert!(!call(&world, tool(&last, "w4"), json!({})).await.unwrap().is_error, "five levels are allowed");
    let graph = calling_plain(&last, "w4");
    let sixth = world.drafted("w5", &graph).await;
    let problems = world.service.validate(&world.account, &sixth, Some(graph)).await.unwrap();
    assert_eq!(problems[0].code, GraphCode::WorkflowTooDeep);
    let (_, mut run) = world.service.debug(&world.account, &sixth, json!({}), &world.cx()).await.unwrap();
    assert!(run.output().await.unwrap().text().contains("nested more than 5 deep"));
}

#[tokio::test]
async fn a_debug_run_tells_each_node_and_its_end_and_is_recorded() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    let id = world.drafted("w", &greeting("Hi")).await;
    let invalid = service.debug(account, &id, json!({"who": 5}), &world.cx()).await;
    assert!(matches!(invalid, Err(WorkflowError::InvalidInputs(_))));
    let (draft, mut run) = service.debug(account, &id, json!({"who": "Ada"}), &world.cx()).await.unwrap();
    let (mut nodes, mut end) = (0, None);
    while let Some(event) = run.next_event().await {
        match &event {
            Event::Node(_) => nodes += 1,
            Event::End(told) => {
                service.debugged(account, &id, &draft, &event).await.unwrap();
                end = Some(told.clone());
            }
        }
    }
    assert_eq!((nodes, end.unwrap().status), (6, RunStatus::Succeeded));
    run.output().await.unwrap();
    let record = service.run_record(account, &id, &run.run_id).await.unwrap();
    assert_eq!((record.status, record.version, record.nodes.len()), (RunStatus::Succeeded, None, 3));
    assert_eq!(record.outputs.unwrap()["greeting"], "Hi Ada");
    assert!(service.draft(account, &id).await.unwrap().debug_passed);

    let mut moved = greeting("Hi");
    moved["nodes"][0]["position"] = json!({"x": 1, "y": 2});
    assert!(service.put_draft(account, &id, moved).await.unwrap().0.debug_passed);
    assert!(!service.put_draft(account, &id, greeting("Ho")).await.unwrap().0.debug_passed);
}

#[tokio::test]
async fn dropping_a_run_stops_it_and_its_record_is_finished() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    let began = Arc::new(Notify::new());
    let tells = began.clone();
    world.builtin.add("test", "hang", &[], move |_, _| {
        tells.notify_one();
        std::future::pending()
    });
    let id = world.published("w", &around(calls("hang", vec![]), &[], ("text", "string"))).await;

    let mut run = service.run(account, &id, json!({}), &world.cx()).await.unwrap();
    tokio::select! { biased; _ = run.output() => panic!("it hangs"), () = began.notified() => {} }
    drop(run);
    assert_stopped(&world, &id, 1).await;

    let run = call(&world, tool(&id, "w"), json!({}));
    tokio::select! { biased; _ = run => panic!("it hangs"), () = began.notified() => {} }
    assert_stopped(&world, &id, 2).await;
}

/// Waits until `count` runs are recorded and none goes on, and looks at the latest.
async fn assert_stopped(world: &World, id: &str, count: usize) {
    let (service, account) = (&world.service, &world.account);
    let latest = loop {
        let (runs, _) = service.runs(account, id, 10, None).await.unwrap();
        if runs.len() == count && runs.iter().all(|run| run.status != RunStatus::Running) {
            break runs[0].id.clone();
        }
        tokio::task::yield_now().await;
    };
    let record = service.run_record(account, id, &latest).await.unwrap();
    assert_eq!(record.status, RunStatus::Cancelled);
    assert_eq!(record.error.unwrap().node_id.as_deref(), Some("x"));
    assert_eq!(record.nodes[1].status, NodeStatus::Cancelled);
    world.nothing_runs();
}

#[tokio::test]
async fn what_stops_a_run_from_outside_is_an_error_and_what_fails_inside_a_result() {
    let world = World::new();
    world.builtin.add("test", "hang", &[], |_, _| std::future::pending());
    let id = world.published("w", &around(calls("hang", vec![]), &[], ("text", "string"))).await;
    let cx = CallContext::new(world.account.clone(), Entry::Api, "t", Duration::from_millis(30));
    let mut run = world.service.run(&world.account, &id, json!({}), &cx).await.unwrap();
    assert!(matches!(run.output().await, Err(ToolError::Timeout { .. })));
    world.nothing_runs();

    let failing = json!({"node_type": "code", "code": "function main() { throw new Error('no') }",
                         "outputs": [{"name": "v", "type": "int"}]});
    let id = world.published("f", &around(failing, &[], ("v", "int"))).await;
    let output = call(&world, tool(&id, "f"), json!({})).await.unwrap();
    assert!(output.is_error && output.text().contains("`x`"), "{}", output.text());
    let error = &output.structured.unwrap()["error"];
    assert_eq!((&error["code"], &error["node_id"]), (&json!("code_failed"), &json!("x")));
}

#[tokio::test]
async fn runs_are_listed_latest_first_a_page_at_a_time_and_go_with_their_workflow() {
    let world = World::new();
    let (service, account) = (&world.service, &world.account);
    let id = world.published("w", &greeting("Hi")).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let mut run = service.run(account, &id, json!({"who": "Bob"}), &world.cx()).await.unwrap();
        run.output().await.unwrap();
        ids.push(run.run_id.clone());
    }
    ids.reverse();
    let (first, cursor) = service.runs(account, &id, 2, None).await.unwrap();
    let (rest, none) = service.runs(account, &id, 2, cursor).await.unwrap();
    let listed: Vec<_> = first.iter().chain(&rest).map(|run| run.id.clone()).collect();
    assert_eq!((listed, none), (ids.clone(), None));
    assert!(first[0].nodes.is_empty());
    service.delete(account, &id).await.unwrap();
    assert!(matches!(service.run_record(account, &id, &ids[0]).await, Err(WorkflowError::NotFound(_))));
    assert!(matches!(service.get(account, &id).await, Err(WorkflowError::NotFound(_))));
    service.create(account, fields("w", "w")).await.expect("the name is free again");
}

#[tokio::test]
async fn a_graph_is_drawn_as_a_flowchart() {
    let fork = json!({"node_type": "condition", "title": "Is it \"big\" <b>?", "inputs": [refer("n", "int", "start", "n")],
        "branches": [{"name": "big", "tests": [{"input": "n", "operator": "gt", "value": 1}]}]});
    let body = Draw::new(&[]).end(&[]).path(&["start", "end"]).done();
    let graph = Draw::new(&[("n", "int")])
        .node("fork", fork)
        .node("each", json!({"node_type": "iteration", "body": body}))
        .end(&[])
        .path(&["start", "fork"])
        .edge("fork", "each", Some("big"))
        .edge("fork", "end", Some("else"))
        .path(&["each", "end"])
        .done();
    let world = World::new();
    let id = world.drafted("w", &graph).await;
    insta::assert_snapshot!(world.service.mermaid(&world.account, &id).await.unwrap());
}
