//! The call of a tool: results, and the status of everything that stops it.

use domain::Role;
use e2e::Haft;
use serde_json::{Value, json};

fn builtin(provider: &str, tool: &str) -> Value {
    json!({"type": "builtin_tool", "provider_id": provider, "tool_id": tool, "params": {}})
}

#[tokio::test]
async fn a_call_gives_content_structure_and_no_error() {
    let haft = Haft::start().await;
    let body = json!({"ref": builtin("calculator", "evaluate"), "args": {"expression": "2^64"}});
    let output = haft.admin().post("/tools/invoke", &body).await.expect(200);
    assert_eq!(output["content"][0]["text"], "18446744073709551616");
    assert_eq!(output["is_error"], false);
    haft.stop().await;
}

#[tokio::test]
async fn a_tool_of_a_set_is_called_by_the_name_that_assembling_gave() {
    let haft = Haft::start().await;
    let refs = json!([builtin("time", "current_time"), builtin("time", "nonsense")]);
    let body = json!({"refs": refs, "name": "current_time", "args": {"timezone": "Asia/Shanghai"}});
    let output = haft.admin().post("/tools/invoke", &body).await.expect(200);
    assert!(output["content"][0]["text"].as_str().unwrap().contains("CST"), "{output}");
    let body = json!({"refs": refs, "name": "nonsense", "args": {}});
    let answer = haft.admin().post("/tools/invoke", &body).await;
    assert_eq!(answer.problem(404), "not_found");
    assert!(answer.json()["detail"].as_str().unwrap().contains("current_time"), "{}", answer.json());
    haft.stop().await;
}

#[tokio::test]
async fn what_models_commonly_get_wrong_is_repaired() {
    let haft = Haft::start().await;
    let body = json!({"ref": builtin("calculator", "evaluate"), "args": "{\"expression\": \"1+1\"}"});
    let output = haft.admin().post("/tools/invoke", &body).await.expect(200);
    assert_eq!(output["content"][0]["text"], "2");
    haft.stop().await;
}

#[tokio::test]
async fn each_thing_that_stops_a_call_has_its_status_and_code() {
    let haft = Haft::start().await;
    let time = builtin("time", "current_time");
    let calculate = builtin("calculator", "evaluate");
    let page = builtin("web", "fetch_page");
    let cases = [
        (json!({"ref": calculate, "args": {}}), 422, "invalid_args"),
        (json!({"ref": calculate, "args": {"expression": 5, "x": 1}}), 422, "invalid_args"),
        (json!({"ref": builtin("time", "nonsense"), "args": {}}), 404, "tool_not_found"),
        (json!({"ref": builtin("nonsense", "x"), "args": {}}), 404, "provider_not_found"),
        (
            json!({"ref": {"type": "workflow_tool", "provider_id": "x", "tool_id": "y"}}),
            404,
            "provider_not_found",
        ),
        (
            json!({"ref": {"type": "builtin_tool", "provider_id": "time", "tool_id": "current_time", "params": {"x": 1}}}),
            422,
            "invalid_params",
        ),
        (json!({"args": {}}), 422, "invalid_body"),
        (json!({"ref": time, "refs": [time], "name": "x"}), 422, "invalid_body"),
        (json!({"refs": [time]}), 422, "invalid_body"),
        (json!({"ref": time, "timeout_s": 0}), 422, "invalid_body"),
        (json!({"ref": time, "timeout_s": 601}), 422, "invalid_body"),
        (json!({"ref": page, "args": {"url": "http://169.254.169.254/latest/meta-data/"}}), 403, "blocked"),
        (json!({"ref": page, "args": {"url": "http://10.0.0.1/"}}), 403, "blocked"),
        (json!({"ref": page, "args": {"url": "http://127.0.0.1:1/"}}), 502, "unreachable"),
        (json!({"ref": calculate, "args": {"expression": "x".repeat(1024 * 1024)}}), 413, "too_large"),
    ];
    for (body, status, code) in cases {
        let answer = haft.admin().post("/tools/invoke", &body).await;
        assert_eq!(answer.problem(status), code, "{}", answer.json());
    }
    haft.stop().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_ends_at_its_deadline() {
    let haft = Haft::start().await;
    // It takes the connection and never says a word.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let body = json!({"ref": builtin("web", "fetch_page"), "args": {"url": url}, "timeout_s": 1});
    assert_eq!(haft.admin().post("/tools/invoke", &body).await.problem(504), "timeout");
    drop(silent);
    haft.stop().await;
}

#[tokio::test]
async fn a_viewer_calls_tools_that_only_read() {
    let haft = Haft::start().await;
    let viewer = haft.role(Role::Viewer).await;
    let body = json!({"ref": builtin("time", "current_time"), "args": {}});
    viewer.post("/tools/invoke", &body).await.expect(200);
    haft.stop().await;
}

#[tokio::test]
async fn every_call_is_recorded_without_arguments_or_results() {
    let haft = Haft::start().await;
    let secret = "31415926535";
    let request_id = "e2e-audit-1";
    let body =
        json!({"ref": builtin("calculator", "evaluate"), "args": {"expression": format!("{secret}+0")}});
    let request =
        haft.admin().request(http::Method::POST, "/tools/invoke").header("x-request-id", request_id);
    e2e::Client::answer(request.json(&body)).await.expect(200);
    // The record is written in the background; ending the gateway writes what waits.
    let data = haft.stop().await;
    let haft = Haft::start_in(data, &[]).await;
    let audit = haft.admin().get("/audit").await.expect(200);
    let record = &audit["items"][0];
    assert_eq!(record["request_id"], request_id);
    assert_eq!(
        (&record["tool"], &record["outcome"]),
        (&json!("builtin_tool/calculator/evaluate"), &json!("ok"))
    );
    assert!(!audit.to_string().contains(secret), "arguments or results are in the audit");
    haft.stop().await;
}
