//! The routes over the real layers, a real store and the real assembler.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it stands")]

use apps::{
    assembly::SourceAssembler,
    keys::{Keys, NewKey},
};
use axum::{Router, body::Body};
use domain::{
    AccountId, Role, ToolSource,
    ports::{Assembler, SystemClock},
    toolset::Runtime,
};
use fn_workflows::WorkflowsState;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use infra_sqlite::SqliteTable;
use serde_json::{Value, json};
use source_workflow::{Engine, EngineDeps, LateAssembler, NoModels, WorkflowSource, Workflows};
use std::sync::Arc;
use tempfile::TempDir;
use tower::ServiceExt as _;

struct Haft {
    router: Router,
    operator: String,
    viewer: String,
    _assembler: Arc<dyn Assembler>,
    _dir: TempDir,
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }
}

impl Haft {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let table = Arc::new(SqliteTable::new(dir.path().join("haft.db")));
        let late = LateAssembler::new();
        let deps = EngineDeps {
            assembler: late.clone(),
            models: Arc::new(NoModels),
            retriever: None,
            http: egress::Client::new(egress::Policy::strict()),
        };
        let source = WorkflowSource::new(table.clone(), Engine::new(deps), Arc::new(SystemClock));
        let sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(source.clone())];
        let assembler: Arc<dyn Assembler> =
            Arc::new(SourceAssembler::new(sources, Arc::new(Runtime::default())));
        late.bind(&assembler);
        let keys = Arc::new(Keys::new(table, Arc::new(SystemClock)));
        let account = AccountId::generate();
        let key = async |role| {
            let new = NewKey { name: "test".into(), role, expires_at: None, app_id: None };
            let (_, text) = keys.create(&account, new).await.unwrap();
            secrecy::ExposeSecret::expose_secret(&text).to_owned()
        };
        let (operator, viewer) = (key(Role::Operator).await, key(Role::Viewer).await);
        let state = WorkflowsState { service: Workflows::new(source, Vec::new()) };
        let (routes, _) = fn_workflows::router(state).split_for_parts();
        let router = http_kit::stack(routes, keys);
        Self { router, operator, viewer, _assembler: assembler, _dir: dir }
    }

    async fn send(&self, key: &str, method: Method, path: &str, body: Option<Value>, prefer: &str) -> Answer {
        let mut request =
            Request::builder().method(method).uri(path).header("authorization", format!("Bearer {key}"));
        if !prefer.is_empty() {
            request = request.header("prefer", prefer);
        }
        let body = match body {
            Some(json) => {
                request = request.header("content-type", "application/json");
                Body::from(json.to_string())
            }
            None => Body::empty(),
        };
        let response = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(&self.operator, Method::GET, path, None, "").await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(&self.operator, Method::POST, path, Some(body), "").await
    }

    async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(&self.operator, Method::PUT, path, Some(body), "").await
    }

    /// A workflow with this graph as its draft.
    async fn workflow(&self, name: &str, graph: Value) -> String {
        let fields = json!({"name": name, "tool_call_name": name, "description": name});
        let made = self.post("/workflows", fields).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
        let id = made.json()["id"].as_str().unwrap().to_owned();
        let saved = self.put(&format!("/workflows/{id}/draft"), graph).await;
        assert_eq!(saved.status, StatusCode::OK, "{}", saved.text);
        id
    }
}

fn greeting() -> Value {
    json!({"nodes": [
        {"id": "s", "node_type": "start", "title": "Start", "description": "", "position": {"x": 0, "y": 0},
         "inputs": [{"name": "who", "type": "string", "required": true, "description": "whom",
                     "value": {"type": "generated"}}]},
        {"id": "t", "node_type": "template_transform", "title": "Greet", "template": "Hi {{ who }}",
         "inputs": [{"name": "who", "type": "string", "required": true,
                     "value": {"type": "ref", "content": {"ref_node_id": "s", "ref_var_name": "who"}}}]},
        {"id": "e", "node_type": "end", "title": "End",
         "outputs": [{"name": "greeting", "type": "string", "required": true,
                      "value": {"type": "ref", "content": {"ref_node_id": "t", "ref_var_name": "output"}}}]}],
     "edges": [
        {"id": "1", "source": "s", "source_type": "start", "target": "t", "target_type": "template_transform"},
        {"id": "2", "source": "t", "source_type": "template_transform", "target": "e", "target_type": "end"}]})
}

#[tokio::test]
async fn a_workflow_is_written_debugged_published_and_run() {
    let haft = Haft::new().await;
    let id = haft.workflow("greet", greeting()).await;
    let at = |rest: &str| format!("/workflows/{id}{rest}");

    assert_eq!(haft.post(&at("/validate"), json!({})).await.json(), json!({"problems": []}));
    let debug = haft.post(&at("/debug"), json!({"inputs": {"who": "Ada"}})).await;
    assert_eq!(debug.headers["content-type"], "text/event-stream");
    let events: Vec<(&str, Value)> = debug
        .text
        .split_terminator("\n\n")
        .map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            (
                name.strip_prefix("event: ").unwrap(),
                serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap(),
            )
        })
        .collect();
    assert_eq!(events.len(), 7);
    assert!(events[..6].iter().all(|(name, _)| *name == "workflow"));
    assert_eq!((&events[0].1["status"], &events[1].1["status"]), (&json!("running"), &json!("succeeded")));
    assert_eq!(events[3].1["node_data"]["node_type"], "template_transform");
    let (name, end) = &events[6];
    assert_eq!((*name, &end["outputs"]), ("workflow_end", &json!({"greeting": "Hi Ada"})));
    assert_eq!(haft.get(&at("")).await.json()["draft"]["debug_passed"], true);

    let published = haft.post(&at("/publish"), json!({})).await.json();
    assert_eq!(published["published"]["version"], 1);
    let ran = haft.post(&at("/run"), json!({"inputs": {"who": "Bob"}})).await.json();
    assert_eq!(
        ran,
        json!({"content": [{"type": "text", "text": "Hi Bob"}], "structured": {"greeting": "Hi Bob"}, "is_error": false})
    );
    let runs = haft.get(&at("/runs")).await.json();
    assert_eq!(runs["items"].as_array().unwrap().len(), 2);
    let run = haft.get(&at(&format!("/runs/{}", runs["items"][0]["id"].as_str().unwrap()))).await.json();
    assert_eq!((&run["version"], &run["nodes"][1]["outputs"]["output"]), (&json!(1), &json!("Hi Bob")));
    assert!(haft.get(&at("/graph")).await.text.starts_with("flowchart TD\n"));
    assert_eq!(haft.get("/workflows?q=GREET").await.json()["items"][0]["id"], json!(id));
    assert_eq!(haft.get("/workflows?q=other").await.json()["items"], json!([]));

    assert_eq!(haft.post(&at("/unpublish"), json!({})).await.json()["published"], Value::Null);
    assert_eq!(haft.post(&at("/run"), json!({"inputs": {"who": "Bob"}})).await.status, StatusCode::CONFLICT);
    let gone = haft.send(&haft.operator, Method::DELETE, &at(""), None, "").await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(haft.get(&at("")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_run_that_is_not_waited_for_goes_on_and_is_found_by_its_record() {
    let haft = Haft::new().await;
    let id = haft.workflow("greet", greeting()).await;
    haft.post(&format!("/workflows/{id}/publish"), json!({})).await;
    let path = format!("/workflows/{id}/run");
    let body = json!({"inputs": {"who": "Ada"}});
    let accepted = haft.send(&haft.viewer, Method::POST, &path, Some(body), "wait=1, respond-async").await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED);
    let place = accepted.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(accepted.json()["record"], json!(place));
    let record = loop {
        let answer = haft.get(&place).await;
        if answer.status == StatusCode::OK && answer.json()["status"] != "running" {
            break answer.json();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(record["outputs"], json!({"greeting": "Hi Ada"}));
}

#[tokio::test]
async fn each_refusal_has_its_status_and_code() {
    let haft = Haft::new().await;
    let id = haft.workflow("w", json!({"nodes": [{"id": "x"}], "edges": []})).await;
    let at = |rest: &str| format!("/workflows/{id}{rest}");
    let fields = |tool: &str| json!({"name": "n", "tool_call_name": tool, "description": "d"});
    let put = Method::PUT;
    let post = Method::POST;
    let cases = [
        (&post, "/workflows".to_owned(), fields("w"), 409, "name_taken"),
        (&post, "/workflows".to_owned(), fields("a b"), 422, "invalid_body"),
        (&post, "/workflows".to_owned(), json!({"name": "n"}), 422, "invalid_body"),
        (&put, at("/draft"), json!({"nodes": 1, "edges": []}), 422, "invalid_body"),
        (&put, "/workflows/wf_none/draft".to_owned(), json!({"nodes": [], "edges": []}), 404, "not_found"),
        (&post, at("/publish"), json!({}), 422, "invalid_workflow"),
        (&post, at("/debug"), json!({"inputs": {}}), 422, "invalid_workflow"),
        (&post, at("/run"), json!({"inputs": {}}), 409, "not_published"),
        (&post, at("/run"), json!({"inputs": {}, "timeout_s": 0}), 422, "invalid_body"),
    ];
    for (method, path, body, status, code) in cases {
        let answer = haft.send(&haft.operator, method.clone(), &path, Some(body), "").await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["code"].as_str()),
            (status, Some(code)),
            "{path}: {}",
            answer.text
        );
    }
    let refused = haft.post(&at("/publish"), json!({})).await.json();
    assert_eq!(refused["violations"][0]["path"], "/nodes/x/node_type");
    assert_eq!(haft.get(&at("/runs/run_none")).await.status, StatusCode::NOT_FOUND);
    haft.put(&at("/draft"), greeting()).await;
    haft.post(&at("/publish"), json!({})).await;
    let wrong = haft.post(&at("/run"), json!({"inputs": {"who": ["x"]}})).await;
    assert_eq!((wrong.status.as_u16(), wrong.json()["code"].as_str()), (422, Some("invalid_args")));
    assert_eq!(wrong.json()["violations"][0]["path"], "/who");
}

#[tokio::test]
async fn a_viewer_reads_and_runs_what_only_reads() {
    let haft = Haft::new().await;
    let id = haft.workflow("w", greeting()).await;
    haft.post(&format!("/workflows/{id}/publish"), json!({})).await;
    let mut writing = greeting();
    writing["nodes"][1] = json!({"id": "t", "node_type": "http_request", "title": "Send", "method": "delete",
                                 "url": "https://a.example/"});
    writing["nodes"][2]["outputs"] = json!([]);
    writing["edges"][0]["target_type"] = json!("http_request");
    writing["edges"][1]["source_type"] = json!("http_request");
    let other = haft.workflow("deletes", writing).await;
    let published = haft.post(&format!("/workflows/{other}/publish"), json!({})).await;
    assert_eq!(published.json()["published"]["annotations"]["destructive"], true, "{}", published.text);
    let run = json!({"inputs": {"who": "Ada"}});
    let cases = [
        (Method::GET, format!("/workflows/{id}"), None, 200),
        (Method::POST, format!("/workflows/{id}/validate"), Some(greeting()), 200),
        (Method::POST, format!("/workflows/{id}/run"), Some(run.clone()), 200),
        (Method::POST, format!("/workflows/{other}/run"), Some(run.clone()), 403),
        (Method::POST, format!("/workflows/{id}/debug"), Some(run), 403),
        (Method::PUT, format!("/workflows/{id}/draft"), Some(greeting()), 403),
        (Method::POST, format!("/workflows/{id}/publish"), Some(json!({})), 403),
        (Method::DELETE, format!("/workflows/{id}"), None, 403),
    ];
    for (method, path, body, status) in cases {
        let answer = haft.send(&haft.viewer, method, &path, body, "").await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
    }
    let nobody = haft.send("nonsense", Method::GET, "/workflows", None, "").await;
    assert_eq!(nobody.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_routes_are_described() {
    let late = LateAssembler::new();
    let deps = EngineDeps {
        assembler: late,
        models: Arc::new(NoModels),
        retriever: None,
        http: egress::Client::new(egress::Policy::strict()),
    };
    let dir = tempfile::tempdir().unwrap();
    let table = Arc::new(SqliteTable::new(dir.path().join("haft.db")));
    let source = WorkflowSource::new(table, Engine::new(deps), Arc::new(SystemClock));
    let (_, description) =
        fn_workflows::router(WorkflowsState { service: Workflows::new(source, Vec::new()) })
            .split_for_parts();
    let mut routes: Vec<&str> = description.paths.paths.keys().map(String::as_str).collect();
    routes.sort_unstable();
    assert_eq!(
        routes,
        [
            "/workflows",
            "/workflows/{id}",
            "/workflows/{id}/debug",
            "/workflows/{id}/draft",
            "/workflows/{id}/graph",
            "/workflows/{id}/publish",
            "/workflows/{id}/run",
            "/workflows/{id}/runs",
            "/workflows/{id}/runs/{run}",
            "/workflows/{id}/unpublish",
            "/workflows/{id}/validate"
        ]
    );
}
