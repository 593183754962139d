//! What is sent, and what becomes of the answer.

use crate::{
    upstream::respond,
    world::{World, things},
};
use domain::ToolError;
use egress::Policy;
use serde_json::json;
use source_api::service::ServiceError;
use std::sync::Arc;
use tokio::sync::Notify;

const TEXT: &[(&str, &str)] = &[("content-type", "text/plain")];

#[tokio::test]
async fn a_call_becomes_the_request_the_document_describes() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    let args = json!({"id": "a/b c", "q": "x&y", "X-Note": "hi", "theme": "dark"});
    let output = world.call(&id, "getThing", args).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("GET", "/things/a%2Fb%20c?q=x%26y"));
    assert_eq!((seen.header("x-note"), seen.header("cookie")), (Some("hi"), Some("theme=dark")));
    assert_eq!(output.structured.unwrap()["target"], "/things/a%2Fb%20c?q=x%26y");

    world.call(&id, "addThing", json!({"name": "n", "size": "5"})).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/things"));
    assert_eq!(
        (seen.header("content-type"), seen.text()),
        (Some("application/json"), r#"{"name":"n","size":5}"#)
    );
}

#[tokio::test]
async fn wrong_arguments_are_refused_before_anything_is_sent() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    for (tool, args) in
        [("getThing", json!({})), ("addThing", json!({"name": 1})), ("getThing", json!({"id": ".."}))]
    {
        let error = world.call(&id, tool, args.clone()).await.unwrap_err();
        assert_eq!(error.code(), "invalid_args", "{args}");
    }
    assert!(world.upstream.take().is_empty());
}

#[tokio::test]
async fn a_refusal_by_the_service_is_told_with_status_and_body() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.upstream.then(422, TEXT, "name is taken");
    let error = world.call(&id, "addThing", json!({"name": "n"})).await.unwrap_err();
    assert!(error.for_model().contains("422") && error.for_model().contains("name is taken"));
}

/// The tool; the first answer's status and headers; how many requests are sent.
type Row<'a> = (&'a str, u16, &'a [(&'a str, &'a str)], usize);

#[tokio::test]
async fn only_what_may_be_repeated_is_and_only_when_the_service_says_when() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    let now = &[("retry-after", "0")];
    let much_later = &[("retry-after", "86400")];
    let table: [Row<'_>; 6] = [
        ("getThing", 503, now, 2),
        ("getThing", 429, now, 2),
        ("getThing", 503, &[], 1),
        ("getThing", 503, much_later, 1),
        ("getThing", 500, now, 1),
        ("addThing", 503, now, 1),
    ];
    for (tool, status, headers, requests) in table {
        world.upstream.then(status, headers, "");
        let args = if tool == "getThing" { json!({"id": "1"}) } else { json!({"name": "n"}) };
        let result = world.call(&id, tool, args).await;
        let sent = world.upstream.take().len();
        assert_eq!((sent, result.is_ok()), (requests, requests > 1), "{tool} {status} {headers:?}");
    }
    for _ in 0..3 {
        world.upstream.then(503, now, "");
    }
    let error = world.call(&id, "getThing", json!({"id": "1"})).await.unwrap_err();
    assert_eq!((error.code(), world.upstream.take().len()), ("upstream", 3));
}

#[tokio::test]
async fn a_service_that_is_not_there_is_unreachable() {
    let world = World::new().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = json!({"server": format!("http://{free}")});
    let id = world.import_with(&things(), server).await;
    let error = world.call(&id, "getThing", json!({"id": "1"})).await.unwrap_err();
    assert_eq!(error.code(), "unreachable");
}

#[tokio::test]
async fn a_tool_has_a_time_limit_of_its_own() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.patch(&id, "getThing", json!({"timeout_s": 1})).await;
    world.upstream.then_do(|| async { std::future::pending().await });
    let error = world.call(&id, "getThing", json!({"id": "1"})).await.unwrap_err();
    assert!(matches!(error, ToolError::Timeout { after } if after.as_secs() == 1), "{error}");
}

#[tokio::test]
async fn a_cancelled_call_closes_its_request() {
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let world = World::new().await;
    let id = world.import(&things()).await;
    let (arrived, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (there, guard) = (arrived.clone(), Gone(gone.clone()));
    world.upstream.then_do(move || async move {
        let _guard = guard;
        there.notify_one();
        std::future::pending().await
    });
    let cx = world.cx();
    let call = world.call_in(&id, "getThing", json!({"id": "1"}), &cx);
    let stop = async {
        arrived.notified().await;
        cx.cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    assert_eq!(result.unwrap_err().code(), "cancelled");
    gone.notified().await;
}

#[tokio::test]
async fn a_long_answer_is_cut_and_says_so() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.patch(&id, "getThing", json!({"max_response_bytes": 5})).await;
    world.upstream.then(200, TEXT, "0123456789");
    let text = world.call(&id, "getThing", json!({"id": "1"})).await.unwrap().text();
    assert!(text.starts_with("01234\n") && text.contains("cut after 5 bytes"), "{text}");
}

#[tokio::test]
async fn bytes_come_back_as_a_resource() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.upstream.then(200, &[("content-type", "image/png")], vec![0x89, b'P']);
    let output = world.call(&id, "getThing", json!({"id": "1", "q": "x"})).await.unwrap();
    let block = serde_json::to_value(&output.content[0]).unwrap();
    assert_eq!(block["resource"]["blob"], "iVA=");
    // The query, which may hold a key, is not repeated.
    assert_eq!(block["resource"]["uri"], format!("{}/things/1", world.upstream.url));
}

#[tokio::test]
async fn only_requests_that_change_nothing_follow_redirects() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world.upstream.then(302, &[("location", "/elsewhere")], "");
    let output = world.call(&id, "getThing", json!({"id": "1"})).await.unwrap();
    assert_eq!(output.structured.unwrap()["target"], "/elsewhere");
    world.upstream.take();
    world.upstream.then(302, &[("location", "/elsewhere")], "");
    let error = world.call(&id, "addThing", json!({"name": "n"})).await.unwrap_err();
    assert!(error.for_model().contains("redirects to /elsewhere"), "{}", error.for_model());
    assert_eq!(world.upstream.take().len(), 1);
}

#[tokio::test]
async fn the_guard_stands_before_every_address() {
    let world = World::with(Policy::strict()).await;
    let body = json!({"name": "inside", "openapi_schema": things(), "server": world.upstream.url});
    let error = world.create(body).await.unwrap_err();
    assert!(matches!(&error, ServiceError::Fetch(e) if e.code() == "blocked"), "{error}");
    let body = json!({"name": "inside", "url": format!("{}/openapi.json", world.upstream.url)});
    let error = world.create(body).await.unwrap_err();
    assert!(error.to_string().contains("HAFT_EGRESS_ALLOW"), "{error}");
    assert!(world.upstream.take().is_empty());
}

#[tokio::test]
async fn a_redirect_into_the_network_is_refused() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    world
        .upstream
        .then_do(|| async { respond(302, &[("location", "http://169.254.169.254/latest/meta-data/")], "") });
    let error = world.call(&id, "getThing", json!({"id": "1"})).await.unwrap_err();
    assert_eq!(error.code(), "blocked");
}

#[tokio::test]
async fn a_trace_is_passed_on() {
    let world = World::new().await;
    let id = world.import(&things()).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut cx = world.cx();
    cx.traceparent = Some(trace.to_owned());
    world.call_in(&id, "getThing", json!({"id": "1"}), &cx).await.unwrap();
    assert_eq!(world.upstream.one().header("traceparent"), Some(trace));
}
