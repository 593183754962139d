//! MCP servers, end to end, with a real process that misbehaves on request.

use domain::Role;
use e2e::{Client, Haft};
use serde_json::{Value, json};
use std::{path::Path, time::Duration};

const FAULTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp-faults/stdio_server.py");

fn server(name: &str) -> Value {
    json!({"name": name, "transport": "stdio", "command": "python3", "args": [FAULTY]})
}

async fn added(haft: &Haft) -> String {
    let answer = haft.admin().post("/mcp-servers", &server("faulty")).await.expect(201);
    assert!(answer["tools"].as_u64().is_some_and(|n| n > 10), "{answer}");
    answer["id"].as_str().unwrap().to_owned()
}

fn call(id: &str, tool: &str, args: &Value) -> Value {
    let reference = json!({"type": "mcp_tool", "provider_id": id, "tool_id": tool, "params": {}});
    json!({"ref": reference, "args": args, "timeout_s": 5})
}

async fn text(client: &Client, body: &Value) -> String {
    let output = client.post("/tools/invoke", body).await.expect(200);
    output["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_tool_of_a_command_is_listed_assembled_and_called() {
    let haft = Haft::start().await;
    let id = added(&haft).await;
    let listed = haft.admin().get("/tools?kind=mcp_tool").await.expect(200);
    assert!(listed["items"].as_array().unwrap().iter().any(|item| item["name"] == "echo"));
    let output =
        haft.admin().post("/tools/invoke", &call(&id, "echo", &json!({"text": "hello"}))).await.expect(200);
    // What the server sent comes through unchanged.
    assert_eq!(output["content"], json!([{"type": "text", "text": "hello", "x": 1}]));
    assert_eq!(output["structured"], json!({"text": "hello"}));
    let failed = haft.admin().post("/tools/invoke", &call(&id, "fails", &json!({}))).await.expect(200);
    assert_eq!(failed["is_error"], true);
    haft.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_is_an_error_of_one_call_and_runs_again_for_the_next() {
    let haft = Haft::start().await;
    let id = added(&haft).await;
    let before = text(haft.admin(), &call(&id, "pid", &json!({}))).await;
    let died = haft.admin().post("/tools/invoke", &call(&id, "die", &json!({}))).await;
    assert_eq!(died.problem(502), "unreachable");
    let after = text(haft.admin(), &call(&id, "pid", &json!({}))).await;
    assert_ne!(before, after);
    haft.stop().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_at_the_deadline() {
    let haft = Haft::start().await;
    let id = added(&haft).await;
    let mut body = call(&id, "hang", &json!({}));
    body["timeout_s"] = json!(1);
    assert_eq!(haft.admin().post("/tools/invoke", &body).await.problem(504), "timeout");
    text(haft.admin(), &call(&id, "echo", &json!({"text": "still here"}))).await;
    haft.stop().await;
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_call() {
    let haft = Haft::start().await;
    let calls = haft.data().join("calls");
    let mut body = server("faulty");
    body["args"] = json!([FAULTY, "--counter", calls]);
    let id = haft.admin().post("/mcp-servers", &body).await.expect(201)["id"].as_str().unwrap().to_owned();

    let sleep = call(&id, "sleep", &json!({"seconds": 60}));
    let request = haft.admin().request(http::Method::POST, "/tools/invoke").json(&sleep);
    let caller = tokio::spawn(request.send());
    // The server writes down each call that reaches it; there is nothing else to wait for.
    while !std::fs::read_to_string(&calls).unwrap_or_default().contains("sleep") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    caller.abort();
    // It answers as soon as it has been told to give a call up.
    let mut asked = call(&id, "was_cancelled", &json!({}));
    asked["timeout_s"] = json!(30);
    let output = haft.admin().post("/tools/invoke", &asked).await.expect(200);
    assert_eq!(output["structured"]["cancelled"].as_array().unwrap().len(), 1, "{output}");
    haft.stop().await;
}

#[tokio::test]
async fn nothing_that_was_started_outlives_the_gateway() {
    let haft = Haft::start().await;
    let id = added(&haft).await;
    let pid = text(haft.admin(), &call(&id, "pid", &json!({}))).await;
    let child = text(haft.admin(), &call(&id, "children", &json!({}))).await;
    haft.stop().await;
    for pid in [pid, child] {
        let status =
            std::fs::read_to_string(Path::new("/proc").join(&pid).join("status")).unwrap_or_default();
        let gone = status.is_empty() || status.lines().any(|line| line.starts_with("State:\tZ"));
        assert!(gone, "process {pid} still runs: {status}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_start_is_refused_and_not_stored() {
    let haft = Haft::start().await;
    for (command, args) in [("absent-command", json!([])), ("sh", json!(["-c", "exit 3"]))] {
        let body =
            json!({"name": "x", "transport": "stdio", "command": command, "args": args, "timeout_s": 5});
        let answer = haft.admin().post("/mcp-servers", &body).await;
        assert!(answer.status.is_client_error() || answer.status.is_server_error(), "{answer:?}");
        answer.problem(answer.status.as_u16());
    }
    assert_eq!(haft.admin().get("/mcp-servers").await.expect(200)["items"], json!([]));
    haft.stop().await;
}

#[tokio::test]
async fn registering_a_command_takes_an_admin_and_the_setting() {
    let haft = Haft::start().await;
    let operator = haft.role(Role::Operator).await;
    let answer = operator.post("/mcp-servers", &server("x")).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    let id = added(&haft).await;
    let answer = operator.put(&format!("/mcp-servers/{id}"), &server("x")).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    let import = json!({"mcpServers": {"x": {"command": "python3", "args": [FAULTY]}}});
    let answer = operator.post("/mcp-servers/import", &import).await;
    assert!(answer.status == 403 || answer.json()["servers"][0].get("error").is_some(), "{answer:?}");
    haft.stop().await;

    for setting in ["off", "allow:npx"] {
        let haft = Haft::start_with(&[("HAFT_STDIO", setting)]).await;
        let answer = haft.admin().post("/mcp-servers", &server("x")).await;
        answer.problem(403);
        assert!(answer.json()["detail"].as_str().unwrap().contains("HAFT_STDIO"), "{}", answer.json());
        haft.stop().await;
    }
}
