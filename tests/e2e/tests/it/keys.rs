//! Keys: made, listed, revoked, expired; and what the first start leaves behind.

use domain::Role;
use e2e::Haft;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn a_key_is_shown_once_and_opens_nothing_after_it_is_revoked() {
    let haft = Haft::start().await;
    let made = haft.admin().post("/keys", &json!({"name": "ci", "role": "viewer"})).await.expect(201);
    let (id, text) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let client = haft.with_key(text);
    client.get("/tools").await.expect(200);

    let listed = haft.admin().get("/keys").await.expect(200);
    assert!(!listed.to_string().contains(text), "the text of a key is listed");
    assert!(listed["items"].as_array().unwrap().iter().any(|key| key["id"] == id));

    haft.admin().delete(&format!("/keys/{id}")).await.expect(204);
    assert_eq!(client.get("/tools").await.problem(401), "invalid_key");
    assert_eq!(haft.admin().delete(&format!("/keys/{id}")).await.problem(404), "not_found");
    haft.stop().await;
}

#[tokio::test]
async fn a_key_cannot_revoke_itself() {
    let haft = Haft::start().await;
    let keys = haft.admin().get("/keys").await.expect(200);
    let own = keys["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(haft.admin().delete(&format!("/keys/{own}")).await.problem(409), "own_key");
    haft.admin().get("/keys").await.expect(200);
    haft.stop().await;
}

#[tokio::test]
async fn keys_that_make_no_sense_are_refused_with_the_place() {
    let haft = Haft::start().await;
    let cases = [
        (json!({"name": "", "role": "viewer"}), "/name"),
        (json!({"name": "a\nb", "role": "viewer"}), "/name"),
        (json!({"name": "x".repeat(101), "role": "viewer"}), "/name"),
        (json!({"name": "x", "role": "root"}), "/role"),
        (json!({"name": "x", "role": "viewer", "expires_at": "2001-01-01T00:00:00Z"}), "/expires_at"),
        (json!({"name": "x", "role": "viewer", "expires_at": "tomorrow"}), "/expires_at"),
        (json!({"name": "x", "role": "viewer", "scope": "all"}), "/scope"),
    ];
    for (body, place) in cases {
        let answer = haft.admin().post("/keys", &body).await;
        assert_eq!(answer.problem(422), "invalid_body", "{body}");
        assert_eq!(answer.json()["violations"][0]["path"], place, "{body}");
    }
    haft.stop().await;
}

#[tokio::test]
async fn the_first_start_writes_a_private_key_that_the_next_start_knows() {
    let haft = Haft::start().await;
    let path = haft.data().join("admin.key");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = std::fs::read_to_string(&path).unwrap();
    let data = haft.stop().await;

    let haft = Haft::start_in(data, &[]).await;
    assert_eq!(std::fs::read_to_string(haft.data().join("admin.key")).unwrap(), first);
    haft.with_key(&first).get("/keys").await.expect(200);
    assert_eq!(haft.admin().get("/keys").await.expect(200)["items"].as_array().unwrap().len(), 1);
    let data = haft.stop().await;

    // The file was lost: whoever holds the directory gets a new key of the same account.
    std::fs::remove_file(data.path().join("admin.key")).unwrap();
    let haft = Haft::start_in(data, &[]).await;
    assert_eq!(haft.admin().get("/keys").await.expect(200)["items"].as_array().unwrap().len(), 2);
    haft.stop().await;
}

#[tokio::test]
async fn an_operators_own_admin_key_is_taken_from_the_environment() {
    let own = "an-admin-key-of-our-own-0123456789-0123456789";
    let haft = Haft::start_with(&[("HAFT_ADMIN_KEY", own)]).await;
    haft.with_key(own).get("/keys").await.expect(200);
    assert!(!haft.data().join("admin.key").exists());
    let viewer = haft.role(Role::Viewer).await;
    assert_eq!(viewer.get("/keys").await.problem(403), "role_too_low");
    haft.stop().await;
}
