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
