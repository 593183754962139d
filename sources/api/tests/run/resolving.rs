//! References become tools in few rounds, and each that does not says why.

use crate::world::{World, openapi, things};
use domain::{AccountContext, ListRequest, ProblemCode, ToolKind, ToolLister, ToolRef, ToolSource};
use serde_json::{Value, json};

fn reference(id: &str, tool: &str) -> ToolRef {
    ToolRef::new(ToolKind::ApiTool, id, tool)
}

#[tokio::test]
async fn a_warm_resolve_costs_one_round_however_many_references() {
    let world = World::new().await;
    let operation = |i: usize| {
        let operation = json!({"operationId": format!("op{i}"), "responses": {"200": {"description": "ok"}}});
        (format!("/op{i}"), json!({"get": operation}))
    };
    let document = openapi(&Value::Object((0..50).map(operation).collect()), &json!({}));
    let first = world.import(&document).await;
    let second = world.import_with(&document, json!({"name": "second"})).await;
    let refs: Vec<ToolRef> = (0..100)
        .map(|i| reference(if i % 2 == 0 { &first } else { &second }, &format!("op{}", i / 2)))
        .collect();
    let cx = AccountContext::new(world.account.clone());
    let source = world.service.source();
    world.table.reads();
    assert!(source.resolve(&refs, &cx).await.iter().all(Result::is_ok));
    assert_eq!(world.table.reads(), 2, "heads, then bodies");
    assert!(source.resolve(&refs, &cx).await.iter().all(Result::is_ok));
    assert_eq!(world.table.reads(), 1, "heads alone");

    world.update(&first, json!({"openapi_schema": things()})).await.unwrap();
    let answers = source.resolve(&refs, &cx).await;
    assert!(
        answers.iter().enumerate().all(|(i, a)| a.is_err() == (i % 2 == 0)),
        "a new revision is seen at once"
    );
}

#[tokio::test]
async fn each_reference_that_gives_no_tool_says_why() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.patch(&id, "addThing", json!({"enabled": false})).await;
    let mut with_params = reference(&id, "getThing");
    with_params.params.insert("a".into(), json!(1));
    let refs = [
        reference(&id, "getThing"),
        reference("api_gone", "getThing"),
        reference(&id, "gettThing"),
        reference(&id, "addThing"),
        with_params,
    ];
    let cx = AccountContext::new(world.account.clone());
    let answers = world.service.source().resolve(&refs, &cx).await;
    let codes: Vec<_> = answers.iter().map(|a| a.as_ref().err().map(|e| e.code)).collect();
    assert_eq!(
        codes,
        [
            None,
            Some(ProblemCode::ProviderNotFound),
            Some(ProblemCode::ToolNotFound),
            Some(ProblemCode::Disabled),
            Some(ProblemCode::InvalidParams),
        ]
    );
    let message = &answers[2].as_ref().err().unwrap().message;
    assert!(message.contains("near it are `getThing`"), "{message}");
}

#[tokio::test]
async fn what_can_be_referred_to_is_listed() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.patch(&id, "addThing", json!({"enabled": false, "title": "Put one in"})).await;
    let request = ListRequest { q: None, limit: 10, cursor: None };
    let cx = AccountContext::new(world.account.clone());
    let page = world.service.source().list(&cx, &request).await.unwrap();
    let found: Vec<_> = page.items.iter().map(|i| (i.name.as_str(), i.title.as_str(), i.enabled)).collect();
    assert_eq!(found, [("addThing", "Put one in", false), ("getThing", "Get a thing", true)]);
    assert_eq!(page.items[1].reference, reference(&id, "getThing"));
}
