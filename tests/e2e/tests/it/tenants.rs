//! One account never sees another's.

use e2e::Haft;
use serde_json::json;

#[tokio::test]
async fn keys_audit_and_uploads_of_another_account_are_not_seen() {
    let haft = Haft::start().await;
    let stranger = haft.stranger().await;
    let body = json!({"ref": {"type": "builtin_tool", "provider_id": "time", "tool_id": "current_time"}, "args": {}});
    haft.admin().post("/tools/invoke", &body).await.expect(200);
    let key = haft.admin().post("/keys", &json!({"name": "mine", "role": "viewer"})).await.expect(201);
    let id = key["id"].as_str().unwrap();

    let keys = stranger.get("/keys").await.expect(200);
    let names: Vec<_> = keys["items"].as_array().unwrap().iter().map(|key| &key["name"]).collect();
    assert_eq!(names, ["stranger"]);
    assert_eq!(stranger.delete(&format!("/keys/{id}")).await.problem(404), "not_found");
    haft.with_key(key["key"].as_str().unwrap()).get("/tools").await.expect(200);

    let data = haft.stop().await;
    let haft = Haft::start_in(data, &[]).await;
    assert_eq!(haft.admin().get("/audit").await.expect(200)["items"].as_array().unwrap().len(), 1);
    let stranger = haft.stranger().await;
    assert_eq!(stranger.get("/audit").await.expect(200)["items"], json!([]));
    haft.stop().await;
}

#[tokio::test]
async fn imported_apis_and_servers_of_another_account_are_not_there() {
    let haft = Haft::start().await;
    let (admin, stranger) = (haft.admin(), haft.stranger().await);
    let document = json!({"server": haft.url(), "description": "d", "paths": {"/health": {"get":
        {"operationId": "get_health", "description": "d", "parameters": []}}}});
    let body = json!({"name": "mine", "openapi_schema": document.to_string()});
    let api = admin.post("/api-tools", &body).await.expect(201)["id"].as_str().unwrap().to_owned();
    let faulty = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp-faults/stdio_server.py");
    let body = json!({"name": "mine", "transport": "stdio", "command": "python3", "args": [faulty]});
    let mcp = admin.post("/mcp-servers", &body).await.expect(201)["id"].as_str().unwrap().to_owned();

    for (list, id) in [("/api-tools", &api), ("/mcp-servers", &mcp)] {
        assert_eq!(stranger.get(list).await.expect(200)["items"], json!([]));
        stranger.get(&format!("{list}/{id}")).await.problem(404);
        stranger.get(&format!("{list}/{id}/tools")).await.problem(404);
        stranger.delete(&format!("{list}/{id}")).await.problem(404);
        admin.get(&format!("{list}/{id}")).await.expect(200);
    }
    for kind in ["api_tool", "mcp_tool"] {
        assert_eq!(stranger.get(&format!("/tools?kind={kind}")).await.expect(200)["items"], json!([]));
    }
    for (kind, id, tool) in [("api_tool", &api, "get_health"), ("mcp_tool", &mcp, "echo")] {
        let body = json!({"ref": {"type": kind, "provider_id": id, "tool_id": tool}, "args": {}});
        assert_eq!(stranger.post("/tools/invoke", &body).await.problem(404), "provider_not_found");
    }
    haft.stop().await;
}
