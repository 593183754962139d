//! Registering, changing and deleting servers; secrets; policies.

use crate::harness::{House, HttpServer, faulty, text};
use domain::{ToolKind, ToolLister as _, listing::ListRequest, problem::ProblemCode, secret::MASK};
use serde_json::json;
use source_mcp::{ServerError, ServerInput, ServerStatus, StdioPolicy, stdio::LocalStdio};

#[tokio::test]
async fn a_stdio_server_is_registered_assembled_called_and_deleted() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    assert_eq!((server.status, server.revision), (ServerStatus::Ready, 1));
    assert!(server.tools >= 18 && server.health.last_success_at.is_some());
    let output = house.call(&server.id, "echo", json!({"text": "hi"})).await.unwrap();
    assert_eq!((text(&output), &output.structured), ("hi", &Some(json!({"text": "hi"}))));
    assert_eq!(serde_json::to_value(&output.content).unwrap()[0]["x"], 1, "unknown fields survive");

    house.servers.delete(&house.account, &server.id).await.unwrap();
    let toolset = house.toolset(&server.id, &["echo"]).await;
    assert_eq!(toolset.problems()[0].code, ProblemCode::ProviderNotFound);
}

#[tokio::test]
async fn an_http_server_is_registered_and_called() {
    let (house, http) = (House::new().await, HttpServer::start(&[]));
    let server = house.servers.create(&house.account, http.input()).await.unwrap();
    assert_eq!(server.protocol_version.as_deref(), Some("2025-06-18"));
    let output = house.call(&server.id, "echo", json!({"text": "hi"})).await.unwrap();
    assert_eq!(text(&output), "hi");
}

#[tokio::test]
async fn assembly_asks_no_server() {
    let (house, mut http) = (House::new().await, HttpServer::start(&[]));
    let server = house.servers.create(&house.account, http.input()).await.unwrap();
    http.stop();
    let toolset = house.toolset(&server.id, &["echo", "nothing", "headers"]).await;
    assert_eq!(toolset.entries().len(), 2);
    assert_eq!(toolset.problems()[0].code, ProblemCode::ToolNotFound);
}

#[tokio::test]
async fn nothing_is_saved_when_the_server_does_not_answer() {
    let house = House::new().await;
    let dead = ServerInput::http("dead", "http://127.0.0.1:9/mcp");
    let error = house.servers.create(&house.account, dead).await.unwrap_err();
    assert!(matches!(error, ServerError::Discovery(_)), "{error}");
    let missing = ServerInput::stdio("missing", "no-such-command-anywhere", vec![]);
    let error = house.servers.create(&house.account, missing).await.unwrap_err();
    assert!(error.to_string().contains("install it"), "{error}");
    let (listed, _) = house.servers.list(&house.account, 10, None, None).await.unwrap();
    assert!(listed.is_empty());

    let server = house.faulty(&[]).await;
    let update = ServerInput { command: Some("no-such-command-anywhere".into()), ..faulty(&[]) };
    house.servers.update(&house.account, &server.id, update).await.unwrap_err();
    let after = house.servers.get(&house.account, &server.id).await.unwrap();
    assert_eq!((after.command.as_deref(), after.revision), (Some("python3"), 1));
    house.call(&server.id, "echo", json!({"text": "still"})).await.unwrap();
}

#[tokio::test]
async fn an_unguarded_address_is_refused_by_name() {
    let house = House::new().await;
    for url in ["http://169.254.169.254/mcp", "http://10.1.2.3/mcp"] {
        let error = house.servers.create(&house.account, ServerInput::http("x", url)).await.unwrap_err();
        assert!(matches!(error, ServerError::Invalid(_)), "{error}");
    }
}

#[tokio::test]
async fn secrets_are_sealed_masked_and_given_to_the_server_alone() {
    let house = House::new().await;
    let mut input = faulty(&[]);
    input.env.insert("API_KEY".into(), "s3cret-value".into());
    let server = house.servers.create(&house.account, input.clone()).await.unwrap();
    assert_eq!(server.env["API_KEY"], MASK);
    let stored = std::fs::read(house.dir.path().join("t.db")).unwrap();
    let wal = std::fs::read(house.dir.path().join("t.db-wal")).unwrap_or_default();
    for bytes in [stored, wal] {
        assert!(!bytes.windows(12).any(|w| w == b"s3cret-value"));
    }
    // A masked value keeps the stored one; nothing of our own environment is passed on.
    input.env.insert("API_KEY".into(), MASK.into());
    input.timeout_s = Some(20);
    house.servers.update(&house.account, &server.id, input.clone()).await.unwrap();
    let environment = house.call(&server.id, "environment", json!({})).await.unwrap().structured.unwrap();
    assert_eq!(environment["API_KEY"], "s3cret-value");
    assert!(environment.get("CARGO_MANIFEST_DIR").is_none(), "{environment}");

    // A stored secret is never sent to another place.
    input.args.push("--slow=0".into());
    let error = house.servers.update(&house.account, &server.id, input).await.unwrap_err();
    assert!(error.to_string().contains("send the value itself"), "{error}");
}

#[tokio::test]
async fn headers_reach_the_server_and_stay_masked() {
    let (house, http) = (House::new().await, HttpServer::start(&[]));
    let mut input = http.input();
    input.headers.insert("Authorization".into(), "Bearer s3cret".into());
    let server = house.servers.create(&house.account, input.clone()).await.unwrap();
    assert!(!format!("{server:?}").contains("s3cret"));
    let headers = house.call(&server.id, "headers", json!({})).await.unwrap().structured.unwrap();
    assert_eq!(headers["authorization"], "Bearer s3cret");
    input.headers.insert("Authorization".into(), MASK.into());
    input.url = Some("http://localhost:1/mcp".into());
    let error = house.servers.update(&house.account, &server.id, input).await.unwrap_err();
    assert!(matches!(error, ServerError::Invalid(_)), "{error}");
}

#[tokio::test]
async fn a_disabled_server_is_not_asked_and_its_tools_are_a_problem() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let off = ServerInput { enabled: Some(false), ..faulty(&[]) };
    let server = house.servers.update(&house.account, &server.id, off).await.unwrap();
    assert_eq!(server.status, ServerStatus::Disabled);
    let toolset = house.toolset(&server.id, &["echo"]).await;
    assert_eq!(toolset.problems()[0].code, ProblemCode::Disabled);
    let refused = house.servers.refresh(&house.account, &server.id).await.unwrap_err();
    assert!(matches!(refused, ServerError::Disabled(_)));
    let never = ServerInput { enabled: Some(false), ..ServerInput::http("never", "http://127.0.0.1:9/") };
    house.servers.create(&house.account, never).await.unwrap();
}

#[tokio::test]
async fn a_policy_decides_which_commands_run_also_for_servers_registered_before() {
    let allow: StdioPolicy = "allow:npx".parse().unwrap();
    let house = House::with(LocalStdio::new(allow.clone()), allow).await;
    let error = house.servers.create(&house.account, faulty(&[])).await.unwrap_err();
    assert!(matches!(&error, ServerError::NotAllowed(_)) && error.to_string().contains("npx"), "{error}");
    // Registered while it was allowed, run while it is not.
    let house = House::with(LocalStdio::new(StdioPolicy::Off), StdioPolicy::Admin).await;
    let error = house.servers.create(&house.account, faulty(&[])).await.unwrap_err();
    assert!(error.to_string().contains("HAFT_STDIO=admin"), "{error}");
}

#[tokio::test]
async fn names_are_unique_and_other_accounts_see_nothing() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    assert!(house.servers.create(&house.account, faulty(&[])).await.is_err());
    let other = domain::AccountId::generate();
    assert!(house.servers.get(&other, &server.id).await.is_err());
    assert_eq!(house.servers.find(&house.account, "FAULTY").await.unwrap(), server.id);
}

#[tokio::test]
async fn a_desktop_configuration_is_imported_server_by_server() {
    let (house, http) = (House::new().await, HttpServer::start(&[]));
    let good = faulty(&[]);
    let entries = json!({
        "one": {"command": good.command, "args": good.args, "autoApprove": ["x"]},
        "two": {"url": format!("http://127.0.0.1:{}/mcp", http.port)},
        "three": {"url": "http://127.0.0.1:9/mcp"},
        "four": {"what": 1},
    });
    let imported = house.servers.import(&house.account, &entries, |_| Ok(())).await.unwrap();
    let made: Vec<_> = imported.servers.iter().map(|s| (s.name.as_str(), s.server.is_some())).collect();
    assert_eq!(made, [("one", true), ("two", true), ("three", false), ("four", false)]);
    assert_eq!(imported.servers[0].ignored, ["autoApprove"]);
    let five = json!({"five": entries["one"]});
    let refused = house.servers.import(&house.account, &five, |_| Err("no".into()));
    assert_eq!(refused.await.unwrap().servers[0].error.as_deref(), Some("no"));
}

#[tokio::test]
async fn all_tools_are_listed_for_editors() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let cx = domain::AccountContext::new(house.account.clone());
    let request = ListRequest { q: Some("ECHO".into()), limit: 10, cursor: None };
    let page = house.servers.source().list(&cx, &request).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(
        (page.items[0].reference.kind, &page.items[0].reference.provider_id),
        (ToolKind::McpTool, &server.id)
    );
    assert!(!page.items[0].annotations.read_only, "a hint is not our judgement");
}

#[tokio::test]
async fn annotations_count_only_where_the_server_is_trusted() {
    let house = House::new().await;
    let trusting = ServerInput { trust_annotations: true, ..faulty(&[]) };
    let server = house.servers.create(&house.account, trusting).await.unwrap();
    let toolset = house.toolset(&server.id, &["echo", "die"]).await;
    assert!(toolset.entries()[0].spec().annotations.read_only);
    assert!(toolset.entries()[1].spec().annotations.destructive);
}
