//! What a managed MCP tool adds to the call it makes: the same call, by a bare `rmcp` client over one pooled HTTP
//! client and by the tool, in turn, to one `rmcp` server in a process of its own. And whether ten thousand
//! calls leave anything behind in memory, descriptors or processes.
//!
//! `cargo bench -p benches --bench mcp_call`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for people, which ends when it cannot go on, and measures against a bare client"
)]

use domain::{
    AccountContext, AccountId, CallContext, Entry, ToolKind, ToolRef, ToolSource as _, Toolset,
    ports::SystemClock, toolset::ApprovalPolicy,
};
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpClientTransport, StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_client::StreamableHttpClientTransportConfig,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use source_mcp::{Deps, ServerInput, Servers, StdioPolicy, stdio::LocalStdio};
use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

const WARM_UP: usize = 500;
const PAIRS: usize = 5000;
const LONG_RUN: usize = 10_000;

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::args().any(|argument| argument == "--serve") {
        runtime.block_on(serve());
    } else {
        runtime.block_on(compare());
    }
}

async fn compare() {
    let (mut server, url) = start();
    let directory = tempfile::tempdir().unwrap();
    let servers = Servers::new(Deps {
        table: Arc::new(SqliteTable::open(directory.path().join("t.db")).await.unwrap()),
        cipher: Arc::new(LocalKeyCipher::open_or_create(&directory.path().join("key")).unwrap()),
        egress: egress::Client::new(egress::Policy::strict().with_loopback(true)),
        stdio: Arc::new(LocalStdio::new(StdioPolicy::Off)),
        stdio_policy: StdioPolicy::Off,
        clock: Arc::new(SystemClock),
        listen: true,
    });
    let account = AccountId::generate();
    let registered = servers.create(&account, ServerInput::http("bench", url.clone())).await.unwrap();
    let refs = vec![ToolRef::new(ToolKind::McpTool, registered.id, "echo")];
    let resolved = servers.source().resolve(&refs, &AccountContext::new(account.clone())).await;
    let set = Toolset::new(refs, resolved, &[], ApprovalPolicy::Never, Arc::default());

    let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap();
    let transport = StreamableHttpClientTransport::with_client(
        client,
        StreamableHttpClientTransportConfig::with_uri(url),
    );
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    };
    let bare = ClientConfig::default().serve_with_lifecycle(transport, mode).await.unwrap();

    let (mut bare_times, mut tool_times) = (Vec::new(), Vec::new());
    for i in 0..WARM_UP + PAIRS {
        let args = json!({"text": format!("call {i}")});
        let params =
            CallToolRequestParams::new("echo").with_arguments(args.as_object().cloned().unwrap_or_default());
        let began = Instant::now();
        let answer = bare.call_tool_once(params).await.unwrap();
        let bare_time = began.elapsed();
        drop(answer);
        let tool_time = call(&set, &account, args).await;
        if i >= WARM_UP {
            bare_times.push(bare_time);
            tool_times.push(tool_time);
        }
    }
    let mut added: Vec<f64> =
        tool_times.iter().zip(&bare_times).map(|(tool, bare)| micros(*tool) - micros(*bare)).collect();
    added.sort_by(f64::total_cmp);
    println!("{PAIRS} pairs, one at a time, protocol {}", registered.protocol_version.unwrap_or_default());
    tell("bare rmcp client", &mut bare_times);
    tell("managed tool", &mut tool_times);
    println!("added, pair by pair: p50 {:.0} us", added[added.len() / 2]);

    let before = left_behind();
    for i in 0..LONG_RUN {
        call(&set, &account, json!({"text": i.to_string()})).await;
    }
    let after = left_behind();
    println!("{LONG_RUN} calls: memory {before:?} -> {after:?} (KiB resident, descriptors, children)");
    server.kill().unwrap();
    server.wait().unwrap();
}

async fn call(set: &Toolset, account: &AccountId, args: Value) -> Duration {
    let cx = CallContext::new(account.clone(), Entry::Api, "bench", Duration::from_secs(10));
    let began = Instant::now();
    set.invoke(&set.entries()[0].name, args, &cx).await.unwrap();
    began.elapsed()
}

fn tell(name: &str, times: &mut [Duration]) {
    times.sort();
    let at = |part: usize| micros(times[(times.len() - 1) * part / 100]);
    println!("{name:<18} p50 {:>6.0} us   p95 {:>6.0} us   p99 {:>6.0} us", at(50), at(95), at(99));
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Resident memory in KiB, open descriptors, and child processes of this process.
fn left_behind() -> (u64, usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
    let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let children = std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()));
    (resident.unwrap_or(0), descriptors, children.unwrap_or_default().split_whitespace().count())
}

/// This program again, as the server.
fn start() -> (Child, String) {
    let mut child =
        Command::new(std::env::current_exe().unwrap()).arg("--serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema =
            json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let tool = Tool::new("echo", "Echoes.", schema.as_object().cloned().unwrap_or_default());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = Value::Object(request.arguments.unwrap_or_default()).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn serve() {
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(|| Ok(Echo), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await.unwrap();
}
