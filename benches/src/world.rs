//! One account with builtin, API and MCP tools over a real SQLite file, put together as the gateway does it.

use crate::{CountingTable, mcp_server};
use anyhow::{Context as _, Result};
use apps::{assembly::SourceAssembler, credentials::CredentialStore};
use domain::{
    AccountContext, AccountId, ToolKind, ToolRef, ToolSource,
    ports::{Blobs, Cipher, Clock, SystemClock, Table},
    toolset::Runtime,
};
use egress::Policy;
use infra_directory::DirectoryBlobs;
use infra_local_key::LocalKeyCipher;
use infra_sqlite::{Settings, SqliteTable};
use providers::{BuiltinSource, ToolDeps};
use serde_json::{Value, json};
use source_api::{
    ApiTools, ApiToolsPorts,
    service::{DocumentText, Importer, ProviderInput},
};
use source_mcp::{Deps, NoStdio, Servers, StdioPolicy};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// How many operations the imported document has, and how many tools the server.
const TOOLS: usize = 400;

/// The account and everything around it.
pub struct World {
    /// Assembles, as every entry does.
    pub assembler: SourceAssembler,
    /// Whose tools they are.
    pub cx: AccountContext,
    /// The store.
    pub table: Arc<CountingTable>,
    api: String,
    mcp: String,
    server: JoinHandle<()>,
    _files: TempDir,
}

impl World {
    /// Makes the account, imports a document and registers a server.
    pub async fn new() -> Result<Self> {
        let files = tempfile::tempdir()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let sqlite = SqliteTable::with(Settings::new(files.path().join("haft.db")), clock.clone());
        let table = Arc::new(CountingTable::new(Arc::new(sqlite)));
        let shared: Arc<dyn Table> = table.clone();
        let cipher: Arc<dyn Cipher> = Arc::new(LocalKeyCipher::open_or_create(&files.path().join("key"))?);
        let blobs: Arc<dyn Blobs> = Arc::new(DirectoryBlobs::with_clock(
            files.path().join("blobs"),
            "http://127.0.0.1",
            clock.clone(),
        )?);
        let client = egress::Client::new(Policy::strict().with_loopback(true));
        let runtime = Arc::new(Runtime::default());
        let account = AccountId::generate();

        let credentials = Arc::new(CredentialStore::new(shared.clone(), cipher.clone(), clock.clone()));
        let deps = ToolDeps { http: client.clone(), credentials, clock: clock.clone(), blobs: blobs.clone() };
        let builtin: Arc<dyn ToolSource> = Arc::new(BuiltinSource::new(deps, cipher.clone()));

        let apis = ApiTools::new(ApiToolsPorts {
            table: shared.clone(),
            blobs,
            cipher: cipher.clone(),
            clock: clock.clone(),
            client: client.clone(),
            runtime: runtime.clone(),
        });
        let document = ProviderInput {
            name: Some("bench".into()),
            openapi_schema: Some(DocumentText::Text(document().to_string())),
            ..ProviderInput::default()
        };
        let api = apis.create(&Importer::new(account.clone()), document).await?.id;

        let (address, server) = mcp_server::serve(TOOLS).await?;
        let servers = Servers::new(Deps {
            table: shared,
            cipher,
            egress: client,
            stdio: Arc::new(NoStdio),
            stdio_policy: StdioPolicy::Off,
            listen: false,
            clock,
        });
        let input = json!({"name": "bench", "transport": "http", "url": format!("http://{address}/mcp")});
        let input = serde_json::from_value(input)?;
        let mcp = servers.create(&account, input).await.context("registering the server")?.id;

        let sources = vec![builtin, apis.source(), Arc::new(servers.source())];
        let assembler = SourceAssembler::new(sources, runtime);
        Ok(Self { assembler, cx: AccountContext::new(account), table, api, mcp, server, _files: files })
    }

    /// `count` references, at most 260: one in ten builtin, the others in turn API and MCP tools. No two alike.
    pub fn refs(&self, count: usize) -> Vec<ToolRef> {
        let reference = |i: usize| match (i % 10, i % 2) {
            (0, _) => {
                let mut reference = ToolRef::new(ToolKind::BuiltinTool, "time", "current_time");
                reference.params.insert("timezone".into(), Value::from(zone(i / 10)));
                reference
            }
            (_, 0) => ToolRef::new(ToolKind::ApiTool, &self.api, format!("op_{i}")),
            _ => ToolRef::new(ToolKind::McpTool, &self.mcp, format!("tool_{i}")),
        };
        (0..count).map(reference).collect()
    }
}

/// 26 zones, one for each number.
fn zone(n: usize) -> String {
    if n <= 12 { format!("Etc/GMT+{n}") } else { format!("Etc/GMT-{}", n - 12) }
}

impl Drop for World {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn document() -> Value {
    let operation = |i: usize| {
        let operation = json!({
            "operationId": format!("op_{i}"),
            "summary": "Reads or changes one thing",
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}
            ],
            "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
            "responses": {"200": {"description": "ok"}}
        });
        (format!("/things{i}/{{id}}"), json!({"put": operation}))
    };
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Bench", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": (0..TOOLS).map(operation).collect::<serde_json::Map<_, _>>(),
        "components": {"schemas": {"Thing": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Thing"}},
            "required": ["name"]
        }}}
    })
}
