//! What can go wrong over HTTP, each against a real process.

use crate::harness::{House, HttpServer, text, until};
use domain::{CallContext, ToolError, tool::Progress};
use serde_json::json;
use source_mcp::{ServerInput, ServerStatus, ServerView};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

async fn start(args: &[&str]) -> (House, HttpServer, ServerView) {
    let (house, http) = (House::new().await, HttpServer::start(args));
    let input = ServerInput { timeout_s: Some(5), ..http.input() };
    let server = house.servers.create(&house.account, input).await.unwrap();
    (house, http, server)
}

#[tokio::test]
async fn a_forgotten_session_is_renewed_without_anyone_noticing() {
    for status in ["404", "400"] {
        let (house, _http, server) = start(&["--bad-session", status]).await;
        house.call(&server.id, "forget", json!({})).await.unwrap();
        let output = house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
        assert_eq!(text(&output), "x");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restarted_server_is_used_again() {
    let (house, mut http, server) = start(&[]).await;
    house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
    http.stop();
    let port = http.port;
    http = HttpServer::on_port(port, &[]);
    let calls =
        futures::future::join_all((0..8).map(|_| house.call(&server.id, "echo", json!({"text": "x"}))));
    for output in calls.await {
        output.unwrap();
    }
    drop(http);
}

#[tokio::test]
async fn a_call_that_may_have_arrived_is_not_repeated() {
    let house = House::new().await;
    let counter = house.file("calls");
    let http = HttpServer::start(&["--counter", &counter]);
    let server = house.servers.create(&house.account, http.input()).await.unwrap();
    for tool in ["drop_connection", "broken_stream"] {
        let error = house.call(&server.id, tool, json!({})).await.unwrap_err();
        assert!(matches!(error, ToolError::Unreachable { .. }), "{tool}: {error}");
    }
    assert_eq!(house.counted("calls"), ["drop_connection", "broken_stream"]);
}

#[tokio::test]
async fn streams_are_read_and_taken_up_again_where_the_server_can() {
    let (house, _http, server) = start(&[]).await;
    let output = house.call(&server.id, "sse", json!({"text": "streamed"})).await.unwrap();
    assert_eq!(text(&output), "streamed");
    let output = house.call(&server.id, "resumed_stream", json!({})).await.unwrap();
    assert!(text(&output).starts_with("resumed after"));
    let output = house.call(&server.id, "ask", json!({})).await.unwrap();
    assert_eq!(output.structured.unwrap()["result"], json!({"action": "decline"}));
}

#[tokio::test]
async fn errors_keep_their_status_and_say_when_to_come_back() {
    let (house, _http, server) = start(&[]).await;
    let call = async |code: u16| house.call(&server.id, "status", json!({"code": code})).await.unwrap_err();
    assert!(matches!(call(500).await, ToolError::Upstream { status: 500, body } if body == "so it is"));
    assert!(matches!(call(401).await, ToolError::MissingCredential { .. }));
    assert!(
        matches!(call(429).await, ToolError::RateLimited { retry_after: Some(wait) } if wait.as_secs() == 7)
    );
    let error = house.call(&server.id, "not_json", json!({})).await.unwrap_err();
    assert!(matches!(&error, ToolError::Upstream { status: 0, body } if body.contains("<html>")), "{error}");
    let error = house.call(&server.id, "accepted", json!({})).await.unwrap_err();
    assert!(matches!(error, ToolError::Upstream { status: 0, .. }), "{error}");
}

#[tokio::test]
async fn a_hung_call_ends_and_the_server_is_told() {
    let (house, http) = (House::new().await, HttpServer::start(&[]));
    let input = ServerInput { timeout_s: Some(1), ..http.input() };
    let server = house.servers.create(&house.account, input).await.unwrap();
    let error = house.call(&server.id, "hang", json!({})).await.unwrap_err();
    assert!(matches!(error, ToolError::Timeout { .. }), "{error}");
    let told = house.call(&server.id, "cancelled", json!({})).await.unwrap();
    assert_eq!(told.structured.unwrap()["cancelled"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn progress_is_passed_on() {
    struct Count(AtomicUsize);
    impl Progress for Count {
        fn report(&self, _: f64, _: Option<f64>, _: Option<&str>) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let (house, _http, server) = start(&[]).await;
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let cx = CallContext { progress: Some(count.clone()), ..house.cx(Duration::from_secs(9)) };
    house.call_within(&server.id, "progress", json!({"steps": 3}), cx).await.unwrap();
    assert_eq!(count.0.load(SeqCst), 3);
}

#[tokio::test]
async fn large_answers_arrive_and_too_large_ones_are_refused() {
    let (house, _http, server) = start(&[]).await;
    let toolset = house.toolset(&server.id, &["big"]).await;
    let cx = house.cx(Duration::from_mins(1));
    let tool = &toolset.entries()[0].tool;
    assert_eq!(text(&tool.call(json!({"bytes": 10_000_000}), &cx).await.unwrap()).len(), 10_000_000);
    let error = tool.call(json!({"bytes": 40_000_000}), &cx).await.unwrap_err();
    assert!(matches!(error, ToolError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn a_dead_server_costs_milliseconds_once_its_breaker_is_open() {
    let (house, mut http, server) = start(&[]).await;
    http.stop();
    for _ in 0..3 {
        let error = house.call(&server.id, "echo", json!({})).await.unwrap_err();
        assert!(matches!(error, ToolError::Unreachable { .. }), "{error}");
    }
    let started = Instant::now();
    for _ in 0..100 {
        let error = house.call(&server.id, "echo", json!({})).await.unwrap_err();
        assert!(error.to_string().contains("next try"), "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(1));
    until("the failure is remembered", async || {
        let view = house.servers.get(&house.account, &server.id).await.unwrap();
        view.status == ServerStatus::Failing && view.health.last_error.is_some()
    })
    .await;
    // A failed refresh keeps the catalog.
    house.servers.refresh(&house.account, &server.id).await.unwrap_err();
    assert_eq!(house.toolset(&server.id, &["echo"]).await.entries().len(), 1);
    let _http = HttpServer::on_port(http.port, &[]);
    house.servers.refresh(&house.account, &server.id).await.unwrap();
    house.call(&server.id, "echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn many_calls_at_once_are_all_answered() {
    let (house, _http, server) = start(&[]).await;
    let toolset = house.toolset(&server.id, &["echo"]).await;
    let cx = house.cx(Duration::from_secs(20));
    let name = &toolset.entries()[0].name;
    let calls = futures::future::join_all((0..100).map(|i| {
        let (toolset, cx) = (&toolset, cx.clone());
        async move { (i, toolset.invoke(name, json!({"text": i.to_string()}), &cx).await) }
    }));
    for (i, output) in calls.await {
        assert_eq!(text(&output.unwrap()), i.to_string());
    }
}

#[tokio::test]
async fn a_change_told_between_calls_refreshes_the_catalog() {
    for era in ["legacy", "modern"] {
        let (house, _http, server) = start(&["--era", era]).await;
        let names = async || house.descriptions(&server.id).await.into_iter().map(|(name, _)| name);
        assert!(!names().await.any(|name| name == "added_later"));
        // The stream of changes is opened in the background: the change is told once somebody listens.
        house.call(&server.id, "change", json!({})).await.unwrap();
        until("the new tool is listed", async || names().await.any(|name| name == "added_later")).await;
    }
}

#[tokio::test]
async fn an_address_without_a_server_says_what_it_may_be() {
    for status in ["404", "405"] {
        let (house, http) = (House::new().await, HttpServer::start(&["--status", status]));
        let error = house.servers.create(&house.account, http.input()).await.unwrap_err();
        assert!(error.to_string().contains("HTTP+SSE"), "{error}");
    }
}
