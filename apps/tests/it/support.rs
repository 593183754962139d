//! A whole installation without HTTP: stores in a directory of its own, a scripted model, tools that can change.

use agent::{AgentRunner, Knowledge, OpenAiModels};
use apps::{
    app::{AppConfig, AppDetails, Apps, References},
    assembly::SourceAssembler,
    chat::{Ask, ChatService, ConfigChoice, ConversationChoice},
    conversations::Audience,
    credentials::CredentialStore,
    models::ModelStore,
};
use async_trait::async_trait;
use contracts::ManualClock;
use domain::{
    AccountContext, AccountId, Annotations, CallContext, Entry, Origin, ProblemCode, Schema, Tool, ToolError,
    ToolKind, ToolOutput, ToolRef, ToolSource, ToolSpec, Unresolved,
    keys::Kind,
    ports::{
        Blob, BlobError, BlobInfo, BlobLink, Blobs, Cipher, Item, Page, Query, Scope, Signal, Table,
        TableError, Write,
    },
    secret::MASK,
    toolset::Runtime,
};
use infra_local_key::LocalKeyCipher;
use infra_local_queue::TableSignal;
use infra_sqlite::SqliteTable;
use jiff::Timestamp;
use model_server::{ModelServer, Reply};
use providers::{BuiltinSource, ToolDeps};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) account: AccountId,
    pub(crate) table: Arc<Failing>,
    pub(crate) models: ModelStore,
    pub(crate) apps: Apps,
    pub(crate) chat: ChatService,
    pub(crate) knowledge: Knowledge,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) remote: Arc<Remote>,
    pub(crate) server: ModelServer,
    _dir: TempDir,
}

impl World {
    pub(crate) async fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = ModelServer::start(script).await;
        let clock = Arc::new(ManualClock::default());
        let real = SqliteTable::open(dir.path().join("t.db")).await.unwrap();
        let table = Arc::new(Failing {
            table: real,
            writes_left: AtomicI64::new(i64::MAX),
            heals: AtomicBool::new(false),
        });
        let cipher: Arc<dyn Cipher> =
            Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key")).unwrap());
        let http = egress::Client::new(egress::Policy::strict().with_loopback(true));
        let factory = Arc::new(OpenAiModels::new(http.clone()));
        let models = ModelStore::new(table.clone(), cipher.clone(), clock.clone(), factory);
        let knowledge = Knowledge::new(table.clone(), cipher.clone(), clock.clone(), http.clone());
        let credentials = CredentialStore::new(table.clone(), cipher.clone(), clock.clone());
        let deps = ToolDeps {
            http,
            credentials: Arc::new(credentials),
            clock: clock.clone(),
            blobs: Arc::new(NoBlobs),
        };
        let builtin = WithSecrets { builtin: BuiltinSource::new(deps, cipher.clone()), cipher };
        let remote = Arc::new(Remote::default());
        let sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(builtin), remote.clone()];
        let assembler = Arc::new(SourceAssembler::new(sources, Arc::new(Runtime::default())));
        let references =
            References::new(assembler, Arc::new(models.clone()), Some(Arc::new(knowledge.clone())));
        let apps = Apps::new(table.clone(), clock.clone(), Arc::new(references));
        let signal: Arc<dyn Signal> = Arc::new(TableSignal::with_clock(table.clone(), clock.clone()));
        let agent = Arc::new(AgentRunner::new());
        let chat = ChatService::new(apps.clone(), agent, signal, table.clone(), clock.clone());
        let account = AccountId::try_from("alice".to_owned()).unwrap();
        Self { account, table, models, apps, chat, knowledge, clock, remote, server, _dir: dir }
    }

    /// A model of the scripted server.
    pub(crate) async fn model(&self) -> String {
        let new = json!({"name": "M", "kind": "openai", "base_url": self.server.url(), "api_key": "sk-canary", "model": "m"});
        self.models.create(&self.account, serde_json::from_value(new).unwrap()).await.unwrap().id
    }

    /// An app with a draft config; the model is filled in.
    pub(crate) async fn app(&self, mut config: Value) -> String {
        let details = AppDetails { name: "App".into(), ..AppDetails::default() };
        let app = self.apps.create(&self.account, details).await.unwrap();
        if config.get("model").is_none() {
            config["model"] = json!({"id": self.model().await});
        }
        self.apps.save_draft(&self.account, &app.id, config_of(config), None).await.unwrap();
        app.id
    }

    pub(crate) fn ask(&self, app: &str, query: &str) -> Ask {
        Ask {
            account: self.account.clone(),
            app_id: app.to_owned(),
            config: ConfigChoice::Draft,
            audience: self.audience(),
            conversation: ConversationChoice::Latest,
            query: query.to_owned(),
            image_urls: Vec::new(),
            approved: false,
            request_id: "test".into(),
            traceparent: None,
        }
    }

    #[expect(clippy::unused_self, reason = "it reads as the world's own audience")]
    pub(crate) fn audience(&self) -> Audience {
        Audience { entry: Entry::Debugger, user: "u1".into() }
    }
}

pub(crate) fn config_of(config: Value) -> AppConfig {
    serde_json::from_value(config).unwrap()
}

/// The builtin tools, and one more, `paint/picture`, with a param `key` that is a secret.
struct WithSecrets {
    builtin: BuiltinSource,
    cipher: Arc<dyn Cipher>,
}

fn is_paint(reference: &ToolRef) -> bool {
    reference.provider_id == "paint"
}

#[async_trait]
impl ToolSource for WithSecrets {
    fn kind(&self) -> ToolKind {
        ToolKind::BuiltinTool
    }

    async fn resolve(&self, refs: &[ToolRef], cx: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let mut resolved = Vec::new();
        for reference in refs {
            if is_paint(reference) {
                resolved
                    .push(Ok(Arc::new(RemoteTool(spec(ToolKind::BuiltinTool, "picture", "Paints")))
                        as Arc<dyn Tool>));
            } else {
                resolved.extend(self.builtin.resolve(std::slice::from_ref(reference), cx).await);
            }
        }
        resolved
    }

    async fn protect(
        &self,
        reference: &ToolRef,
        stored: Option<&ToolRef>,
        cx: &AccountContext,
    ) -> Result<ToolRef, Unresolved> {
        if !is_paint(reference) {
            return self.builtin.protect(reference, stored, cx).await;
        }
        let mut reference = reference.clone();
        let Some(Value::String(key)) = reference.params.get("key").cloned() else {
            return Ok(reference);
        };
        let kept = stored.and_then(|stored| stored.params.get("key")).filter(|_| key == MASK).cloned();
        let scope = Scope::new(&cx.account, Kind::Credential, "paint", "key");
        let sealed = match kept {
            Some(kept) => kept,
            None => json!({"$sealed": self.cipher.seal(&scope, &key.into()).await.unwrap()}),
        };
        reference.params.insert("key".into(), sealed);
        Ok(reference)
    }

    fn mask(&self, reference: &ToolRef) -> ToolRef {
        if !is_paint(reference) {
            return self.builtin.mask(reference);
        }
        let mut reference = reference.clone();
        if let Some(key) = reference.params.get_mut("key") {
            *key = json!(MASK);
        }
        reference
    }

    fn icon(&self, reference: &ToolRef) -> Option<String> {
        self.builtin.icon(reference)
    }
}

fn spec(kind: ToolKind, name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: description.to_owned(),
        args_schema: Schema::empty_object(),
        output_schema: None,
        annotations: Annotations::default(),
        origin: Origin { kind, provider_name: "remote".into(), revision: 1 },
    }
}

/// Tools of a server that can change or go away.
#[derive(Default)]
pub(crate) struct Remote {
    pub(crate) description: Mutex<String>,
    pub(crate) gone: AtomicBool,
}

struct RemoteTool(ToolSpec);

#[async_trait]
impl ToolSource for Remote {
    fn kind(&self) -> ToolKind {
        ToolKind::McpTool
    }

    async fn resolve(&self, refs: &[ToolRef], _: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let resolve = |reference: &ToolRef| {
            if self.gone.load(Ordering::SeqCst) {
                return Err(Unresolved::new(ProblemCode::ProviderNotFound, "the server is gone"));
            }
            let description = self.description.lock().unwrap().clone();
            Ok(Arc::new(RemoteTool(spec(ToolKind::McpTool, &reference.tool_id, &description)))
                as Arc<dyn Tool>)
        };
        refs.iter().map(resolve).collect()
    }
}

#[async_trait]
impl Tool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        if self.0.name == "hang" {
            cx.cancel.cancelled().await;
            return Err(ToolError::Cancelled);
        }
        assert_ne!(self.0.name, "panic", "a tool panics");
        Ok(ToolOutput::text_of("remote result"))
    }
}

/// A real table that fails its writes from a certain one on.
pub(crate) struct Failing {
    table: SqliteTable,
    writes_left: AtomicI64,
    heals: AtomicBool,
}

impl Failing {
    /// Lets `n` more writes through and fails those after them; `once` fails only one.
    pub(crate) fn fail_after(&self, n: i64, once: bool) {
        self.heals.store(once, Ordering::SeqCst);
        self.writes_left.store(n, Ordering::SeqCst);
    }

    fn pass(&self) -> Result<(), TableError> {
        if self.writes_left.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        if self.heals.load(Ordering::SeqCst) {
            self.writes_left.store(i64::MAX, Ordering::SeqCst);
        }
        Err(TableError::Failed("the connection was reset".into()))
    }
}

#[async_trait]
impl Table for Failing {
    async fn get_many(&self, keys: &[domain::keys::Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.table.get_many(keys).await
    }

    async fn write(&self, write: Write) -> Result<u64, TableError> {
        self.pass()?;
        self.table.write(write).await
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TableError> {
        self.pass()?;
        self.table.transact(writes).await
    }

    async fn write_many(&self, writes: Vec<Write>) -> Result<(), TableError> {
        self.pass()?;
        self.table.write_many(writes).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.table.query(query).await
    }

    async fn add(&self, key: &domain::keys::Key, by: i64, end: Option<Timestamp>) -> Result<i64, TableError> {
        self.pass()?;
        self.table.add(key, by, end).await
    }
}

/// No tool of these tests stores anything large.
struct NoBlobs;

#[async_trait]
impl Blobs for NoBlobs {
    async fn put(&self, _: &str, _: bytes::Bytes, _: &str, _: Option<Duration>) -> Result<(), BlobError> {
        Err(BlobError::ReadOnly("nothing is stored here".into()))
    }

    async fn get(&self, key: &str, _: u64) -> Result<Blob, BlobError> {
        Err(BlobError::NotFound(key.into()))
    }

    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError> {
        Err(BlobError::NotFound(key.into()))
    }

    async fn delete(&self, _: &str) -> Result<(), BlobError> {
        Ok(())
    }

    async fn link(&self, key: &str, _: Duration) -> Result<BlobLink, BlobError> {
        Err(BlobError::NotFound(key.into()))
    }

    async fn upload_link(&self, key: &str, _: u64, _: Duration) -> Result<BlobLink, BlobError> {
        Err(BlobError::NotFound(key.into()))
    }
}
