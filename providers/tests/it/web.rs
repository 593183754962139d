//! `web/fetch_page` against a real server on this machine, through the real egress guard.

use std::net::SocketAddr;

use axum::Router;
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::Redirect;
use axum::routing::get;
use domain::{ToolError, ToolOutput, ToolSource as _};
use egress::{Client, Policy};
use providers::BuiltinSource;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{account_context, context, deps, reference, source};

async fn server() -> SocketAddr {
    let html = |body: &str| ([(CONTENT_TYPE, "text/html; charset=utf-8")], body.to_owned());
    let page = html("<title>Hello</title><h1>Hello</h1><p>你好，世界 <a href='/x'>x</a></p>");
    let long = "One line of text.\n".repeat(1_000);
    let huge = vec![b'a'; 5 * 1024 * 1024];
    let app = Router::new()
        .route("/page", get(move || async move { page }))
        .route("/long", get(move || async move { ([(CONTENT_TYPE, "text/plain")], long) }))
        .route("/huge", get(move || async move { ([(CONTENT_TYPE, "text/plain")], huge) }))
        .route("/json", get(|| async { ([(CONTENT_TYPE, "application/json")], "{\"a\": 1}") }))
        .route("/pdf", get(|| async { ([(CONTENT_TYPE, "application/pdf")], "%PDF") }))
        .route("/gone", get(move || async move { (StatusCode::GONE, html("<p>It was moved.</p>")) }))
        .route("/slow", get(std::future::pending::<()>))
        .route("/moved", get(|| async { Redirect::to("/page") }))
        .route("/trap", get(|| async { Redirect::to("http://169.254.169.254/latest/meta-data/") }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn fetch(source: &BuiltinSource, params: Value, args: Value) -> Result<ToolOutput, ToolError> {
    let resolved = source.resolve(&[reference("web/fetch_page", params)], &account_context("alice")).await;
    resolved.into_iter().next().unwrap().unwrap().call(args, &context()).await
}

#[tokio::test]
async fn pages_are_read_and_refusals_are_clear() {
    let address = server().await;
    let source = source();
    let at = |path: &str| json!({"url": format!("http://{address}{path}")});
    let page = fetch(&source, json!({}), at("/moved")).await.unwrap();
    let data = page.structured.clone().unwrap();
    assert_eq!((&data["title"], &data["kind"]), (&json!("Hello"), &json!("html")));
    assert_eq!(data["url"], json!(format!("http://{address}/page")), "the address after the redirect");
    assert!(page.text().contains("你好，世界"), "{}", page.text());

    assert_eq!(fetch(&source, json!({}), at("/json")).await.unwrap().text(), "{\"a\": 1}");
    let pdf = fetch(&source, json!({}), at("/pdf")).await.unwrap();
    assert!(pdf.is_error && pdf.text().contains("`application/pdf`"), "{}", pdf.text());

    let gone = fetch(&source, json!({}), at("/gone")).await.unwrap_err();
    assert!(
        matches!(&gone, ToolError::Upstream { status: 410, body } if body == "It was moved."),
        "{gone:?}"
    );
    let trap = fetch(&source, json!({}), at("/trap")).await.unwrap_err();
    assert_eq!(trap.code(), "blocked");
    let slow = fetch(&source, json!({"timeout_s": 1}), at("/slow")).await.unwrap_err();
    assert_eq!(slow.code(), "timeout");
    for url in ["example.com", "ftp://example.com/x", "file:///etc/passwd"] {
        assert_eq!(
            fetch(&source, json!({}), json!({"url": url})).await.unwrap_err().code(),
            "invalid_args",
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_long_page_is_read_in_parts_and_a_huge_one_is_cut() {
    let address = server().await;
    let source = source();
    let url = format!("http://{address}/long");
    let (mut text, mut start) = (String::new(), json!(0));
    let mut parts = 0;
    while !start.is_null() {
        let args = json!({"url": url, "start": start, "max_chars": 5_000});
        let data = fetch(&source, json!({}), args).await.unwrap().structured.unwrap();
        text += data["text"].as_str().unwrap();
        start = data["next_start"].clone();
        parts += 1;
    }
    assert_eq!(text, "One line of text.\n".repeat(1_000).trim_end());
    assert_eq!(parts, 4);

    let huge = json!({"url": format!("http://{address}/huge"), "start": 4_194_300});
    let output = fetch(&source, json!({}), huge).await.unwrap();
    assert!(output.text().contains("too large to be read to its end"), "{}", output.text());
    assert_eq!(output.structured.unwrap()["truncated"], json!(true));
}

#[tokio::test]
async fn a_strict_guard_keeps_the_tool_off_this_machine() {
    let address = server().await;
    let mut deps = deps();
    deps.http = Client::new(Policy::strict());
    let source = BuiltinSource::new(deps, std::sync::Arc::new(crate::support::Reversed));
    let error =
        fetch(&source, json!({}), json!({"url": format!("http://{address}/page")})).await.unwrap_err();
    assert_eq!(error.code(), "blocked");
    let unreachable = json!({"url": "http://nothing.invalid/"});
    assert_eq!(fetch(&source, json!({}), unreachable).await.unwrap_err().code(), "unreachable");
}
