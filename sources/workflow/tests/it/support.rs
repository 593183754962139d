//! A small world: scripted tools of every kind, a store on disk, the assembler and the service.

use apps::assembly::SourceAssembler;
use async_trait::async_trait;
use domain::{
    AccountContext, AccountId, Annotations, CallContext, Entry, Origin, ProblemCode, Schema, Tool, ToolError,
    ToolKind, ToolOutput, ToolRef, ToolSource, ToolSpec, Toolset, Unresolved,
    ports::{Assembler, Assembly, SystemClock},
    toolset::Runtime,
};
use futures::future::BoxFuture;
use infra_sqlite::SqliteTable;
use serde_json::{Map, Value, json};
use source_workflow::{
    EndEvent, Engine, EngineDeps, Event, EventSink, LateAssembler, NoModels, NodeEvent, NodeStatus, Plan,
    RunError, RunLimits, WorkflowSource, Workflows,
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

type Behaviour =
    Arc<dyn Fn(Value, CallContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>;

/// Tools of one kind that do what a test says, and know how many of them are running.
pub struct Scripted {
    kind: ToolKind,
    tools: Mutex<Vec<Arc<ScriptedTool>>>,
    running: Arc<AtomicUsize>,
}

struct ScriptedTool {
    provider: String,
    spec: ToolSpec,
    does: Behaviour,
    running: Arc<AtomicUsize>,
}

impl Scripted {
    pub fn new(kind: ToolKind) -> Arc<Self> {
        Arc::new(Self { kind, tools: Mutex::default(), running: Arc::default() })
    }

    /// Adds a tool whose arguments are these, all required.
    pub fn add<F>(
        &self,
        provider: &str,
        name: &str,
        args: &[&str],
        does: impl Fn(Value, CallContext) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let properties: Map<String, Value> = args.iter().map(|arg| ((*arg).to_owned(), json!({}))).collect();
        let schema = json!({"type": "object", "properties": properties, "required": args,
                            "additionalProperties": false});
        let spec = ToolSpec {
            name: name.into(),
            title: name.into(),
            description: name.into(),
            args_schema: Schema::new(schema),
            output_schema: None,
            annotations: Annotations::PURE,
            origin: Origin { kind: self.kind, provider_name: provider.into(), revision: 1 },
        };
        self.tools.lock().unwrap().push(Arc::new(ScriptedTool {
            provider: provider.into(),
            spec,
            does: Arc::new(move |args, cx| Box::pin(does(args, cx))),
            running: self.running.clone(),
        }));
    }

    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

struct Gauge(Arc<AtomicUsize>);

impl Drop for Gauge {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for ScriptedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        self.running.fetch_add(1, Ordering::SeqCst);
        let _gauge = Gauge(self.running.clone());
        (self.does)(args, cx.clone()).await
    }
}

#[async_trait]
impl ToolSource for Scripted {
    fn kind(&self) -> ToolKind {
        self.kind
    }

    // The param `secret` is one; it is sealed by being put in brackets.
    async fn protect(
        &self,
        reference: &ToolRef,
        stored: Option<&ToolRef>,
        _cx: &AccountContext,
    ) -> Result<ToolRef, Unresolved> {
        let mut sealed = reference.clone();
        if let Some(secret) = sealed.params.get_mut("secret") {
            *secret = match (stored, secret.as_str().unwrap()) {
                (Some(stored), "********") => stored.params["secret"].clone(),
                (_, text) => json!(format!("<{text}>")),
            };
        }
        Ok(sealed)
    }

    fn mask(&self, reference: &ToolRef) -> ToolRef {
        let mut masked = reference.clone();
        if let Some(secret) = masked.params.get_mut("secret") {
            *secret = json!("********");
        }
        masked
    }

    async fn resolve(
        &self,
        refs: &[ToolRef],
        _cx: &AccountContext,
    ) -> Vec<Result<Arc<dyn Tool>, Unresolved>> {
        let tools = self.tools.lock().unwrap();
        let one = |r: &ToolRef| {
            tools
                .iter()
                .find(|t| t.provider == r.provider_id && t.spec.name == r.tool_id)
                .map(|t| t.clone() as Arc<dyn Tool>)
                .ok_or_else(|| Unresolved::new(ProblemCode::ToolNotFound, format!("there is no {r}")))
        };
        refs.iter().map(one).collect()
    }
}

/// Counts assemblies.
pub struct Counted {
    inner: SourceAssembler,
    pub assemblies: AtomicUsize,
}

#[async_trait]
impl Assembler for Counted {
    async fn assemble(&self, assembly: Assembly, cx: &AccountContext) -> Toolset {
        self.assemblies.fetch_add(1, Ordering::SeqCst);
        self.inner.assemble(assembly, cx).await
    }
}

pub struct World {
    pub account: AccountId,
    pub engine: Engine,
    pub source: WorkflowSource,
    pub service: Workflows,
    pub builtin: Arc<Scripted>,
    pub api: Arc<Scripted>,
    pub mcp: Arc<Scripted>,
    pub assembler: Arc<Counted>,
    // Held, for the engine's handle to it is weak.
    _assembler: Arc<dyn Assembler>,
    _dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::with(|deps| deps, RunLimits::default())
    }

    pub fn with(adapt: impl FnOnce(EngineDeps) -> EngineDeps, limits: RunLimits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let table = Arc::new(SqliteTable::new(dir.path().join("haft.db")));
        let late = LateAssembler::new();
        let policy = egress::Policy::strict().with_loopback(true);
        let deps = EngineDeps {
            assembler: late.clone(),
            models: Arc::new(NoModels),
            retriever: None,
            http: egress::Client::new(policy),
        };
        let engine = Engine::with_limits(adapt(deps), limits);
        let source = WorkflowSource::new(table, engine.clone(), Arc::new(SystemClock));
        let [builtin, api, mcp] =
            [ToolKind::BuiltinTool, ToolKind::ApiTool, ToolKind::McpTool].map(Scripted::new);
        let sources: Vec<Arc<dyn ToolSource>> =
            vec![builtin.clone(), api.clone(), mcp.clone(), Arc::new(source.clone())];
        let inner = SourceAssembler::new(sources, Arc::new(Runtime::default()));
        let assembler = Arc::new(Counted { inner, assemblies: AtomicUsize::new(0) });
        let bound: Arc<dyn Assembler> = assembler.clone();
        late.bind(&bound);
        let service = Workflows::new(source.clone(), vec![builtin.clone()]);
        let account = AccountId::generate();
        Self { account, engine, source, service, builtin, api, mcp, assembler, _assembler: bound, _dir: dir }
    }

    pub fn cx(&self) -> CallContext {
        CallContext::new(self.account.clone(), Entry::Debug, "test", Duration::from_secs(60))
    }

    /// Runs a graph to its end and gives what it gave and what was told of it.
    pub async fn run(&self, graph: &Value, inputs: Value) -> (Result<Value, RunError>, Told) {
        self.run_in(graph, inputs, &self.cx()).await
    }

    pub async fn run_in(
        &self,
        graph: &Value,
        inputs: Value,
        cx: &CallContext,
    ) -> (Result<Value, RunError>, Told) {
        let plan = Plan::of(graph).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let told = Told::default();
        let outcome = self.engine.run("run", &plan, inputs.as_object().unwrap(), cx, &told).await;
        (outcome.map(|values| Value::Object(values.as_ref().clone())), told)
    }

    /// Makes, fills and publishes a workflow; gives its id.
    pub async fn published(&self, name: &str, graph: &Value) -> String {
        let id = self.drafted(name, graph).await;
        self.service.publish(&self.account, &id).await.unwrap();
        id
    }

    pub async fn drafted(&self, name: &str, graph: &Value) -> String {
        let fields = json!({"name": name, "tool_call_name": name, "description": name});
        let fields = serde_json::from_value(fields).unwrap();
        let workflow = self.service.create(&self.account, fields).await.unwrap();
        self.service.put_draft(&self.account, &workflow.id, graph.clone()).await.unwrap();
        workflow.id
    }

    pub fn nothing_runs(&self) {
        for tools in [&self.builtin, &self.api, &self.mcp] {
            assert_eq!(tools.running(), 0, "a tool is still running");
        }
    }
}

/// Keeps what is told of a run.
#[derive(Default)]
pub struct Told(pub Mutex<Vec<Event>>);

impl EventSink for Told {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

impl Told {
    pub fn nodes(&self) -> Vec<NodeEvent> {
        let nodes = |event: &Event| match event {
            Event::Node(node) => Some(node.clone()),
            Event::End(_) => None,
        };
        self.0.lock().unwrap().iter().filter_map(nodes).collect()
    }

    /// The ids of the nodes with this status, in the order they were told.
    pub fn with(&self, status: NodeStatus) -> Vec<String> {
        let nodes = self.nodes();
        nodes.iter().filter(|n| n.status == status).map(|n| n.node_data.id.to_string()).collect()
    }

    /// The one terminal event, after checking that the events are complete.
    pub fn end(&self) -> EndEvent {
        let events = self.0.lock().unwrap();
        let ends = events.iter().filter(|event| matches!(event, Event::End(_))).count();
        assert_eq!(ends, 1, "a run has exactly one terminal event");
        let Some(Event::End(end)) = events.last() else { panic!("the terminal event is not the last") };
        let end = end.clone();
        drop(events);
        let mut open = Vec::new();
        for node in self.nodes() {
            let key = (node.node_data.id.clone(), node.iteration.clone());
            match node.status {
                NodeStatus::Running => open.push(key),
                NodeStatus::Skipped => assert!(!open.contains(&key)),
                _ => {
                    let place = open.iter().position(|o| *o == key).expect("a node ended that never began");
                    open.remove(place);
                }
            }
        }
        assert!(open.is_empty(), "nodes without an end: {open:?}");
        end
    }
}

/// A graph under construction. Titles are ids.
#[derive(Clone, Default)]
pub struct Draw {
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Draw {
    /// A graph with a start that takes these required inputs, `name: type`.
    pub fn new(inputs: &[(&str, &str)]) -> Self {
        let inputs: Vec<Value> = inputs.iter().map(|(n, t)| json!({"name": n, "type": t})).collect();
        Self::default().node("start", json!({"node_type": "start", "inputs": inputs}))
    }

    pub fn node(mut self, id: &str, mut fields: Value) -> Self {
        fields["id"] = json!(id);
        if fields.get("title").is_none() {
            fields["title"] = json!(id);
        }
        self.nodes.push(fields);
        self
    }

    /// Edges along a path of ids.
    pub fn path(mut self, ids: &[&str]) -> Self {
        for pair in ids.windows(2) {
            self = self.edge(pair[0], pair[1], None);
        }
        self
    }

    pub fn edge(mut self, from: &str, to: &str, condition: Option<&str>) -> Self {
        let id = format!("e{}", self.edges.len());
        self.edges.push(json!({"id": id, "source": from, "target": to, "condition": condition}));
        self
    }

    /// The end node, with outputs `name: (type, node, output)`.
    pub fn end(self, outputs: &[(&str, &str, &str, &str)]) -> Self {
        let outputs: Vec<Value> = outputs.iter().map(|(n, t, node, var)| refer(n, t, node, var)).collect();
        self.node("end", json!({"node_type": "end", "outputs": outputs}))
    }

    pub fn done(self) -> Value {
        json!({"nodes": self.nodes, "edges": self.edges})
    }
}

/// A required variable that refers to an output.
pub fn refer(name: &str, kind: &str, node: &str, output: &str) -> Value {
    json!({"name": name, "type": kind,
           "value": {"type": "ref", "content": {"ref_node_id": node, "ref_var_name": output}}})
}

/// The same, optional.
pub fn maybe(name: &str, kind: &str, node: &str, output: &str) -> Value {
    let mut variable = refer(name, kind, node, output);
    variable["required"] = json!(false);
    variable
}

pub fn literal(name: &str, kind: &str, value: Value) -> Value {
    json!({"name": name, "type": kind, "value": {"type": "literal", "content": value}})
}

/// A node that gives the text.
pub fn says(text: &str) -> Value {
    json!({"node_type": "template_transform", "template": text})
}

/// A node that calls a scripted builtin tool of the provider `test`.
pub fn calls(tool: &str, inputs: Vec<Value>) -> Value {
    json!({"node_type": "tool", "inputs": inputs,
           "tool": {"type": "builtin_tool", "provider_id": "test", "tool_id": tool, "params": {}}})
}

/// start -> the node `x` -> end, which gives `x`'s output as `out`.
pub fn around(node: Value, inputs: &[(&str, &str)], output: (&str, &str)) -> Value {
    Draw::new(inputs)
        .node("x", node)
        .end(&[("out", output.1, "x", output.0)])
        .path(&["start", "x", "end"])
        .done()
}
