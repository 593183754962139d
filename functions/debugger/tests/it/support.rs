//! The routers over real stores in a directory of their own, and a scripted model.

use agent::{AgentRunner, Knowledge, OpenAiModels};
use apps::{
    accounts,
    app::{Apps, References},
    assembly::SourceAssembler,
    chat::ChatService,
    credentials::CredentialStore,
    keys::{Keys, NewKey},
    models::ModelStore,
};
use axum::{Router, body::Body};
use domain::{
    Role, ToolSource,
    ports::{Blobs, Cipher, Clock, SystemClock, Table},
    toolset::Runtime,
};
use fn_apps::StudioState;
use fn_debugger::DebuggerState;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use infra_directory::DirectoryBlobs;
use infra_local_key::LocalKeyCipher;
use infra_local_queue::TableSignal;
use infra_sqlite::SqliteTable;
use model_server::{ModelServer, Reply};
use providers::{BuiltinSource, ToolDeps};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) struct Served {
    router: Router,
    admin: String,
    viewer: String,
    pub(crate) server: ModelServer,
    pub(crate) blobs: DirectoryBlobs,
    pub(crate) account: domain::AccountId,
    _dir: TempDir,
}

impl Served {
    pub(crate) async fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let table: Arc<dyn Table> = Arc::new(SqliteTable::open(dir.path().join("t.db")).await.unwrap());
        let cipher: Arc<dyn Cipher> =
            Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key")).unwrap());
        let blobs = DirectoryBlobs::with_clock(dir.path().join("blobs"), "http://127.0.0.1:1", clock.clone())
            .unwrap();
        let keys = Arc::new(Keys::new(table.clone(), clock.clone()));
        let admin: SecretString = "k".repeat(40).into();
        let installed = accounts::install(table.as_ref(), clock.as_ref(), &keys, &admin).await.unwrap();
        let new = NewKey { name: "v".into(), role: Role::Viewer, expires_at: None, app_id: None };
        let (_, viewer) = keys.create(&installed.account, new).await.unwrap();
        let (studio, chat) = services(&table, &cipher, &clock, &blobs, keys.clone());
        let (router, _) = fn_apps::studio_router(studio)
            .merge(fn_debugger::router(DebuggerState { chat }))
            .split_for_parts();
        Self {
            router: http_kit::stack(router, keys),
            admin: admin.expose_secret().to_owned(),
            viewer: viewer.expose_secret().to_owned(),
            server: ModelServer::start(script).await,
            blobs,
            account: installed.account,
            _dir: dir,
        }
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(&self.admin, method, path, body).await
    }

    pub(crate) async fn call_as_viewer(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(&self.viewer, method, path, body).await
    }

    async fn send(&self, key: &str, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let (status, text) = self.raw(key, method, path, body).await;
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    async fn raw(&self, key: &str, method: &str, path: &str, body: Value) -> (StatusCode, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(if body.is_null() { Body::empty() } else { Body::from(body.to_string()) })
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// Asks an app's draft; gives the events as (name, data).
    pub(crate) async fn ask(&self, app: &str, body: Value) -> Vec<(String, Value)> {
        let (status, text) = self.raw(&self.admin, "POST", &format!("/apps/{app}/conversations"), body).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        let event = |frame: &str| {
            let mut lines = frame.lines();
            let name = lines.next().unwrap().strip_prefix("event: ").unwrap().to_owned();
            (name, serde_json::from_str(lines.next().unwrap().strip_prefix("data: ").unwrap()).unwrap())
        };
        text.split("\n\n").filter(|frame| !frame.is_empty()).map(event).collect()
    }

    /// A model, and an app that uses it.
    pub(crate) async fn app(&self, mut config: Value) -> String {
        let model = json!({"name": "M", "kind": "openai", "base_url": self.server.url(), "api_key": "sk-canary", "model": "m"});
        let (status, model) = self.call("POST", "/models", model).await;
        assert_eq!(status, StatusCode::CREATED, "{model}");
        let (status, app) = self.call("POST", "/apps", json!({"name": "App"})).await;
        assert_eq!(status, StatusCode::CREATED, "{app}");
        let id = app["id"].as_str().unwrap().to_owned();
        config["model"] = json!({"id": model["id"], "parameters": {}});
        let (status, draft) = self.call("PUT", &format!("/apps/{id}/draft-config"), config).await;
        assert_eq!(status, StatusCode::OK, "{draft}");
        id
    }
}

fn services(
    table: &Arc<dyn Table>,
    cipher: &Arc<dyn Cipher>,
    clock: &Arc<dyn Clock>,
    blobs: &DirectoryBlobs,
    keys: Arc<Keys>,
) -> (StudioState, ChatService) {
    let http = egress::Client::new(egress::Policy::strict().with_loopback(true));
    let factory = Arc::new(OpenAiModels::new(http.clone()));
    let models = ModelStore::new(table.clone(), cipher.clone(), clock.clone(), factory);
    let knowledge = Knowledge::new(table.clone(), cipher.clone(), clock.clone(), http.clone());
    let credentials = CredentialStore::new(table.clone(), cipher.clone(), clock.clone());
    let blobs: Arc<dyn Blobs> = Arc::new(blobs.clone());
    let deps =
        ToolDeps { http, credentials: Arc::new(credentials), clock: clock.clone(), blobs: blobs.clone() };
    let sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(BuiltinSource::new(deps, cipher.clone()))];
    let assembler = Arc::new(SourceAssembler::new(sources, Arc::new(Runtime::default())));
    let references = References::new(assembler, Arc::new(models.clone()), Some(Arc::new(knowledge.clone())));
    let apps = Apps::new(table.clone(), clock.clone(), Arc::new(references));
    let signal = Arc::new(TableSignal::new(table.clone()));
    let chat =
        ChatService::new(apps.clone(), Arc::new(AgentRunner::new()), signal, table.clone(), clock.clone());
    (StudioState { apps, models, knowledge, keys, blobs }, chat)
}
