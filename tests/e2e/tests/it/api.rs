//! Imported APIs, end to end: imported, listed, assembled, called, deleted. The API is the gateway itself.

use e2e::Haft;
use serde_json::{Value, json};

/// A narrow document whose server is this gateway: its health, and a path with get and post.
fn document(haft: &Haft) -> String {
    let operation = |id: &str| json!({"operationId": id, "description": id, "parameters": []});
    json!({
        "server": haft.url(),
        "description": "the gateway itself",
        "paths": {
            "/health": {"get": operation("get_health"), "post": operation("post_health")},
            "/tools": {"get": {"operationId": "list_tools", "description": "lists tools", "parameters": [
                {"name": "limit", "in": "query", "description": "how many", "required": false, "type": "int"},
                {"name": "q", "in": "query", "description": "what", "required": true, "type": "str"},
            ]}},
        },
    })
    .to_string()
}

fn tool(id: &str, name: &str) -> Value {
    json!({"type": "api_tool", "provider_id": id, "tool_id": name, "params": {}})
}

#[tokio::test]
async fn an_imported_operation_is_assembled_and_called_like_any_tool() {
    let haft = Haft::start().await;
    let body = json!({"name": "self", "openapi_schema": document(&haft)});
    let imported = haft.admin().post("/api-tools", &body).await.expect(201);
    // Get and post of one path are two tools.
    assert_eq!(imported["tools"], 3, "{imported}");
    let id = imported["id"].as_str().unwrap();

    let refs = json!([tool(id, "get_health"), tool(id, "list_tools"), tool(id, "absent")]);
    let assembled = haft.admin().post("/tools/assemble", &json!({"refs": refs})).await.expect(200);
    assert_eq!(assembled["tools"].as_array().unwrap().len(), 2, "{assembled}");
    assert_eq!(assembled["problems"][0]["code"], "tool_not_found");
    assert_eq!(assembled["tools"][1]["args_schema"]["required"], json!(["q"]));

    let call = json!({"ref": tool(id, "get_health"), "args": {}});
    let output = haft.admin().post("/tools/invoke", &call).await.expect(200);
    assert_eq!(output["content"][0]["text"], r#"{"status":"ok"}"#);
    // The server's refusal is the tool's result or an upstream error; never a success.
    let call = json!({"ref": tool(id, "post_health"), "args": {}});
    let refused = haft.admin().post("/tools/invoke", &call).await;
    assert!(refused.status == 502 || refused.json()["is_error"] == true, "{refused:?}");
    let call = json!({"ref": tool(id, "list_tools"), "args": {"limit": "many"}});
    assert_eq!(haft.admin().post("/tools/invoke", &call).await.problem(422), "invalid_args");

    haft.admin().delete(&format!("/api-tools/{id}")).await.expect(204);
    let call = json!({"ref": tool(id, "get_health"), "args": {}});
    assert_eq!(haft.admin().post("/tools/invoke", &call).await.problem(404), "provider_not_found");
    haft.stop().await;
}

#[tokio::test]
async fn headers_of_an_api_are_sent_and_never_shown_or_stored_open() {
    let haft = Haft::start().await;
    let canary =
        haft.admin().post("/keys", &json!({"name": "for itself", "role": "viewer"})).await.expect(201);
    let canary = canary["key"].as_str().unwrap().to_owned();
    let headers = json!([{"key": "Authorization", "value": format!("Bearer {canary}")}]);
    let body = json!({"name": "self", "openapi_schema": document(&haft), "headers": headers});
    let imported = haft.admin().post("/api-tools", &body).await.expect(201);
    let id = imported["id"].as_str().unwrap().to_owned();

    let call = json!({"ref": tool(&id, "list_tools"), "args": {"q": "time"}});
    let output = haft.admin().post("/tools/invoke", &call).await.expect(200);
    assert!(output.to_string().contains("current_time"), "the header was not sent: {output}");

    for path in [format!("/api-tools/{id}"), "/api-tools".into(), "/audit".into(), "/tools".into()] {
        let shown = haft.admin().get(&path).await.expect(200).to_string();
        assert!(!shown.contains(&canary), "{path} shows a secret");
    }
    let data = haft.stop().await;
    for entry in std::fs::read_dir(data.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
            assert!(!found, "{} holds a secret in the open", path.display());
        }
    }
}

#[tokio::test]
async fn documents_that_cannot_be_taken_are_refused_with_a_reason() {
    let haft = Haft::start().await;
    let cases = [
        json!({"name": "x", "openapi_schema": "{"}),
        json!({"name": "x", "openapi_schema": "[]"}),
        json!({"name": "x", "openapi_schema": "{\"server\": \"\", \"description\": \"d\", \"paths\": {}}"}),
        json!({"name": "x"}),
        json!({"openapi_schema": document(&haft)}),
    ];
    for body in cases {
        let answer = haft.admin().post("/api-tools", &body).await;
        assert!(matches!(answer.status.as_u16(), 400 | 422), "{body} gave {}", answer.json());
        answer.problem(answer.status.as_u16());
    }
    assert_eq!(haft.admin().get("/api-tools").await.expect(200)["items"], json!([]));

    let body = json!({"name": "self", "openapi_schema": document(&haft)});
    haft.admin().post("/api-tools", &body).await.expect(201);
    assert_eq!(haft.admin().post("/api-tools", &body).await.problem(409), "name_taken");
    haft.stop().await;
}

#[tokio::test]
async fn a_large_document_comes_through_an_upload() {
    let haft = Haft::start().await;
    let upload = haft.admin().send(http::Method::POST, "/uploads", None).await.expect(201);
    let path = upload["url"].as_str().unwrap().strip_prefix(haft.url()).unwrap();
    let put = haft.nobody().request(http::Method::PUT, path).body(document(&haft));
    assert_eq!(e2e::Client::answer(put).await.status, 204);
    let body = json!({"name": "self", "upload_id": upload["upload_id"]});
    assert_eq!(haft.admin().post("/api-tools", &body).await.expect(201)["tools"], 3);
    // Another account's upload is not found.
    let body = json!({"name": "self", "upload_id": upload["upload_id"]});
    let refused = haft.stranger().await.post("/api-tools", &body).await;
    assert!(matches!(refused.status.as_u16(), 404 | 422), "{refused:?}");
    haft.stop().await;
}
