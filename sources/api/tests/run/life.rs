//! The life of a provider: created, listed, changed, deleted.

use crate::world::{World, openapi, things};
use domain::{ToolError, ports::upload_key};
use serde_json::{Value, json};
use source_api::service::ServiceError;
use std::sync::Arc;
use tokio::sync::Notify;

/// A document of operations without parameters, by name and description.
fn of(operations: &[(&str, &str)]) -> Value {
    let path = |(name, description): &(&str, &str)| {
        let operation = json!({
            "operationId": name, "description": description, "responses": {"200": {"description": "ok"}},
        });
        (format!("/{name}"), json!({"get": operation}))
    };
    openapi(&Value::Object(operations.iter().map(path).collect()), &json!({}))
}

async fn names(world: &World, id: &str) -> Vec<String> {
    let (tools, _) = world.service.tools(&world.account, id, None, 100, None).await.unwrap();
    tools.into_iter().map(|t| t.name).collect()
}

#[tokio::test]
async fn what_was_imported_is_listed_read_and_deleted() {
    let world = World::new().await;
    let text = serde_json::to_string_pretty(&things()).unwrap();
    let icon = "https://x.example/i.png";
    let body = json!({"name": "things", "openapi_schema": text, "server": world.upstream.url, "icon": icon});
    let imported = world.create(body).await.unwrap();
    assert_eq!((imported.revision, imported.tools), (1, 2));
    let id = imported.id;
    world
        .create(json!({"name": "other", "openapi_schema": of(&[("a", "b")]), "server": world.upstream.url}))
        .await
        .unwrap();

    let (items, next) = world.service.list(&world.account, None, 1, None).await.unwrap();
    assert_eq!((items[0].name.as_str(), next.is_some()), ("things", true));
    let (items, next) = world.service.list(&world.account, None, 1, next).await.unwrap();
    assert_eq!((items[0].name.as_str(), next.is_none()), ("other", true));
    let (items, _) = world.service.list(&world.account, Some("THING"), 10, None).await.unwrap();
    assert_eq!(items.len(), 2, "the title of both is `Things`");
    let (items, _) = world.service.list(&world.account, Some("othe"), 10, None).await.unwrap();
    assert_eq!(items.len(), 1);

    let view = world.service.get(&world.account, &id).await.unwrap();
    assert_eq!(view.openapi_schema.as_deref(), Some(text.as_str()));
    assert_eq!((view.tools, view.icon.as_str()), (2, icon));
    assert_eq!(names(&world, &id).await, ["addThing", "getThing"]);
    let tool = world.service.tool(&world.account, &id, "getThing").await.unwrap();
    assert_eq!(
        (tool.path.as_str(), tool.title.as_str(), tool.inputs.len()),
        ("/things/{id}", "Get a thing", 4)
    );
    let error = world.service.tool(&world.account, &id, "getThings").await.unwrap_err();
    assert!(error.to_string().contains("near it are `getThing`"), "{error}");

    world.service.delete(&world.account, &id).await.unwrap();
    assert!(world.service.get(&world.account, &id).await.is_err());
    assert!(world.service.assemble_one(&world.account, &id, "getThing").await.is_err());
    let left = world.stored_bytes();
    assert!(!left.windows(7).any(|w| w == b"X-Note:"), "the document is gone");
}

#[tokio::test]
async fn an_update_tells_what_changed_and_swaps_at_once() {
    let world = World::new().await;
    let id = world.import(&of(&[("a", "1"), ("b", "1"), ("c", "1")])).await;
    world.patch(&id, "b", json!({"rename": "bee", "enabled": false})).await;
    let updated = world
        .update(&id, json!({"openapi_schema": of(&[("b", "1"), ("c", "2"), ("d", "1")])}))
        .await
        .unwrap();
    let changes = updated.changes.unwrap();
    assert_eq!(updated.revision, 2);
    assert_eq!(
        (changes.added, changes.removed, changes.altered),
        (vec!["d".into()], vec!["a".into()], vec!["c".into()])
    );
    assert_eq!(names(&world, &id).await, ["b", "c", "d"]);
    let tool = world.service.tool(&world.account, &id, "b").await.unwrap();
    assert_eq!(
        (tool.rename.as_deref(), tool.enabled),
        (Some("bee"), false),
        "what was changed of a tool holds"
    );

    // What does not touch the operations leaves the revision as it is.
    let same = world.update(&id, json!({"name": "renamed", "description": "new"})).await.unwrap();
    assert_eq!((same.revision, same.changes.unwrap().is_empty()), (2, true));
    assert_eq!(world.service.get(&world.account, &id).await.unwrap().name, "renamed");

    // The stored document serves another selection.
    let fewer = world.update(&id, json!({"select": ["id:c", "id:d"]})).await.unwrap();
    assert_eq!((fewer.tools, fewer.revision), (2, 3));
    let all = world.update(&id, json!({"select": ""})).await.unwrap();
    assert_eq!(all.tools, 3);
}

#[tokio::test]
async fn a_call_keeps_the_revision_it_began_with() {
    let world = Arc::new(World::new().await);
    let id = world.import(&of(&[("a", "1")])).await;
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (there, wait) = (arrived.clone(), go_on.clone());
    world.upstream.then_do(move || async move {
        there.notify_one();
        wait.notified().await;
        crate::upstream::respond(200, &[], "old")
    });
    let call = {
        let (world, id) = (world.clone(), id.clone());
        tokio::spawn(async move { world.call(&id, "a", json!({})).await })
    };
    arrived.notified().await;
    world.update(&id, json!({"openapi_schema": of(&[("z", "1")])})).await.unwrap();
    go_on.notify_one();
    assert_eq!(call.await.unwrap().unwrap().text(), "old");
    assert!(world.service.assemble_one(&world.account, &id, "a").await.is_err());
}

#[tokio::test]
async fn a_refused_import_leaves_nothing_behind() {
    let world = World::new().await;
    let server = &world.upstream.url;
    let id = world.import(&things()).await;
    let before = names(&world, &id).await;
    let bodies = [
        json!({"name": "api", "openapi_schema": things(), "server": server}),
        json!({"name": "", "openapi_schema": things(), "server": server}),
        json!({"name": "x", "server": server}),
        json!({"name": "x", "openapi_schema": "{", "server": server}),
        json!({"name": "x", "openapi_schema": {"openapi": "3.0.0", "paths": {}}, "server": server}),
        json!({"name": "x", "openapi_schema": things()}),
        json!({"name": "x", "openapi_schema": things(), "server": "ftp://x"}),
        json!({"name": "x", "openapi_schema": things(), "url": "http://x", "server": server}),
        json!({"name": "x", "openapi_schema": things(), "server": server, "select": "colour:red"}),
        json!({"name": "x", "openapi_schema": things(), "server": server, "select": "id:nothing"}),
        json!({"name": "x", "openapi_schema": things(), "server": server, "icon": "no address"}),
    ];
    for body in bodies {
        let refused = world.create(body.clone()).await;
        assert!(refused.is_err(), "{body}");
    }
    let (items, _) = world.service.list(&world.account, None, 10, None).await.unwrap();
    assert_eq!(items.len(), 1);
    assert!(world.update(&id, json!({"openapi_schema": "{"})).await.is_err());
    assert_eq!(names(&world, &id).await, before);
    let error =
        world.create(json!({"name": "API", "openapi_schema": things(), "server": server})).await.unwrap_err();
    assert!(error.to_string().contains("is taken"), "{error}");
}

#[tokio::test]
async fn a_document_is_imported_by_its_address() {
    let world = World::new().await;
    let mut document = things();
    document["servers"] = json!([{"url": "/v7"}]);
    world.upstream.then(200, &[("content-type", "application/json")], document.to_string());
    let body = json!({"name": "api", "url": format!("{}/docs/openapi.json?token=t", world.upstream.url)});
    let imported = world.create(body).await.unwrap();
    assert_eq!(imported.server, format!("{}/v7", world.upstream.url));
    world.upstream.take();
    world.call(&imported.id, "getThing", json!({"id": "1"})).await.unwrap();
    assert_eq!(world.upstream.one().target, "/v7/things/1");
    let view = world.service.get(&world.account, &imported.id).await.unwrap();
    assert_eq!(view.url, Some(format!("{}/docs/openapi.json", world.upstream.url)));

    world.upstream.then(200, &[("content-type", "text/html")], "<html>");
    let page = world.create(json!({"name": "page", "url": world.upstream.url})).await.unwrap_err();
    assert!(matches!(page, ServiceError::NotADocument { .. }));
    world.upstream.then(404, &[], "");
    let absent = world.create(json!({"name": "absent", "url": world.upstream.url})).await.unwrap_err();
    assert!(absent.to_string().contains("404"), "{absent}");
}

#[tokio::test]
async fn a_document_is_imported_from_an_upload() {
    let world = World::new().await;
    let key = upload_key(&world.account, "upl_1").unwrap();
    world.blobs.put(&key, things().to_string().into(), "application/json", None).await.unwrap();
    let body = json!({"name": "api", "upload_id": "upl_1", "server": world.upstream.url});
    assert_eq!(world.create(body).await.unwrap().tools, 2);
    let body = json!({"name": "no", "upload_id": "../x", "server": world.upstream.url});
    assert!(world.create(body).await.is_err());
}

#[tokio::test]
async fn a_tool_is_switched_off_and_renamed() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.patch(&id, "getThing", json!({"rename": "fetch_thing", "description": "Fetches."})).await;
    let set = world.service.assemble_one(&world.account, &id, "getThing").await.unwrap();
    assert_eq!(
        (set.entries()[0].name.as_str(), set.entries()[0].spec().description.as_str()),
        ("fetch_thing", "Fetches.")
    );
    world.patch(&id, "getThing", json!({"rename": null, "enabled": false})).await;
    let error = world.service.assemble_one(&world.account, &id, "getThing").await.unwrap_err();
    assert!(error.to_string().contains("switched off"), "{error}");
    world.patch(&id, "getThing", json!({"enabled": true})).await;
    let set = world.service.assemble_one(&world.account, &id, "getThing").await.unwrap();
    assert_eq!(set.entries()[0].name, "getThing");

    for patch in
        [json!({"rename": "1x"}), json!({"timeout_s": 0}), json!({"timeout_s": 601}), json!({"title": " "})]
    {
        let parsed = serde_json::from_value(patch.clone()).unwrap();
        let refused = world.service.patch_tool(&world.account, &id, "getThing", parsed).await;
        assert!(matches!(refused, Err(ServiceError::Invalid { .. })), "{patch}");
    }
}

#[tokio::test]
async fn the_narrow_protocol_is_imported_and_called() {
    let world = World::new().await;
    let parameter = |name: &str, place: &str, kind: &str| json!({"name": name, "in": place, "description": name, "required": true, "type": kind});
    let city = parameter("city", "path", "str");
    let document = json!({
        "server": world.upstream.url,
        "description": "Weather",
        "paths": {"/weather/{city}": {
            "get": {
                "description": "Read", "operationId": "read",
                "parameters": [city, parameter("days", "query", "int")],
            },
            "post": {
                "description": "Write", "operationId": "write",
                "parameters": [city, parameter("note", "request_body", "str")],
            },
        }},
    });
    let imported =
        world.create(json!({"name": "weather", "openapi_schema": document.to_string()})).await.unwrap();
    assert_eq!(imported.tools, 2);
    world.call(&imported.id, "read", json!({"city": "杭州", "days": 3})).await.unwrap();
    assert_eq!(world.upstream.one().target, "/weather/%E6%9D%AD%E5%B7%9E?days=3");
    world.call(&imported.id, "write", json!({"city": "x", "note": "n"})).await.unwrap();
    assert_eq!(world.upstream.one().text(), r#"{"note":"n"}"#);
    let error = world.call(&imported.id, "read", json!({"city": "x"})).await.unwrap_err();
    assert!(matches!(error, ToolError::InvalidArgs { .. }));
}

#[tokio::test]
async fn accounts_do_not_see_each_other() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    let other = domain::AccountId::generate();
    assert!(world.service.get(&other, &id).await.is_err());
    assert!(world.service.assemble_one(&other, &id, "getThing").await.is_err());
    assert!(world.service.delete(&other, &id).await.is_err());
    let (items, _) = world.service.list(&other, None, 10, None).await.unwrap();
    assert!(items.is_empty());
}

#[tokio::test]
async fn a_document_of_a_thousand_operations_is_stored_whole() {
    let world = World::new().await;
    let names: Vec<String> = (0..1200).map(|i| format!("op{i:04}")).collect();
    let operations: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let id = world.import(&of(&operations)).await;
    let mut listed = Vec::new();
    let mut cursor = None;
    loop {
        let (page, next) = world.service.tools(&world.account, &id, None, 500, cursor).await.unwrap();
        listed.extend(page.into_iter().map(|t| t.name));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, names);
    let (found, _) = world.service.tools(&world.account, &id, Some("OP0777"), 500, None).await.unwrap();
    assert_eq!(found.len(), 1);
}

#[tokio::test]
async fn of_two_changes_at_once_one_is_told_and_nothing_is_mixed() {
    let world = World::new().await;
    let id = world.import(&of(&[("a", "1")])).await;
    let one = world.update(&id, json!({"openapi_schema": of(&[("b", "1"), ("c", "1")])}));
    let other = world.update(&id, json!({"openapi_schema": of(&[("d", "1"), ("e", "1")])}));
    let (one, other) = tokio::join!(one, other);
    let now = names(&world, &id).await;
    match (one.is_ok(), other.is_ok()) {
        (true, false) => assert_eq!(now, ["b", "c"]),
        (_, true) => assert_eq!(now, ["d", "e"]),
        (false, false) => panic!("{one:?} {other:?}"),
    }
    world.update(&id, json!({"name": "still works"})).await.unwrap();
    assert!(world.service.get(&world.account, &id).await.unwrap().openapi_schema.is_some());
}
