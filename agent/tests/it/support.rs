//! What the tests share: a client of a scripted model, tools, and a sink that keeps what it is given.

use agent::{AgentRunner, OpenAiModels};
use async_trait::async_trait;
use domain::{
    AccountId, Annotations, CallContext, Dialect, Entry, Origin, Schema, Tool, ToolError, ToolKind,
    ToolOutput, ToolRef, ToolSpec, Toolset,
    ports::{
        Agent as _, AgentEvent, AgentEventKind, AgentLimits, AgentRequest, AgentSink, ChatError, ChatEvent,
        ChatModel, ChatRequest, ModelEndpoint, ModelFactory as _, ModelInfo, OpenModel, Review, SinkClosed,
    },
    toolset::{ApprovalPolicy, Runtime},
};
use egress::{Client, Policy};
use futures::StreamExt as _;
use model_server::ModelServer;
use serde_json::{Map, Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

pub(crate) fn http() -> Client {
    Client::new(Policy::strict().with_loopback(true))
}

pub(crate) fn account() -> AccountId {
    AccountId::try_from("alice".to_owned()).unwrap()
}

pub(crate) fn endpoint(url: &str) -> ModelEndpoint {
    ModelEndpoint {
        base_url: url.to_owned(),
        api_key: Some("sk-canary".to_owned().into()),
        model: "m".into(),
        dialect: Dialect::OpenAi,
        timeout: Duration::from_secs(10),
    }
}

pub(crate) fn model(server: &ModelServer) -> Arc<dyn ChatModel> {
    OpenAiModels::new(http()).open(endpoint(server.url())).unwrap()
}

/// All events of one turn.
pub(crate) async fn turn(server: &ModelServer) -> Result<Vec<ChatEvent>, ChatError> {
    let mut stream = model(server).chat(ChatRequest::default()).await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event?);
    }
    Ok(events)
}

/// What a test does with each event.
pub(crate) type OnEvent = Box<dyn FnMut(&AgentEvent) + Send>;

/// Keeps events, and may close or call back in between.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) close_after: Option<usize>,
    pub(crate) on_event: Option<OnEvent>,
}

#[async_trait]
impl AgentSink for Kept {
    async fn event(&mut self, event: AgentEvent) -> Result<(), SinkClosed> {
        if self.close_after == Some(self.events.len()) {
            return Err(SinkClosed);
        }
        if let Some(on_event) = &mut self.on_event {
            on_event(&event);
        }
        self.events.push(event);
        Ok(())
    }
}

impl Kept {
    pub(crate) fn answer(&self) -> String {
        self.events.iter().map(|event| event.answer.as_str()).collect()
    }

    pub(crate) fn kinds(&self) -> Vec<AgentEventKind> {
        self.events.iter().map(|event| event.event).collect()
    }

    pub(crate) fn of(&self, kind: AgentEventKind) -> Vec<&AgentEvent> {
        self.events.iter().filter(|event| event.event == kind).collect()
    }

    /// The last event, after making sure that it is the only terminal one.
    pub(crate) fn end(&self) -> &AgentEvent {
        let terminal: Vec<_> = self.events.iter().filter(|event| event.event.is_terminal()).collect();
        assert_eq!(terminal.len(), 1, "{:?}", self.kinds());
        let last = self.events.last().unwrap();
        assert!(last.event.is_terminal(), "{:?}", self.kinds());
        last
    }
}

/// A tool that counts its calls.
pub(crate) struct Counted {
    spec: ToolSpec,
    pub(crate) calls: AtomicUsize,
}

impl Counted {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        let schema =
            json!({"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}});
        Arc::new(Self {
            spec: ToolSpec {
                name: name.to_owned(),
                title: name.to_owned(),
                description: format!("The tool {name}"),
                args_schema: Schema::new(schema),
                output_schema: None,
                annotations: Annotations::PURE,
                origin: Origin { kind: ToolKind::BuiltinTool, provider_name: "p".into(), revision: 0 },
            },
            calls: AtomicUsize::new(0),
        })
    }
}

#[async_trait]
impl Tool for Counted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match self.spec.name.as_str() {
            "fail" => Ok(ToolOutput::failed("it does not work")),
            "unreachable" => Err(ToolError::Unreachable { reason: "no route".into() }),
            "hang" => {
                cx.cancel.cancelled().await;
                Err(ToolError::Cancelled)
            }
            _ => Ok(ToolOutput::text_of(format!("{}:{args}", self.spec.name))),
        }
    }
}

pub(crate) fn toolset(tools: &[Arc<Counted>]) -> Toolset {
    let refs = tools.iter().map(|t| ToolRef::new(ToolKind::BuiltinTool, "p", &t.spec.name)).collect();
    let resolved = tools.iter().map(|tool| Ok(tool.clone() as Arc<dyn Tool>)).collect();
    Toolset::new(refs, resolved, &[], ApprovalPolicy::Never, Arc::new(Runtime::default()))
}

pub(crate) fn request(server: &ModelServer, toolset: Toolset) -> AgentRequest {
    let info = ModelInfo {
        id: "mdl".into(),
        name: "m".into(),
        calls_tools: true,
        dialect: Dialect::OpenAi,
        context_tokens: 8192,
        price: None,
    };
    AgentRequest {
        cx: CallContext::new(account(), Entry::Debugger, "test", Duration::from_secs(30)),
        model: OpenModel { info, chat: model(server) },
        parameters: Map::new(),
        toolset: Arc::new(toolset),
        system: "Be kind.".into(),
        history: Vec::new(),
        query: "hello".into(),
        image_urls: Vec::new(),
        limits: AgentLimits { max_iterations: 5, max_tokens: None },
        review: Review::default(),
    }
}

pub(crate) async fn run(request: AgentRequest) -> Kept {
    let mut kept = Kept::default();
    AgentRunner::new().run(request, &mut kept).await;
    kept
}
