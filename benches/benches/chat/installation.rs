//! An installation as one machine has it, without HTTP: real stores, and an app with many tools.

use crate::model::delay;
use agent::{AgentRunner, Knowledge, OpenAiModels};
use anyhow::Context as _;
use apps::{
    app::{AppDetails, Apps, References},
    assembly::SourceAssembler,
    chat::{Ask, ChatRun, ChatService, ConfigChoice, ConversationChoice},
    conversations::Audience,
    models::ModelStore,
};
use async_trait::async_trait;
use domain::{
    AccountContext, AccountId, Annotations, CallContext, Dialect, Entry, Origin, Schema, Tool, ToolError,
    ToolKind, ToolOutput, ToolRef, ToolSource, ToolSpec, Unresolved,
    dialect::project,
    ports::{Cipher, Clock, SystemClock, Table},
    toolset::Runtime,
};
use egress::{Client, Policy};
use futures::StreamExt as _;
use infra_local_key::LocalKeyCipher;
use infra_local_queue::TableSignal;
use infra_sqlite::SqliteTable;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tempfile::TempDir;

pub(crate) struct Installation {
    account: AccountId,
    app: String,
    chat: ChatService,
    tools: Arc<Tools>,
    _dir: TempDir,
}

impl Installation {
    /// An app of a model with `tools` tools.
    pub(crate) async fn new(model_url: &str, tools: usize) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let table: Arc<dyn Table> = Arc::new(SqliteTable::open(dir.path().join("t.db")).await?);
        let cipher: Arc<dyn Cipher> = Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key"))?);
        let http = Client::new(Policy::strict().with_loopback(true));
        let factory = Arc::new(OpenAiModels::new(http.clone()));
        let models = ModelStore::new(table.clone(), cipher.clone(), clock.clone(), factory);
        let knowledge = Knowledge::new(table.clone(), cipher, clock.clone(), http);
        let tools = Arc::new(Tools::new(tools));
        let assembler = Arc::new(SourceAssembler::new(vec![tools.clone()], Arc::new(Runtime::default())));
        let references = References::new(assembler, Arc::new(models.clone()), Some(Arc::new(knowledge)));
        let apps = Apps::new(table.clone(), clock.clone(), Arc::new(references));
        let signal = Arc::new(TableSignal::new(table.clone()));
        let chat = ChatService::new(apps.clone(), Arc::new(AgentRunner::new()), signal, table, clock);
        let account = AccountId::generate();
        let model = json!({"name": "M", "base_url": model_url, "api_key": "k", "model": "m"});
        let model = models.create(&account, serde_json::from_value(model)?).await?;
        let app = apps.create(&account, AppDetails { name: "Bench".into(), ..AppDetails::default() }).await?;
        let config = json!({"model": {"id": model.id}, "tools": tools.refs(), "preset_prompt": "Be brief."});
        apps.save_draft(&account, &app.id, serde_json::from_value(config)?, None).await?;
        apps.publish(&account, &app.id).await?;
        Ok(Self { account, app: app.id, chat, tools, _dir: dir })
    }

    /// The body that a client without Haft would send for the same turn.
    pub(crate) fn body(&self) -> anyhow::Result<String> {
        let mut tools = Vec::new();
        for spec in &self.tools.0 {
            let spec = &spec.0;
            let parameters = project(spec.args_schema.value(), Dialect::OpenAi)?.schema;
            tools.push(json!({"type": "function", "function": {"name": spec.name, "description": spec.description, "parameters": parameters}}));
        }
        let messages =
            json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]);
        Ok(json!({"model": "m", "messages": messages, "tools": tools, "stream": true}).to_string())
    }

    pub(crate) async fn ask(&self, query: &str) -> anyhow::Result<ChatRun> {
        let ask = Ask {
            account: self.account.clone(),
            app_id: self.app.clone(),
            config: ConfigChoice::Published,
            audience: Audience { entry: Entry::ServiceApi, user: "u".into() },
            conversation: ConversationChoice::New,
            query: query.to_owned(),
            image_urls: Vec::new(),
            approved: false,
            request_id: "bench".into(),
            traceparent: None,
        };
        Ok(self.chat.start(ask).await?)
    }

    /// How long each token of a chat took.
    pub(crate) async fn delays(&self) -> anyhow::Result<Vec<Duration>> {
        let mut events = Box::pin(self.ask("hello").await?.events());
        let mut delays = Vec::new();
        let mut end = None;
        while let Some(event) = events.next().await {
            delays.extend(delay(&event.event.answer));
            end = Some(event.event);
        }
        let end = end.context("a chat without events")?;
        anyhow::ensure!(end.event == domain::ports::AgentEventKind::AgentEnd, "{end:?}");
        Ok(delays)
    }
}

/// Tools as imported APIs have them: some arguments, nested, with descriptions.
struct Tools(Vec<Arc<Named>>);

struct Named(ToolSpec);

impl Tools {
    fn new(count: usize) -> Self {
        let spec = |n: usize| ToolSpec {
            name: format!("operation_{n}"),
            title: format!("Operation {n}"),
            description: "Reads orders of a customer, newest first, with their positions and their state."
                .into(),
            args_schema: Schema::new(schema()),
            output_schema: None,
            annotations: Annotations::default(),
            origin: Origin { kind: ToolKind::ApiTool, provider_name: "shop".into(), revision: 1 },
        };
        Self((0..count).map(|n| Arc::new(Named(spec(n)))).collect())
    }

    fn refs(&self) -> Vec<ToolRef> {
        self.0.iter().map(|tool| ToolRef::new(ToolKind::ApiTool, "shop", &tool.0.name)).collect()
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "customer": {"type": "string", "description": "The customer's id", "format": "uuid"},
            "state": {"type": "string", "enum": ["open", "paid", "sent", "closed"], "description": "Only orders in this state"},
            "page": {"$ref": "#/$defs/page"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 20}
        },
        "required": ["customer"],
        "$defs": {"page": {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 100}, "after": {"type": "string"}}}}
    })
}

#[async_trait]
impl ToolSource for Tools {
    fn kind(&self) -> ToolKind {
        ToolKind::ApiTool
    }

    async fn resolve(&self, refs: &[ToolRef], _: &AccountContext) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let missing = || Unresolved::new(domain::ProblemCode::ToolNotFound, "there is no such tool");
        let find = |reference: &ToolRef| self.0.iter().find(|tool| tool.0.name == reference.tool_id).cloned();
        refs.iter()
            .map(|reference| find(reference).map(|tool| tool as Arc<dyn Tool>).ok_or_else(missing))
            .collect()
    }
}

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Value, _: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text_of("done"))
    }
}
