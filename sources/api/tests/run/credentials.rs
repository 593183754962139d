//! Credentials: sent where the document says, sealed, masked, and never told.

use crate::world::{World, openapi, things};
use domain::secret::MASK;
use serde_json::{Value, json};

const CANARY: &str = "canary-7d1f0c";

fn schemes() -> Value {
    json!({
        "headerKey": {"type": "apiKey", "in": "header", "name": "X-Service"},
        "queryKey": {"type": "apiKey", "in": "query", "name": "k"},
        "cookieKey": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer"},
    })
}

/// One operation that asks for `security`.
fn document(security: &Value) -> Value {
    let operation = json!({
        "operationId": "op", "security": security, "responses": {"200": {"description": "ok"}},
    });
    openapi(&json!({"/op": {"get": operation}}), &schemes())
}

#[tokio::test]
async fn each_scheme_puts_its_credential_in_its_place() {
    let world = World::new().await;
    let security = json!([{"headerKey": [], "queryKey": [], "cookieKey": [], "bearer": []}]);
    let credentials = json!({
        "headerKey": "h-secret", "queryKey": {"value": "q&secret"}, "cookieKey": {"type": "api_key", "value": "c"},
        "bearer": "b-secret",
    });
    let id = world.import_with(&document(&security), json!({"credentials": credentials})).await;
    world.call(&id, "op", json!({})).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!(seen.target, "/op?k=q%26secret");
    assert_eq!(seen.header("x-service"), Some("h-secret"));
    assert_eq!(seen.header("cookie"), Some("sid=c"));
    assert_eq!(seen.header("authorization"), Some("Bearer b-secret"));
}

#[tokio::test]
async fn basic_and_credentials_of_ones_own_are_sent() {
    let world = World::new().await;
    let credentials = json!({
        "basic": {"username": "u", "password": "p:w"},
        "mine": {"type": "api_key", "in": "header", "name": "X-Mine", "value": "m"},
    });
    let id = world.import_with(&document(&json!([{"basic": []}])), json!({"credentials": credentials})).await;
    world.call(&id, "op", json!({})).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!(seen.header("authorization"), Some("Basic dTpwOnc="));
    assert_eq!(seen.header("x-mine"), Some("m"));
}

#[tokio::test]
async fn a_credential_that_cannot_be_used_is_refused_with_what_it_needs() {
    let world = World::new().await;
    let table = [
        (json!({"nobody": "x"}), "none of the document's security schemes"),
        (json!({"basic": "x"}), "needs `username` and `password`"),
        (json!({"headerKey": {"type": "api_key"}}), "needs `value`"),
        (json!({"headerKey": MASK}), "masked"),
        (json!({"own": {"type": "api_key", "value": "x"}}), "must say where the key goes"),
        (json!({"own": {"type": "api_key", "in": "header", "name": "Host", "value": "x"}}), "cannot go into"),
        (json!({"own": {"client_id": "x", "client_secret": "y"}}), "needs `token_url`"),
    ];
    for (credentials, wanted) in table {
        let body = json!({
            "name": "x", "openapi_schema": document(&json!([])), "server": world.upstream.url,
            "credentials": credentials,
        });
        let error = world.create(body).await.unwrap_err().to_string();
        assert!(error.contains(wanted), "{credentials}: {error}");
    }
}

#[tokio::test]
async fn a_missing_credential_is_named_when_the_service_refuses() {
    let world = World::new().await;
    let id = world.import(&document(&json!([{"headerKey": []}]))).await;
    // Many documents ask for more than their service does.
    world.call(&id, "op", json!({})).await.unwrap();
    world.upstream.then(401, &[], "who are you?");
    let error = world.call(&id, "op", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "missing_credential");
    assert!(error.to_string().contains("`headerKey` (an API key in the header `X-Service`)"), "{error}");
}

#[tokio::test]
async fn secrets_are_sealed_masked_and_never_told() {
    let world = World::new().await;
    let more = json!({
        "headers": [{"key": "X-Extra", "value": format!("{CANARY}-header")}],
        "credentials": {
            "headerKey": format!("{CANARY}-key"),
            "basic": {"username": format!("{CANARY}-user"), "password": format!("{CANARY}-password")},
        },
    });
    let id = world.import_with(&document(&json!([{"headerKey": []}])), more).await;
    let view = serde_json::to_value(world.service.get(&world.account, &id).await.unwrap()).unwrap();
    assert_eq!(view["headers"], json!([{"key": "X-Extra", "value": MASK}]));
    assert_eq!(view["credentials"]["basic"], json!({"type": "basic", "username": MASK, "password": MASK}));
    assert!(!view.to_string().contains(CANARY));
    let stored = world.stored_bytes();
    assert!(!stored.windows(CANARY.len()).any(|w| w == CANARY.as_bytes()));

    // A service that repeats what it was sent does not get it past us.
    world.upstream.then(
        400,
        &[("content-type", "text/plain")],
        format!("bad key {CANARY}-key, {CANARY}-header"),
    );
    let error = world.call(&id, "op", json!({})).await.unwrap_err();
    assert!(!format!("{error:?} {} {}", error.for_model(), error.for_operator()).contains(CANARY));
    assert!(error.for_model().contains(&format!("bad key {MASK}, {MASK}")), "{}", error.for_model());
    assert_eq!(world.upstream.one().header("x-extra"), Some("canary-7d1f0c-header"));
}

#[tokio::test]
async fn what_is_sent_back_masked_is_kept() {
    let world = World::new().await;
    let more = json!({
        "headers": [{"key": "X-Extra", "value": "h1"}],
        "credentials": {"headerKey": "k1", "basic": {"username": "u1", "password": "p1"}},
    });
    let security = json!([{"headerKey": [], "basic": []}]);
    let id = world.import_with(&document(&security), more).await;
    let view = serde_json::to_value(world.service.get(&world.account, &id).await.unwrap()).unwrap();
    let mut credentials = view["credentials"].clone();
    credentials["basic"]["password"] = json!("p2");
    let sent_back = json!({"headers": view["headers"], "credentials": credentials});
    world.update(&id, sent_back).await.unwrap();
    world.call(&id, "op", json!({})).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!((seen.header("x-extra"), seen.header("x-service")), (Some("h1"), Some("k1")));
    assert_eq!(seen.header("authorization"), Some("Basic dTE6cDI="));

    // What is not named any more is gone.
    world.update(&id, json!({"credentials": {"headerKey": MASK}})).await.unwrap();
    world.call(&id, "op", json!({})).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!((seen.header("x-service"), seen.header("authorization")), (Some("k1"), None));
}

#[tokio::test]
async fn stored_secrets_do_not_follow_a_change_of_server() {
    let world = World::new().await;
    let other = crate::upstream::Upstream::start().await;
    let more = json!({"credentials": {"headerKey": "k1"}});
    let id = world.import_with(&document(&json!([{"headerKey": []}])), more).await;
    let error = world.update(&id, json!({"server": other.url})).await.unwrap_err();
    assert!(error.to_string().contains("send `headers` and `credentials` again"), "{error}");
    let error = world.update(&id, json!({"server": other.url, "credentials": {"headerKey": MASK}})).await;
    assert!(error.is_err());
    world.call(&id, "op", json!({})).await.unwrap();
    assert_eq!((world.upstream.take().len(), other.take().len()), (1, 0));
    world.update(&id, json!({"server": other.url, "credentials": {"headerKey": "k2"}})).await.unwrap();
    world.call(&id, "op", json!({})).await.unwrap();
    assert_eq!(other.one().header("x-service"), Some("k2"));
}

#[tokio::test]
async fn headers_go_with_every_call_and_arguments_come_first_where_that_is_harmless() {
    let world = World::new().await;
    let headers = json!([{"key": "X-Note", "value": "own"}, {"key": "Authorization", "value": "Bearer t"}]);
    let id = world.import_with(&things(), json!({"headers": headers})).await;
    world.call(&id, "getThing", json!({"id": "1"})).await.unwrap();
    let seen = world.upstream.one();
    assert_eq!((seen.header("x-note"), seen.header("authorization")), (Some("own"), Some("Bearer t")));
    world.call(&id, "getThing", json!({"id": "1", "X-Note": "argument"})).await.unwrap();
    assert_eq!(world.upstream.one().header("x-note"), Some("argument"));

    for (key, value) in
        [("Host", "x"), ("Content-Length", "1"), ("X-A", "a\r\nb"), ("X A", "a"), ("X-B", MASK)]
    {
        let error = world.update(&id, json!({"headers": [{"key": key, "value": value}]})).await;
        assert!(error.is_err(), "{key}: {value:?}");
    }
}
