//! Every rule, by its code, the node and the field it names.

use crate::support::{Draw, World, around, calls, literal, refer, says};
use domain::ToolOutput;
use serde_json::{Value, json};
use source_workflow::{GraphCode, validate};
use std::collections::BTreeSet;

/// A valid graph: start(n: int) -> x -> end.
fn valid() -> Value {
    let node = json!({"node_type": "template_transform", "template": "{{ n }}",
                      "inputs": [refer("n", "int", "start", "n")]});
    around(node, &[("n", "int")], ("output", "string"))
}

fn set(pointer: &str, value: Value) -> Value {
    let mut graph = valid();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match graph.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.insert(key.to_owned(), value)),
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    graph
}

/// A valid graph whose middle node is this one.
fn with(node: Value) -> Value {
    let mut node = node;
    node["id"] = json!("x");
    node["title"] = json!("x");
    let mut graph = set("/nodes/1", node);
    graph["nodes"][2]["outputs"] = json!([]);
    graph
}

fn template(source: &str, inputs: &[Value]) -> Value {
    with(json!({"node_type": "template_transform", "template": source, "inputs": inputs}))
}

fn http(fields: Value) -> Value {
    let mut node = json!({"node_type": "http_request", "url": "https://a.example/x", "method": "get"});
    for (key, value) in fields.as_object().unwrap() {
        node[key] = value.clone();
    }
    with(node)
}

fn at(place: &str, name: &str, kind: &str) -> Value {
    let value = if kind == "int" { json!(1) } else { json!("v") };
    let mut variable = literal(name, kind, value);
    variable["meta"] = json!({"type": place});
    variable
}

fn condition(branches: Value) -> Value {
    let mut graph = with(json!({"node_type": "condition", "inputs": [refer("n", "int", "start", "n")],
                                "branches": branches}));
    graph["edges"] = Draw::default()
        .path(&["start", "x"])
        .edge("x", "end", Some("b"))
        .edge("x", "end", Some("else"))
        .done()["edges"]
        .take();
    graph
}

fn test_of(input: &str) -> Value {
    json!([{"name": "b", "tests": [{"input": input, "operator": "eq", "value": 1}]}])
}

fn intents(intents: Value, inputs: Value) -> Value {
    let mut graph = with(json!({"node_type": "intent_classifier", "model": {"id": "m"}, "intents": intents,
                                "inputs": inputs}));
    graph["edges"][1]["condition"] = json!("a");
    graph
}

fn iteration(inputs: Value, body_takes: Value, parallelism: usize) -> Value {
    let body = Draw::default()
        .node("bs", json!({"node_type": "start", "inputs": body_takes}))
        .node("be", json!({"node_type": "end", "outputs": []}))
        .path(&["bs", "be"])
        .done();
    with(json!({"node_type": "iteration", "inputs": inputs, "body": body, "parallelism": parallelism}))
}

fn items() -> Value {
    json!([literal("items", "array", json!([1]))])
}

fn extra_node(id: &str) -> Value {
    let mut node = says("t");
    node["id"] = json!(id);
    node["title"] = json!(id);
    node
}

/// The valid graph with one more node, reached by these edges.
fn beside(edges: &[(&str, &str)]) -> Value {
    let mut graph = set("/nodes/-", extra_node("y"));
    for (i, (from, to)) in edges.iter().enumerate() {
        let edge = json!({"id": format!("more{i}"), "source": from, "target": to});
        graph["edges"].as_array_mut().unwrap().push(edge);
    }
    graph
}

fn edge(field: &str, value: Value) -> Value {
    set(&format!("/edges/1/{field}"), value)
}

fn on_error(policy: Value) -> Value {
    set("/nodes/1/on_error", policy)
}

type Case = (GraphCode, Option<&'static str>, Option<&'static str>, Value);

#[rustfmt::skip]
fn shapes() -> Vec<Case> {
    use GraphCode as C;
    let many: Vec<Value> = (0..501).map(|i| extra_node(&format!("n{i}"))).collect();
    let (x, y, end, start) = (Some("x"), Some("y"), Some("end"), Some("start"));
    vec![
        (C::GraphShape, None, Some("nodes"), json!({"edges": []})),
        (C::GraphShape, None, Some("version"), set("/version", json!(2))),
        (C::GraphEmpty, None, Some("nodes"), json!({"nodes": [], "edges": []})),
        (C::GraphEmpty, None, Some("edges"), set("/edges", json!([]))),
        (C::GraphTooLarge, None, Some("nodes"), set("/nodes", json!(many))),
        (C::NodeInvalid, x, Some("template"), with(json!({"node_type": "template_transform"}))),
        (C::NodeInvalid, x, Some("tempalte"), with(json!({"node_type": "template_transform", "template": "", "tempalte": ""}))),
        (C::NodeInvalid, x, Some("inputs[0].type"), template("", &[json!({"name": "a", "type": "date"})])),
        (C::NodeTypeUnknown, x, Some("node_type"), with(json!({"node_type": "teleport"}))),
        (C::NodeId, Some("a b"), Some("id"), set("/nodes/-", extra_node("a b"))),
        (C::NodeIdDuplicate, x, Some("id"), set("/nodes/-", extra_node("x"))),
        (C::NodeTitle, x, Some("title"), set("/nodes/1/title", json!("  "))),
        (C::NodeTitleDuplicate, x, Some("title"), set("/nodes/1/title", json!(" start "))),
        (C::StartCount, None, Some("nodes"), set("/nodes/0", json!({"id": "start", "title": "start", "node_type": "end"}))),
        (C::EndCount, Some("y"), Some("node_type"), set("/nodes/-", json!({"id": "y", "title": "y", "node_type": "end"}))),
        (C::EdgeInvalid, None, Some("target"), set("/edges/0", json!({"id": "e", "source": "start"}))),
        (C::EdgeIdDuplicate, x, Some("id"), edge("id", json!("e0"))),
        (C::EdgeEndpoint, x, Some("target"), edge("target", json!("nowhere"))),
        (C::EdgeTypeMismatch, x, Some("source_type"), edge("source_type", json!("code"))),
        (C::EdgeDuplicate, x, Some("target"), set("/edges/-", json!({"id": "e9", "source": "x", "target": "end"}))),
        (C::StartNotSoleEntry, y, None, beside(&[("y", "end")])),
        (C::StartNotSoleEntry, start, None, beside(&[("start", "y"), ("y", "start")])),
        (C::EndNotSoleExit, y, None, beside(&[("start", "y")])),
        (C::EndNotSoleExit, end, None, beside(&[("end", "y"), ("y", "x")])),
        (C::Unreachable, y, None, beside(&[("y", "y"), ("y", "end")])),
        (C::Cycle, y, None, beside(&[("x", "y"), ("y", "x")])),
        (C::ConditionUnexpected, x, Some("condition"), edge("condition", json!("b"))),
        (C::ConditionUnknown, x, Some("condition"), condition(json!([{"name": "c", "tests": [{"input": "n", "operator": "is_empty"}]}]))),
        (C::ConditionMissing, x, Some("condition"), with(json!({"node_type": "condition", "inputs": [refer("n", "int", "start", "n")], "branches": test_of("n")}))),
        (C::BranchUnconnected, x, None, on_error(json!({"strategy": "branch"}))),
    ]
}

#[rustfmt::skip]
fn values() -> Vec<Case> {
    use GraphCode as C;
    let x = Some("x");
    let named = |name: &str| template("", &[literal(name, "int", json!(1))]);
    let mut path = refer("n", "int", "start", "n");
    path["value"]["content"]["path"] = json!("a");
    let mut listed = literal("a", "int", json!(1));
    listed["enum"] = json!(["one"]);
    let mut shaped = literal("a", "array", json!([]));
    shaped["schema"] = json!({"items": {"type": "strin"}});
    vec![
        (C::VariableName, x, Some("inputs.1a"), named("1a")),
        (C::VariableName, x, Some("inputs."), named("")),
        (C::VariableDuplicate, x, Some("inputs.a"), template("", &[literal("a", "int", json!(1)), literal("a", "int", json!(1))])),
        (C::VariableSchema, x, Some("inputs.a"), template("", &[listed])),
        (C::VariableSchema, x, Some("inputs.a"), template("", &[shaped])),
        (C::ValueMissing, x, Some("inputs.a.value"), template("", &[json!({"name": "a", "type": "int"})])),
        (C::ValueMissing, x, Some("inputs.a.value"), template("", &[literal("a", "int", Value::Null)])),
        (C::LiteralType, x, Some("inputs.a.value"), template("", &[literal("a", "int", json!("1"))])),
        (C::LiteralType, x, Some("inputs.a.value"), template("", &[literal("a", "string", json!(1))])),
        (C::LiteralType, x, Some("inputs.a.value"), template("", &[literal("a", "file", json!({"name": "n"}))])),
        (C::RefNotAncestor, x, Some("inputs.a.value"), template("", &[refer("a", "int", "end", "n")])),
        (C::RefNotAncestor, x, Some("inputs.a.value"), template("", &[refer("a", "int", "x", "output")])),
        (C::RefNotAncestor, Some("start"), Some("inputs.a.value"), set("/nodes/0/inputs/-", refer("a", "int", "x", "output"))),
        (C::RefUnknownVariable, x, Some("inputs.a.value"), template("", &[refer("a", "int", "start", "m")])),
        (C::RefUnknownVariable, x, Some("inputs.a.value"), template("", &[refer("a", "object", "start", "error")])),
        (C::RefTypeMismatch, x, Some("inputs.a.value"), template("", &[refer("a", "string", "start", "n")])),
        (C::RefTypeMismatch, Some("end"), Some("outputs.out.value"), set("/nodes/2/outputs/0/type", json!("int"))),
        (C::RefPath, x, Some("inputs.n.value"), template("", &[path])),
        (C::PolicyInvalid, x, Some("timeout_ms"), set("/nodes/1/timeout_ms", json!(0))),
        (C::PolicyInvalid, x, Some("retry.times"), set("/nodes/1/retry", json!({"times": 11}))),
        (C::PolicyInvalid, x, Some("on_error.outputs.oops"), on_error(json!({"strategy": "default", "outputs": {"oops": 1}}))),
        (C::PolicyInvalid, x, Some("on_error.outputs.output"), on_error(json!({"strategy": "default", "outputs": {"output": 1}}))),
        (C::PolicyInvalid, Some("start"), Some("on_error"), set("/nodes/0/timeout_ms", json!(5))),
    ]
}

#[rustfmt::skip]
fn kinds() -> Vec<Case> {
    use GraphCode as C;
    let x = Some("x");
    let query = json!([literal("query", "string", json!("q"))]);
    let retrieval = |ids: Value, inputs: Value| with(json!({"node_type": "dataset_retrieval", "dataset_ids": ids, "inputs": inputs}));
    let code = |code: &str| with(json!({"node_type": "code", "code": code}));
    vec![
        (C::TemplateInvalid, x, Some("template"), template("{% if %}", &[])),
        (C::TemplateInvalid, x, Some("template"), template("{% include 'x' %}", &[])),
        (C::TemplateUnknownName, x, Some("template"), template("{{ m }}", &[])),
        (C::TemplateUnknownName, x, Some("system_prompt"), with(json!({"node_type": "llm", "model": {"id": "m"}, "prompt": "", "system_prompt": "{{ m }}"}))),
        (C::ModelInvalid, x, Some("model.id"), with(json!({"node_type": "llm", "model": {"id": ""}, "prompt": ""}))),
        (C::CodeInvalid, x, Some("code"), code("function main(")),
        (C::CodeInvalid, x, Some("code"), code("for (;;) {}")),
        (C::CodeInvalid, x, Some("code"), code("function other() {}")),
        (C::HttpInvalid, x, Some("url"), http(json!({"url": "file:///etc/passwd"}))),
        (C::HttpInvalid, x, Some("url"), http(json!({"url": "https://{host}/x", "inputs": [at("path", "host", "string")]}))),
        (C::HttpInvalid, x, Some("url"), http(json!({"url": "https://a.example/{id}"}))),
        (C::HttpInvalid, x, Some("url"), http(json!({"inputs": [at("path", "id", "string")]}))),
        (C::HttpInvalid, x, Some("inputs.a.meta.type"), http(json!({"inputs": [at("cookies", "a", "string")]}))),
        (C::HttpInvalid, x, Some("inputs.host.meta.type"), http(json!({"inputs": [at("headers", "host", "string")]}))),
        (C::HttpInvalid, x, Some("method"), http(json!({"inputs": [at("body", "a", "string")]}))),
        (C::HttpInvalid, x, Some("body_type"), http(json!({"method": "post", "body_type": "raw", "inputs": [at("body", "a", "int")]}))),
        (C::ConditionInvalid, x, Some("branches.b.tests"), condition(test_of("m"))),
        (C::ConditionInvalid, x, Some("branches.b.tests"), condition(json!([{"name": "b", "tests": []}]))),
        (C::ConditionInvalid, x, Some("branches"), condition(json!([{"name": "else", "tests": [{"input": "n", "operator": "eq"}]}]))),
        (C::ConditionInvalid, x, Some("branches"), condition(json!([]))),
        (C::IntentsInvalid, x, Some("intents"), intents(json!([]), query.clone())),
        (C::IntentsInvalid, x, Some("intents"), intents(json!([{"name": "a"}, {"name": "a"}]), query.clone())),
        (C::QueryInput, x, Some("inputs"), intents(json!([{"name": "a"}]), json!([]))),
        (C::QueryInput, x, Some("inputs"), retrieval(json!(["d"]), json!([literal("q", "string", json!("q"))]))),
        (C::DatasetsInvalid, x, Some("dataset_ids"), retrieval(json!([]), query.clone())),
        (C::DatasetsInvalid, x, Some("dataset_ids"), retrieval(json!(["1", "2", "3", "4", "5", "6"]), query)),
        (C::AggregationEmpty, x, Some("inputs"), with(json!({"node_type": "variable_aggregation"}))),
        (C::IterationInvalid, x, Some("inputs.items"), iteration(json!([]), json!([]), 1)),
        (C::IterationInvalid, x, Some("parallelism"), iteration(items(), json!([]), 99)),
        (C::IterationInvalid, x, Some("body.other"), iteration(items(), json!([{"name": "other", "type": "int"}]), 1)),
        (C::IterationInvalid, x, Some("body.index"), iteration(items(), json!([{"name": "index", "type": "string"}]), 1)),
        (C::NodeIdDuplicate, Some("bs"), Some("id"), {
            let mut graph = iteration(items(), json!([]), 1);
            graph["nodes"].as_array_mut().unwrap().push(extra_node("bs"));
            graph
        }),
    ]
}

#[test]
fn each_rule_names_its_code_the_node_and_the_field() {
    let (_, problems) = validate::check(&valid());
    assert_eq!(problems, [], "the graph that the cases change is valid");
    for (code, node, field, graph) in shapes().into_iter().chain(values()).chain(kinds()) {
        let (_, problems) = validate::check(&graph);
        let named = |p: &source_workflow::GraphProblem| {
            p.code == code && p.node_id.as_deref() == node && p.field.as_deref() == field
        };
        assert!(problems.iter().any(named), "{code:?} {node:?} {field:?}\nfound {problems:#?}");
    }
}

#[test]
fn every_code_has_a_case() {
    let mut seen: BTreeSet<GraphCode> =
        shapes().into_iter().chain(values()).chain(kinds()).map(|case| case.0).collect();
    // These need an account: see below, and the tests of the service.
    seen.extend([
        GraphCode::ToolUnresolved,
        GraphCode::ToolArguments,
        GraphCode::WorkflowCycle,
        GraphCode::WorkflowTooDeep,
    ]);
    let missing: Vec<_> = GraphCode::ALL.iter().filter(|code| !seen.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn all_problems_of_a_graph_are_told_at_once() {
    let graph = json!({"nodes": [
        {"id": "a", "title": "a", "node_type": "start"},
        {"id": "b", "title": "a", "node_type": "code", "code": "x(", "inputs": [{"name": "1", "type": "int"}]},
        {"id": "c", "title": "c", "node_type": "what"}], "edges": [{"id": "1", "source": "a", "target": "b"}]});
    let codes: Vec<&str> = validate::check(&graph).1.iter().map(|p| p.code.as_str()).collect();
    assert_eq!(
        codes,
        ["node_type_unknown", "variable_name", "value_missing", "code_invalid", "node_title_duplicate"]
    );
}

#[test]
fn a_document_of_any_shape_is_refused_without_a_panic() {
    let documents = [
        json!(null),
        json!([]),
        json!("x"),
        json!({"nodes": {}, "edges": 1}),
        json!({"nodes": [1, null], "edges": [[]]}),
        json!({"nodes": [{"id": 1}], "edges": [{"id": null}]}),
    ];
    for document in documents {
        assert!(!validate::check(&document).1.is_empty(), "{document}");
    }
    // Bodies in bodies in bodies.
    let mut graph = valid();
    for _ in 0..50 {
        let mut node = json!({"id": "x", "title": "x", "node_type": "iteration", "inputs": items()});
        node["body"] = graph.take();
        graph = json!({"nodes": [node], "edges": []});
    }
    assert!(validate::check(&graph).1.iter().any(|p| p.code == GraphCode::GraphTooLarge));
}

#[tokio::test]
async fn tools_are_looked_up_and_their_arguments_compared() {
    let world = World::new();
    world.builtin.add("test", "echo", &["text"], |_, _| async { Ok(ToolOutput::text_of("")) });
    let id = world.drafted("w", &valid()).await;
    let cases = [
        (GraphCode::ToolUnresolved, "tool", calls("gone", vec![])),
        (GraphCode::ToolArguments, "inputs.text", calls("echo", vec![])),
        (
            GraphCode::ToolArguments,
            "inputs.more",
            calls("echo", vec![literal("text", "string", json!("")), literal("more", "string", json!(""))]),
        ),
    ];
    for (code, field, node) in cases {
        let problems = world.service.validate(&world.account, &id, Some(with(node))).await.unwrap();
        assert!(
            problems.iter().any(|p| p.code == code
                && p.node_id.as_deref() == Some("x")
                && p.field.as_deref() == Some(field)),
            "{problems:#?}"
        );
    }
}
