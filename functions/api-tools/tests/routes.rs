//! The routes of imported APIs, asked over the production layers, with real stores behind them.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use apps::keys::{Keys, NewKey};
use axum::{
    Router,
    body::Body,
    http::{Method, Request},
    routing::get,
};
use domain::{
    AccountId, Role,
    ports::{Clock, SystemClock, Table},
    toolset::Runtime,
};
use fn_api_tools::ApiToolsState;
use http_body_util::BodyExt as _;
use infra_directory::DirectoryBlobs;
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use source_api::{ApiTools, ApiToolsPorts};
use std::sync::Arc;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// The function, and a service that it calls.
struct World {
    router: Router,
    keys: Arc<Keys>,
    account: AccountId,
    upstream: String,
    _directory: TempDir,
}

impl World {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let table: Arc<dyn Table> =
            Arc::new(SqliteTable::open(directory.path().join("haft.db")).await.unwrap());
        let cipher = LocalKeyCipher::open_or_create(&directory.path().join("cipher.key")).unwrap();
        let blobs = DirectoryBlobs::open(directory.path().join("blobs"), "http://localhost:1").unwrap();
        let service = ApiTools::new(ApiToolsPorts {
            table: table.clone(),
            blobs: Arc::new(blobs),
            cipher: Arc::new(cipher),
            clock: clock.clone(),
            client: egress::Client::new(egress::Policy::strict().with_loopback(true)),
            runtime: Arc::new(Runtime::default()),
        });
        let keys = Arc::new(Keys::new(table, clock));
        let (router, _) = fn_api_tools::router(ApiToolsState { service }).split_for_parts();
        Self {
            router: http_kit::stack(router, keys.clone()),
            keys,
            account: AccountId::generate(),
            upstream: upstream().await,
            _directory: directory,
        }
    }

    async fn ask(&self, role: Role, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let (_, key) = self.keys.create(&self.account, new_key(role)).await.unwrap();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {}", key.expose_secret()))
            .header("content-type", "application/json")
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask(Role::Admin, Method::POST, path, Some(body)).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(Role::Viewer, Method::GET, path, None).await
    }

    /// Imports the document and gives the path of the API.
    async fn import(&self) -> String {
        let body = json!({"name": "weather", "openapi_schema": document(&self.upstream)});
        let (status, answer) = self.post("/api-tools", body).await;
        assert_eq!(status, 201, "{answer}");
        format!("/api-tools/{}", answer["id"].as_str().unwrap())
    }
}

fn new_key(role: Role) -> NewKey {
    NewKey { name: "test".into(), role, expires_at: None, app_id: None }
}

async fn upstream() -> String {
    let router = Router::new()
        .route("/today", get(|| async { axum::Json(json!({"sky": "clear"})) }))
        .route("/set", axum::routing::post(|| async { (axum::http::StatusCode::IM_A_TEAPOT, "no") }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

/// A document of the narrow protocol, as a text.
fn document(server: &str) -> String {
    let operation = |id: &str| json!({"description": id, "operationId": id, "parameters": []});
    json!({
        "server": server,
        "description": "Weather",
        "paths": {"/today": {"get": operation("today")}, "/set": {"post": operation("set")}},
    })
    .to_string()
}

#[tokio::test]
async fn an_api_is_validated_imported_listed_called_and_deleted() {
    let world = World::new().await;
    let text = document(&world.upstream);
    let (status, answer) =
        world.post("/api-tools/validate-openapi-schema", json!({"openapi_schema": text})).await;
    assert_eq!((status, &answer["valid"], &answer["tools"]), (200, &json!(true), &json!(2)));
    assert_eq!(answer["report"]["totals"]["tools"], 2);

    let api = world.import().await;
    let (status, list) = world.get("/api-tools?q=WEATHER").await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (200, 1));
    let (_, view) = world.get(&api).await;
    assert_eq!((&view["openapi_schema"], &view["revision"]), (&json!(text), &json!(1)));
    let (_, tools) = world.get(&format!("{api}/tools")).await;
    let names: Vec<_> = tools["items"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["set", "today"]);
    let item = &tools["items"][1];
    assert_eq!(
        (&item["method"], &item["path"], &item["enabled"]),
        (&json!("GET"), &json!("/today"), &json!(true))
    );
    let (_, tool) = world.get(&format!("{api}/tools/today")).await;
    assert_eq!(&tool, item);

    let (status, output) = world.post(&format!("{api}/tools/today/debug"), json!({"args": {}})).await;
    assert_eq!((status, &output["structured"]), (200, &json!({"sky": "clear"})));
    let (status, problem) = world.post(&format!("{api}/tools/set/debug"), json!({})).await;
    assert_eq!((status, &problem["code"]), (502, &json!("upstream")));
    assert!(problem["detail"].as_str().unwrap().contains("418"), "{problem}");

    let (status, _) = world.ask(Role::Operator, Method::DELETE, &api, None).await;
    assert_eq!((status, world.get(&api).await.0), (204, 404));
}

#[tokio::test]
async fn roles_bound_what_a_key_may_do() {
    let world = World::new().await;
    let api = world.import().await;
    let body = json!({"name": "other", "openapi_schema": document(&world.upstream)});
    let mut with_credentials = body.clone();
    with_credentials["credentials"] =
        json!({"k": {"type": "api_key", "in": "header", "name": "X-K", "value": "v"}});
    let debug = |tool: &str| format!("{api}/tools/{tool}/debug");
    let table = [
        (Role::Viewer, Method::POST, "/api-tools".to_owned(), body.clone(), 403),
        (Role::Operator, Method::POST, "/api-tools".to_owned(), with_credentials, 403),
        (Role::Operator, Method::POST, "/api-tools".to_owned(), body, 201),
        (Role::Viewer, Method::PUT, api.clone(), json!({"name": "x"}), 403),
        (Role::Viewer, Method::PATCH, format!("{api}/tools/today"), json!({"enabled": false}), 403),
        (Role::Viewer, Method::DELETE, api.clone(), json!(null), 403),
        (Role::Viewer, Method::POST, debug("today"), json!({}), 200),
        (Role::Viewer, Method::POST, debug("set"), json!({}), 403),
    ];
    for (role, method, path, body, wanted) in table {
        let (status, answer) = world.ask(role, method.clone(), &path, Some(body)).await;
        assert_eq!(status, wanted, "{role:?} {method} {path}: {answer}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_where() {
    let world = World::new().await;
    let api = world.import().await;
    let text = document(&world.upstream);
    let post = |body: Value| ("/api-tools".to_owned(), Method::POST, body);
    let table = [
        (post(json!({"name": "weather", "openapi_schema": text})), 409, "name_taken", None),
        (post(json!({"openapi_schema": text})), 422, "invalid_body", Some("/name")),
        (post(json!({"name": "x"})), 422, "invalid_body", Some("")),
        (post(json!({"name": "x", "openapi_schema": "{}"})), 422, "invalid_document", None),
        (
            post(json!({"name": "x", "openapi_schema": "{\"server\": \"\"}"})),
            422,
            "invalid_document",
            Some("/server"),
        ),
        (
            post(json!({"name": "x", "openapi_schema": {"openapi": "3.1.0", "paths": {}}})),
            422,
            "no_tools",
            None,
        ),
        (
            post(json!({"name": "x", "openapi_schema": {"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}})),
            422,
            "server_needed",
            Some("/server"),
        ),
        (post(json!({"name": "x", "url": "http://10.0.0.1/openapi.json"})), 403, "blocked", None),
        (
            post(json!({"name": "x", "openapi_schema": text, "headers": [{"key": "Host", "value": "x"}]})),
            422,
            "invalid_body",
            Some("/headers"),
        ),
        (
            post(json!({"name": "x", "openapi_schema": text, "credentials": {"k": "v"}})),
            422,
            "invalid_body",
            Some("/credentials/k"),
        ),
        (
            (format!("{api}/tools/today"), Method::PATCH, json!({"timeout_s": 0})),
            422,
            "invalid_body",
            Some("/timeout_s"),
        ),
        ((format!("{api}/tools/todya"), Method::PATCH, json!({})), 404, "not_found", None),
        ((format!("{api}/tools/todya/debug"), Method::POST, json!({})), 404, "tool_not_found", None),
        (("/api-tools/api_gone".to_owned(), Method::PUT, json!({})), 404, "not_found", None),
    ];
    for ((path, method, body), status, code, place) in table {
        let (found, problem) = world.ask(Role::Admin, method, &path, Some(body.clone())).await;
        assert_eq!((found, &problem["code"]), (status, &json!(code)), "{body}: {problem}");
        if let Some(place) = place {
            assert_eq!(problem["violations"][0]["path"], json!(place), "{body}: {problem}");
        }
    }
}

#[tokio::test]
async fn an_update_tells_what_changed() {
    let world = World::new().await;
    let api = world.import().await;
    let mut changed: Value = serde_json::from_str(&document(&world.upstream)).unwrap();
    changed["paths"]["/today"]["get"]["description"] = json!("altered");
    changed["paths"].as_object_mut().unwrap().remove("/set");
    let body = json!({"openapi_schema": changed.to_string()});
    let (status, answer) = world.ask(Role::Operator, Method::PUT, &api, Some(body)).await;
    assert_eq!((status, &answer["revision"]), (200, &json!(2)));
    assert_eq!(answer["changes"], json!({"added": [], "removed": ["set"], "altered": ["today"]}));
    let off = json!({"enabled": false});
    let (_, tool) = world.ask(Role::Operator, Method::PATCH, &format!("{api}/tools/today"), Some(off)).await;
    assert_eq!(tool["enabled"], json!(false));
    let (status, problem) = world.post(&format!("{api}/tools/today/debug"), json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("disabled")));
}
