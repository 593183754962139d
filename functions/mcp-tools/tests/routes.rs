//! The routes as clients see them: statuses, roles, masks. The server behind them is a real process.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use apps::{
    assembly::SourceAssembler,
    keys::{Keys, NewKey},
};
use axum::{Router, body::Body};
use domain::{
    AccountId, Role,
    ports::{Cipher, SystemClock, Table},
};
use fn_mcp_tools::{McpToolsState, router};
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use source_mcp::{Deps, Servers, StdioPolicy, stdio::LocalStdio};
use std::{collections::HashMap, sync::Arc};
use tempfile::TempDir;
use tower::ServiceExt as _;

struct Api {
    router: Router,
    keys: HashMap<Role, String>,
    _dir: TempDir,
}

impl Api {
    async fn new(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let policy: StdioPolicy = policy.parse().unwrap();
        let table: Arc<dyn Table> = Arc::new(SqliteTable::open(dir.path().join("t.db")).await.unwrap());
        let cipher: Arc<dyn Cipher> =
            Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key")).unwrap());
        let servers = Servers::new(Deps {
            table: table.clone(),
            cipher,
            egress: egress::Client::new(egress::Policy::strict().with_loopback(true)),
            stdio: Arc::new(LocalStdio::new(policy.clone())),
            stdio_policy: policy,
            clock: Arc::new(SystemClock),
            listen: true,
        });
        let assembler = SourceAssembler::new(vec![Arc::new(servers.source())], Arc::default());
        let state = McpToolsState { servers, assembler: Arc::new(assembler) };
        let keyring = Arc::new(Keys::new(table, Arc::new(SystemClock)));
        let account = AccountId::generate();
        let mut keys = HashMap::new();
        for role in [Role::Viewer, Role::Operator, Role::Admin] {
            let new = NewKey { name: role.as_str().into(), role, expires_at: None, app_id: None };
            let (_, text) = keyring.create(&account, new).await.unwrap();
            keys.insert(role, text.expose_secret().to_owned());
        }
        let (routes, _) = router(state).split_for_parts();
        Self { router: http_kit::stack(routes, keyring), keys, _dir: dir }
    }

    async fn send(&self, role: Role, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.keys[&role]))
            .header(header::CONTENT_TYPE, "application/json")
            .body(if body.is_null() { Body::empty() } else { Body::from(body.to_string()) })
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }
}

fn server(name: &str) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp-faults/stdio_server.py");
    json!({"name": name, "transport": "stdio", "command": "python3", "args": [script], "env": {"KEY": "s3cret"}})
}

#[tokio::test]
async fn a_server_from_its_creation_to_its_end() {
    let api = Api::new("admin").await;
    let (status, made) = api.send(Role::Admin, "POST", "/mcp-servers", server("faults")).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(
        (&made["status"], &made["revision"], &made["env"]),
        (&json!("ready"), &json!(1), &json!({"KEY": "********"}))
    );
    assert!(made["tools"].as_u64().unwrap() > 10 && made["health"]["last_success_at"].is_string());
    let path = format!("/mcp-servers/{}", made["id"].as_str().unwrap());

    let (_, list) = api.send(Role::Viewer, "GET", "/mcp-servers?q=FAUL", Value::Null).await;
    assert_eq!(list["items"][0]["id"], made["id"]);
    let (_, tools) = api.send(Role::Viewer, "GET", &format!("{path}/tools?q=echo"), Value::Null).await;
    assert_eq!((tools["items"].as_array().unwrap().len(), &tools["items"][0]["name"]), (1, &json!("echo")));

    let debug = format!("{path}/tools/echo/debug");
    let (status, output) = api.send(Role::Operator, "POST", &debug, json!({"args": {"text": "hi"}})).await;
    assert_eq!(status, StatusCode::OK, "{output}");
    let wanted = json!({"content": [{"type": "text", "text": "hi", "x": 1}], "structured": {"text": "hi"}, "is_error": false});
    assert_eq!(output, wanted);
    let (status, problem) = api.send(Role::Operator, "POST", &debug, json!({"args": {"text": 7}})).await;
    assert_eq!((status.as_u16(), &problem["violations"][0]["path"]), (422, &json!("/text")));
    let (status, problem) =
        api.send(Role::Operator, "POST", &format!("{path}/tools/nothing/debug"), json!({"args": {}})).await;
    assert_eq!((status.as_u16(), &problem["code"]), (404, &json!("tool_not_found")));
    let failing = format!("{path}/tools/fails/debug");
    let (status, output) = api.send(Role::Operator, "POST", &failing, json!({})).await;
    assert_eq!((status.as_u16(), &output["is_error"]), (200, &json!(true)));
    let (status, problem) =
        api.send(Role::Operator, "POST", &format!("{path}/tools/die/debug"), json!({"args": {}})).await;
    assert_eq!((status.as_u16(), &problem["code"]), (502, &json!("unreachable")));
    assert!(!problem.to_string().contains("s3cret"));

    let (status, refreshed) = api.send(Role::Operator, "POST", &format!("{path}/refresh"), Value::Null).await;
    assert_eq!((status.as_u16(), &refreshed["changes"]["added"]), (200, &json!([])));
    let (status, changes) = api.send(Role::Viewer, "GET", &format!("{path}/changes"), Value::Null).await;
    assert_eq!(
        (status.as_u16(), &changes["pending"], &changes["next_cursor"]),
        (200, &json!([]), &Value::Null)
    );
    let (status, _) = api.send(Role::Operator, "POST", &format!("{path}/changes/approve"), json!({})).await;
    assert_eq!(status, StatusCode::OK);

    let (status, _) = api.send(Role::Operator, "DELETE", &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, problem) = api.send(Role::Viewer, "GET", &path, Value::Null).await;
    assert_eq!((status.as_u16(), &problem["code"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn a_command_is_never_open_to_a_key_that_merely_may_write() {
    let api = Api::new("admin").await;
    for role in [Role::Viewer, Role::Operator] {
        let (status, problem) = api.send(role, "POST", "/mcp-servers", server("x")).await;
        assert_eq!((status.as_u16(), &problem["code"]), (403, &json!("role_too_low")), "{role:?}");
    }
    let import = json!({"mcpServers": {"x": {"command": "python3", "args": ["-c", "0"]}}});
    let (status, imported) = api.send(Role::Operator, "POST", "/mcp-servers/import", import.clone()).await;
    assert_eq!(status, StatusCode::OK);
    assert!(imported["servers"][0]["error"].as_str().unwrap().contains("role admin"), "{imported}");
    // Nor by changing a server that is not one.
    let off = json!({"name": "web", "transport": "http", "url": "http://127.0.0.1:9/", "enabled": false});
    let (_, made) = api.send(Role::Operator, "POST", "/mcp-servers", off).await;
    let path = format!("/mcp-servers/{}", made["id"].as_str().unwrap());
    let (status, _) = api.send(Role::Operator, "PUT", &path, server("web")).await;
    assert_eq!(status, StatusCode::FORBIDDEN);

    let closed = Api::new("off").await;
    let (status, problem) = closed.send(Role::Admin, "POST", "/mcp-servers", server("x")).await;
    assert_eq!((status.as_u16(), &problem["code"]), (403, &json!("stdio_not_allowed")));
    assert!(problem["detail"].as_str().unwrap().contains("HAFT_STDIO"));
    let (_, imported) = closed.send(Role::Admin, "POST", "/mcp-servers/import", import).await;
    assert!(imported["servers"][0]["error"].as_str().unwrap().contains("HAFT_STDIO"));
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_place_and_status() {
    let api = Api::new("admin").await;
    let cases = [
        (json!({"name": "x", "transport": "http", "url": "http://127.0.0.1:9/mcp"}), 502, "unreachable"),
        (json!({"name": "x", "transport": "http", "url": "http://10.0.0.1/mcp"}), 422, "invalid_body"),
        (json!({"name": "x", "transport": "carrier-pigeon"}), 422, "invalid_body"),
        (json!({"name": "x", "transport": "http", "url": "http://x.test/", "typo": 1}), 422, "invalid_body"),
        (
            json!({"name": "x", "transport": "stdio", "command": "no-such-command-anywhere"}),
            502,
            "unreachable",
        ),
    ];
    for (body, status, code) in cases {
        let (answered, problem) = api.send(Role::Admin, "POST", "/mcp-servers", body.clone()).await;
        assert_eq!((answered.as_u16(), problem["code"].as_str()), (status, Some(code)), "{body} {problem}");
    }
    let (status, _) = api.send(Role::Admin, "POST", "/mcp-servers/nothing/refresh", Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, list) = api.send(Role::Admin, "GET", "/mcp-servers", Value::Null).await;
    assert_eq!(list["items"], json!([]), "nothing was saved");
    let (status, _) = api.send(Role::Viewer, "POST", "/mcp-servers/import", json!({"mcpServers": {}})).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
}
