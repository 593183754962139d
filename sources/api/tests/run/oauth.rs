//! OAuth 2 client credentials: one token for many calls, a new one before it ends or when it is refused.

use crate::{
    upstream::Upstream,
    world::{World, openapi},
};
use futures::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

fn document(token_url: &str) -> Value {
    let flow = json!({"clientCredentials": {"tokenUrl": token_url, "scopes": {"read": "", "write": ""}}});
    let operation = |id: &str, method: &str, scope: &str| {
        json!({method: {
            "operationId": id, "security": [{"oauth": [scope]}], "responses": {"200": {"description": "ok"}},
        }})
    };
    let paths =
        json!({"/read": operation("read", "get", "read"), "/write": operation("write", "post", "write")});
    openapi(&paths, &json!({"oauth": {"type": "oauth2", "flows": flow}}))
}

fn issue(issuer: &Upstream, token: &str, life: u64) {
    let answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": life});
    issuer.then(200, JSON, answer.to_string());
}

async fn world(issuer: &Upstream, credential: Value) -> (World, String) {
    let world = World::new().await;
    let document = document(&format!("{}/token", issuer.url));
    let id = world.import_with(&document, json!({"credentials": {"oauth": credential}})).await;
    (world, id)
}

fn client() -> Value {
    json!({"client_id": "me", "client_secret": "s3 cret"})
}

#[tokio::test]
async fn a_token_is_fetched_once_and_again_before_it_ends() {
    let issuer = Upstream::start().await;
    let (world, id) = world(&issuer, client()).await;
    issue(&issuer, "one", 600);
    for _ in 0..3 {
        world.call(&id, "read", json!({})).await.unwrap();
    }
    let seen = issuer.one();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/token"));
    assert_eq!(seen.text(), "grant_type=client_credentials&scope=read");
    assert_eq!(seen.header("authorization"), Some("Basic bWU6czMrY3JldA=="));
    assert!(world.upstream.take().iter().all(|s| s.header("authorization") == Some("Bearer one")));

    world.clock.advance(Duration::from_secs(539));
    world.call(&id, "read", json!({})).await.unwrap();
    assert!(issuer.take().is_empty());
    world.clock.advance(Duration::from_secs(2));
    issue(&issuer, "two", 600);
    world.upstream.take();
    world.call(&id, "read", json!({})).await.unwrap();
    assert_eq!(world.upstream.one().header("authorization"), Some("Bearer two"));
}

#[tokio::test]
async fn calls_side_by_side_share_one_request_for_a_token() {
    let issuer = Upstream::start().await;
    let (world, id) = world(&issuer, client()).await;
    issue(&issuer, "one", 600);
    let results = join_all((0..10).map(|_| world.call(&id, "read", json!({})))).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(issuer.take().len(), 1);
}

#[tokio::test]
async fn another_scope_is_another_token() {
    let issuer = Upstream::start().await;
    let (world, id) = world(&issuer, client()).await;
    issue(&issuer, "one", 600);
    issue(&issuer, "two", 600);
    world.call(&id, "read", json!({})).await.unwrap();
    world.call(&id, "write", json!({})).await.unwrap();
    let scopes: Vec<_> = issuer.take().iter().map(|s| s.text().to_owned()).collect();
    assert_eq!(
        scopes,
        ["grant_type=client_credentials&scope=read", "grant_type=client_credentials&scope=write"]
    );
}

#[tokio::test]
async fn a_refused_token_is_fetched_anew_once() {
    let issuer = Upstream::start().await;
    let (world, id) = world(&issuer, client()).await;
    issue(&issuer, "one", 600);
    issue(&issuer, "two", 600);
    world.upstream.then(401, &[], "");
    world.call(&id, "write", json!({})).await.unwrap();
    let tokens: Vec<_> =
        world.upstream.take().iter().map(|s| s.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(tokens, ["Bearer one", "Bearer two"]);
    assert_eq!(issuer.take().len(), 2);

    // The new one is kept, and a second refusal is told.
    issue(&issuer, "three", 600);
    world.upstream.then(401, &[], "");
    world.upstream.then(401, &[], "no");
    let error = world.call(&id, "write", json!({})).await.unwrap_err();
    assert_eq!((error.code(), world.upstream.take().len(), issuer.take().len()), ("upstream", 2, 1));
}

#[tokio::test]
async fn the_client_may_prove_itself_in_the_body_and_ask_for_more() {
    let issuer = Upstream::start().await;
    let credential = json!({
        "type": "oauth2", "client_id": "me", "client_secret": "s&cret", "client_auth": "body",
        "scopes": ["a", "b"], "extra": {"audience": "things"},
    });
    let (world, id) = world(&issuer, credential).await;
    issue(&issuer, "one", 600);
    world.call(&id, "read", json!({})).await.unwrap();
    let seen = issuer.one();
    assert_eq!(
        seen.text(),
        "grant_type=client_credentials&scope=a+b&client_id=me&client_secret=s%26cret&audience=things"
    );
    assert_eq!(seen.header("authorization"), None);
}

#[tokio::test]
async fn a_refusal_by_the_issuer_tells_its_code_and_no_more() {
    let issuer = Upstream::start().await;
    let (world, id) = world(&issuer, client()).await;
    let answer = json!({"error": "invalid_client", "error_description": "no client with secret s3 cret"});
    issuer.then(401, JSON, answer.to_string());
    let error = world.call(&id, "read", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "missing_credential");
    assert!(
        error.to_string().contains("invalid_client") && !error.to_string().contains("s3 cret"),
        "{error}"
    );
    assert!(world.upstream.take().is_empty());
}
