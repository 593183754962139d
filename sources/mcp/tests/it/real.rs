//! Servers that people run: npm's everything, filesystem and memory, PyPI's time and git, a FastMCP server.

use crate::harness::{House, process, text, until};
use serde_json::{Value, json};
use source_mcp::{ServerInput, ServerView};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

/// Where the servers are installed; installs them when they are not.
#[expect(clippy::disallowed_methods, reason = "a script of the tests")]
fn installed() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/setup");
        let output = Command::new(script).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "the servers could not be installed");
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    })
}

fn node(server: &str, args: &[&str]) -> ServerInput {
    let script = installed().join("node_modules/@modelcontextprotocol").join(server).join("dist/index.js");
    let args = [script.to_str().unwrap()].into_iter().chain(args.iter().copied());
    ServerInput::stdio(server, installed().join("node").to_str().unwrap(), args.map(str::to_owned).collect())
}

fn python(name: &str, args: &[&str]) -> ServerInput {
    let python = installed().join("venv/bin/python");
    ServerInput::stdio(name, python.to_str().unwrap(), args.iter().map(|a| (*a).to_owned()).collect())
}

/// Registers a server and checks what must hold for each: every tool can be used, and asking again finds nothing new.
async fn register(house: &House, input: ServerInput) -> ServerView {
    let server = house.servers.create(&house.account, input).await.unwrap();
    assert_eq!(server.skipped, [], "{}", server.name);
    let (tools, _) = house.servers.tools(&house.account, &server.id, 1000, None, None).await.unwrap();
    assert_eq!(tools.len(), server.tools);
    for tool in tools {
        assert_eq!(tool.problem, None, "{}", tool.name);
        assert_eq!(tool.flags, [], "{}", tool.name);
    }
    let again = house.servers.refresh(&house.account, &server.id).await.unwrap();
    assert!(again.changes.is_empty() && again.server.revision == 1, "{:?}", again.changes);
    server
}

async fn structured(house: &House, server: &ServerView, tool: &str, args: Value) -> Value {
    let output = house.call(&server.id, tool, args).await.unwrap();
    assert!(!output.is_error, "{output:?}");
    match output.structured {
        Some(value) => value,
        None => serde_json::from_str(&output.text()).unwrap_or(json!(output.text())),
    }
}

#[tokio::test]
async fn everything_over_stdio() {
    let house = House::new().await;
    let server = register(&house, node("server-everything", &["stdio"])).await;
    let output = house.call(&server.id, "echo", json!({"message": "hi"})).await.unwrap();
    assert_eq!(text(&output), "Echo: hi");
    let output = house.call(&server.id, "get-sum", json!({"a": 2, "b": 3})).await.unwrap();
    assert!(text(&output).contains('5'));
    let weather = structured(&house, &server, "get-structured-content", json!({"location": "Chicago"})).await;
    assert!(weather["temperature"].is_number(), "{weather}");
    let image = house.call(&server.id, "get-tiny-image", json!({})).await.unwrap();
    assert!(serde_json::to_value(&image.content).unwrap().to_string().contains("image/png"));
}

#[expect(clippy::disallowed_methods, reason = "a server of the test's own")]
fn everything_over_http(port: u16) -> Child {
    let script = installed().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let mut command = Command::new(installed().join("node"));
    command.arg(script).arg("streamableHttp").env("PORT", port.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_over_http_also_after_a_restart() {
    let house = House::new().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let up = async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok();
    let mut child = everything_over_http(port);
    until("the server listens", up).await;
    let input = ServerInput::http("everything", format!("http://127.0.0.1:{port}/mcp"));
    let server = register(&house, input).await;
    let output = house.call(&server.id, "echo", json!({"message": "one"})).await.unwrap();
    assert_eq!(text(&output), "Echo: one");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut child = everything_over_http(port);
    until("the server listens again", up).await;
    let output = house.call(&server.id, "echo", json!({"message": "two"})).await.unwrap();
    assert_eq!(text(&output), "Echo: two");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn filesystem() {
    let house = House::new().await;
    let root = house.dir.path().join("files");
    std::fs::create_dir(&root).unwrap();
    let file = root.join("note.txt").display().to_string();
    let server = register(&house, node("server-filesystem", &[root.to_str().unwrap()])).await;
    house.call(&server.id, "write_file", json!({"path": file, "content": "hello"})).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello");
    let read = house.call(&server.id, "read_text_file", json!({"path": file})).await.unwrap();
    assert_eq!(read.text(), "hello");
    let outside = house.call(&server.id, "read_text_file", json!({"path": "/etc/hostname"})).await.unwrap();
    assert!(outside.is_error);
}

#[tokio::test]
async fn memory() {
    let house = House::new().await;
    let mut input = node("server-memory", &[]);
    input.env.insert("MEMORY_FILE_PATH".into(), house.file("memory.json"));
    let server = register(&house, input).await;
    let entity = json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]});
    house.call(&server.id, "create_entities", entity).await.unwrap();
    let graph = structured(&house, &server, "read_graph", json!({})).await;
    assert_eq!(graph["entities"][0]["name"], "Ada");
}

#[tokio::test]
async fn time() {
    let house = House::new().await;
    let server = register(&house, python("time", &["-m", "mcp_server_time"])).await;
    assert_eq!(server.protocol_version.as_deref(), Some("2026-07-28"));
    let now = structured(&house, &server, "get_current_time", json!({"timezone": "Asia/Shanghai"})).await;
    assert!(now.to_string().contains("+08:00"), "{now}");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a repository of the test's own")]
async fn git() {
    let house = House::new().await;
    let root = house.file("repository");
    assert!(Command::new("git").args(["init", "-q", &root]).status().unwrap().success());
    let server = register(&house, python("git", &["-m", "mcp_server_git", "--repository", &root])).await;
    let status = house.call(&server.id, "git_status", json!({"repo_path": root})).await.unwrap();
    assert!(status.text().contains("No commits yet"), "{status:?}");
}

#[tokio::test]
async fn five_hundred_tools_are_assembled_and_called_and_the_process_goes() {
    let house = House::new().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/fastmcp_500.py");
    let server = register(&house, python("many", &[script])).await;
    assert_eq!(server.tools, 500);
    let names: Vec<String> = (0..500).map(|n| format!("add_{n:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let toolset = house.toolset(&server.id, &names).await;
    assert_eq!((toolset.entries().len(), toolset.problems().len()), (500, 0));
    for n in [0, 250, 499] {
        let sum = structured(&house, &server, &format!("add_{n:03}"), json!({"value": 1})).await;
        assert_eq!(sum["sum"], n + 1);
    }
    let children = || {
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let of_ours = |pid: &String| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.contains("fastmcp_500.py") && process(pid) != Some('Z')
        };
        pids.map(|e| e.file_name().to_string_lossy().into_owned()).filter(of_ours).count()
    };
    assert_eq!(children(), 1);
    house.servers.delete(&house.account, &server.id).await.unwrap();
    assert_eq!(children(), 0);
}
