//! The client that the protocol's conformance suite drives: it registers the suite's server as any other, and
//! calls its tools as a workflow would. Run by `tests/mcp/conformance`.
//!
//! The suite appends the server's address to the command and names the scenario in the environment.

use anyhow::{Context as _, bail};
use domain::{
    AccountContext, AccountId, CallContext, Entry, ToolKind, ToolRef, ToolSource as _,
    ports::{StdioInvoker, SystemClock},
};
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use serde_json::{Map, Value, json};
use source_mcp::{Deps, NoStdio, ServerInput, Servers, StdioPolicy, ToolView};
use std::{sync::Arc, time::Duration};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let url = std::env::args().nth(1).context("the address of the server is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let dir = tempfile::tempdir()?;
    let servers = Servers::new(Deps {
        table: Arc::new(SqliteTable::open(dir.path().join("t.db")).await?),
        cipher: Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key"))?),
        egress: egress::Client::new(egress::Policy::strict().with_loopback(true)),
        stdio: Arc::new(NoStdio) as Arc<dyn StdioInvoker>,
        stdio_policy: StdioPolicy::Off,
        clock: Arc::new(SystemClock),
        listen: false,
    });
    let account = AccountId::generate();
    let server = servers.create(&account, ServerInput::http("conformance", url)).await?;
    let (tools, _) = servers.tools(&account, &server.id, 1000, None, None).await?;
    for (name, args) in calls(&scenario, &context, &tools) {
        call(&servers, &account, &server.id, &name, args).await?;
    }
    servers.close().await;
    Ok(())
}

/// What to call with what: what the suite says, or every tool with arguments that meet its schema.
fn calls(scenario: &str, context: &Value, tools: &[ToolView]) -> Vec<(String, Value)> {
    if let Some(calls) = context.get("toolCalls").and_then(Value::as_array) {
        let call =
            |call: &Value| Some((call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.clone()));
        return calls.iter().filter_map(call).collect();
    }
    if scenario == "json-schema-2020-12-preservation" {
        let rich = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
        return rich
            .map(|tool| ("json_schema_echo".to_owned(), json!({"schema": tool.args_schema.value()})))
            .into_iter()
            .collect();
    }
    tools.iter().map(|tool| (tool.name.clone(), sample(tool.args_schema.value()))).collect()
}

/// The least that meets a plain schema.
fn sample(schema: &Value) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("string") => json!("text"),
        _ => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let filled: Map<String, Value> =
                properties.into_iter().flatten().map(|(name, part)| (name.clone(), sample(part))).collect();
            Value::Object(filled)
        }
    }
}

async fn call(
    servers: &Servers,
    account: &AccountId,
    server: &str,
    name: &str,
    args: Value,
) -> anyhow::Result<()> {
    let refs = [ToolRef::new(ToolKind::McpTool, server, name)];
    let cx = AccountContext::new(account.clone());
    let resolved = servers.source().resolve(&refs, &cx).await;
    // A tool whose schema cannot be used is named in an assembly; it cannot be called.
    let Some(Ok(tool)) = resolved.into_iter().next() else { return Ok(()) };
    let cx = CallContext::new(account.clone(), Entry::Api, "conformance", Duration::from_secs(20));
    if let Err(error) = tool.call(args, &cx).await {
        bail!("{name}: {error}");
    }
    Ok(())
}
