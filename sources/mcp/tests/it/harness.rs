//! An installation of its own for each test: a table, a key, and real servers as processes.

use domain::{
    AccountContext, AccountId, CallContext, Content, Entry, ToolError, ToolKind, ToolOutput, ToolRef,
    ToolSource as _, Toolset,
    ports::{Cipher, Clock, StdioInvoker, Table},
    toolset::ApprovalPolicy,
};
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use jiff::Timestamp;
use serde_json::Value;
use source_mcp::{Deps, ServerInput, ServerView, Servers, StdioPolicy, stdio::LocalStdio};
use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tempfile::TempDir;

/// An installation.
pub(crate) struct House {
    pub(crate) servers: Servers,
    pub(crate) stdio: Arc<LocalStdio>,
    pub(crate) account: AccountId,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) dir: TempDir,
}

impl House {
    /// One where any command may be run, and loopback be connected to.
    pub(crate) async fn new() -> Self {
        Self::with(LocalStdio::new(StdioPolicy::Admin), StdioPolicy::Admin).await
    }

    pub(crate) async fn with(stdio: LocalStdio, policy: StdioPolicy) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let table: Arc<dyn Table> = Arc::new(SqliteTable::open(dir.path().join("t.db")).await.unwrap());
        let cipher: Arc<dyn Cipher> =
            Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key")).unwrap());
        let clock = Arc::new(TestClock::default());
        let stdio = Arc::new(stdio);
        let servers = Servers::new(Deps {
            table,
            cipher,
            egress: egress::Client::new(egress::Policy::strict().with_loopback(true)),
            stdio: Arc::clone(&stdio) as Arc<dyn StdioInvoker>,
            stdio_policy: policy,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            listen: true,
        });
        let told = servers.clone();
        stdio.on_change(Arc::new(move |account, id| told.tools_changed(account, id)));
        let account = AccountId::generate();
        Self { servers, stdio, account, clock, dir }
    }

    /// Registers the misbehaving stdio server.
    pub(crate) async fn faulty(&self, args: &[&str]) -> ServerView {
        self.servers.create(&self.account, faulty(args)).await.unwrap()
    }

    /// Assembles tools of a server.
    pub(crate) async fn toolset(&self, server: &str, tools: &[&str]) -> Toolset {
        let refs: Vec<_> = tools.iter().map(|tool| ToolRef::new(ToolKind::McpTool, server, *tool)).collect();
        let cx = AccountContext::new(self.account.clone());
        let resolved = self.servers.source().resolve(&refs, &cx).await;
        Toolset::new(refs, resolved, &[], ApprovalPolicy::Never, Arc::default())
    }

    /// Calls a tool with ten seconds to spare.
    pub(crate) async fn call(&self, server: &str, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.call_within(server, tool, args, self.cx(Duration::from_secs(20))).await
    }

    pub(crate) async fn call_within(
        &self,
        server: &str,
        tool: &str,
        args: Value,
        cx: CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let toolset = self.toolset(server, &[tool]).await;
        let name = match toolset.entries() {
            [entry] => entry.name.clone(),
            _ => panic!("{:?}", toolset.problems()),
        };
        toolset.invoke(&name, args, &cx).await
    }

    pub(crate) fn cx(&self, timeout: Duration) -> CallContext {
        CallContext::new(self.account.clone(), Entry::Api, "test", timeout)
    }

    /// A file of this installation's own.
    pub(crate) fn file(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// How often calls have arrived at a server that counts them.
    pub(crate) fn counted(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The servers' tools by name, with their descriptions.
    pub(crate) async fn descriptions(&self, server: &str) -> Vec<(String, String)> {
        let (tools, _) = self.servers.tools(&self.account, server, 1000, None, None).await.unwrap();
        tools.into_iter().map(|t| (t.name, t.description)).collect()
    }
}

/// The machine's clock, set forward where a test says so.
#[derive(Default)]
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(by.as_secs(), SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + Duration::from_secs(self.0.load(SeqCst))
    }
}

/// The misbehaving stdio server as an input.
pub(crate) fn faulty(args: &[&str]) -> ServerInput {
    let script = faults().join("stdio_server.py").display().to_string();
    let args = std::iter::once(script).chain(args.iter().map(|a| (*a).to_owned())).collect();
    ServerInput::stdio("faulty", "python3", args)
}

fn faults() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp-faults")
}

/// The misbehaving HTTP server, running.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) port: u16,
}

impl HttpServer {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::on_port(0, args)
    }

    #[expect(clippy::disallowed_methods, reason = "a server of the test's own")]
    pub(crate) fn on_port(port: u16, args: &[&str]) -> Self {
        let mut child = Command::new("python3")
            .arg(faults().join("http_server.py"))
            .args(["--port", &port.to_string()])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    pub(crate) fn input(&self) -> ServerInput {
        ServerInput::http("faulty", format!("http://127.0.0.1:{}/mcp", self.port))
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(output: &ToolOutput) -> &str {
    match output.content.as_slice() {
        [Content::Text { text, .. }] => text,
        other => panic!("not one text: {other:?}"),
    }
}

/// Whether a process is running. A zombie is not, but is told: nobody has reaped it.
pub(crate) fn process(pid: &str) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.trim().chars().next()
}

/// Waits until something holds, looking again and again.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..1000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} does not come true");
}
