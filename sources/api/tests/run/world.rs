//! A service of its own for each test, and the shortest way to import and call.

use crate::{counting::Counting, upstream::Upstream};
use contracts::ManualClock;
use domain::{
    AccountId, CallContext, Entry, ToolError, ToolOutput,
    ports::{Blobs, Table},
    toolset::Runtime,
};
use egress::Policy;
use infra_directory::DirectoryBlobs;
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use serde_json::{Value, json};
use source_api::{
    ApiTools, ApiToolsPorts,
    service::{Imported, Importer, ProviderInput, ServiceError, ToolPatch},
};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) service: ApiTools,
    pub(crate) account: AccountId,
    pub(crate) upstream: Upstream,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) table: Arc<Counting>,
    pub(crate) blobs: Arc<dyn Blobs>,
    directory: TempDir,
}

impl World {
    /// A world whose guard allows loopback.
    pub(crate) async fn new() -> Self {
        Self::with(Policy::strict().with_loopback(true)).await
    }

    pub(crate) async fn with(policy: Policy) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::default());
        let sqlite = SqliteTable::open(directory.path().join("haft.db")).await.unwrap();
        let table = Arc::new(Counting::over(Arc::new(sqlite)));
        let cipher = LocalKeyCipher::open_or_create(&directory.path().join("cipher.key")).unwrap();
        let blobs = DirectoryBlobs::open(directory.path().join("blobs"), "http://localhost:1").unwrap();
        let blobs: Arc<dyn Blobs> = Arc::new(blobs);
        let service = ApiTools::new(ApiToolsPorts {
            table: table.clone() as Arc<dyn Table>,
            blobs: blobs.clone(),
            cipher: Arc::new(cipher),
            clock: clock.clone(),
            client: egress::Client::new(policy),
            runtime: Arc::new(Runtime::default()),
        });
        let upstream = Upstream::start().await;
        Self { service, account: AccountId::generate(), upstream, clock, table, blobs, directory }
    }

    pub(crate) async fn create(&self, body: Value) -> Result<Imported, ServiceError> {
        let input: ProviderInput = serde_json::from_value(body).unwrap();
        self.service.create(&Importer::new(self.account.clone()), input).await
    }

    pub(crate) async fn update(&self, id: &str, body: Value) -> Result<Imported, ServiceError> {
        let input: ProviderInput = serde_json::from_value(body).unwrap();
        self.service.update(&Importer::new(self.account.clone()), id, input).await
    }

    /// Imports a document whose requests go to the upstream.
    pub(crate) async fn import(&self, document: &Value) -> String {
        self.import_with(document, json!({})).await
    }

    /// The same with further fields of the request.
    pub(crate) async fn import_with(&self, document: &Value, more: Value) -> String {
        let mut body = json!({"name": "api", "openapi_schema": document, "server": self.upstream.url});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.create(body).await.unwrap().id
    }

    pub(crate) async fn patch(&self, id: &str, tool: &str, patch: Value) {
        let patch: ToolPatch = serde_json::from_value(patch).unwrap();
        self.service.patch_tool(&self.account, id, tool, patch).await.unwrap();
    }

    pub(crate) async fn call(&self, id: &str, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.call_in(id, tool, args, &self.cx()).await
    }

    pub(crate) async fn call_in(
        &self,
        id: &str,
        tool: &str,
        args: Value,
        cx: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let set = self.service.assemble_one(&self.account, id, tool).await.unwrap();
        set.invoke(&set.entries()[0].name, args, cx).await
    }

    pub(crate) fn cx(&self) -> CallContext {
        CallContext::new(self.account.clone(), Entry::Debug, "request", Duration::from_secs(20))
    }

    /// Every byte that is stored: files of the table, of blobs, and the key.
    pub(crate) fn stored_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut open: Vec<PathBuf> = vec![self.directory.path().to_owned()];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                bytes.extend(std::fs::read(path).unwrap());
            }
        }
        bytes
    }
}

/// An OpenAPI document of these paths and components.
pub(crate) fn openapi(paths: &Value, schemes: &Value) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Things", "version": "1"},
        "paths": paths,
        "components": {"securitySchemes": schemes},
    })
}

/// `GET /things/{id}` as `getThing` and `POST /things` as `addThing`.
pub(crate) fn things() -> Value {
    let text = |place: &str, name: &str| {
        let required = place == "path";
        json!({"name": name, "in": place, "required": required, "schema": {"type": "string"}})
    };
    openapi(
        &json!({
            "/things/{id}": {"get": {
                "operationId": "getThing",
                "summary": "Get a thing",
                "parameters": [
                    text("path", "id"), text("query", "q"), text("header", "X-Note"), text("cookie", "theme"),
                ],
                "responses": {"200": {"description": "ok"}},
            }},
            "/things": {"post": {
                "operationId": "addThing",
                "requestBody": {"required": true, "content": {"application/json": {"schema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
                    "required": ["name"],
                }}}},
                "responses": {"200": {"description": "ok"}},
            }},
        }),
        &json!({}),
    )
}
