//! `haft mcp`.

use super::{
    args::{AddMcp, McpCommand, OnChange},
    client::{Api, segment},
    failure::Failure,
    input, names,
    screen::{self, Report, brief, field, table},
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

const LIST: &str = "/mcp-servers";

pub(crate) async fn run(api: &Api, command: McpCommand) -> Result<Report, Failure> {
    match command {
        McpCommand::Add(args) => add(api, args).await,
        McpCommand::List => list(api).await,
        McpCommand::Show { name } => show(api, &name).await,
        McpCommand::Refresh { name: Some(name), .. } => {
            let id = names::id(api, LIST, &name).await?;
            let answer = refresh(api, &id, &name).await?;
            Ok(Report::new(format!("{name}: {}", refreshed(&answer)), answer))
        }
        McpCommand::Refresh { name: None, .. } => refresh_all(api).await,
        McpCommand::Changes { name } => changes(api, &name).await,
        McpCommand::Approve { name, tools } => approve(api, &name, &tools).await,
        McpCommand::Remove { name } => {
            api.delete(&names::path(api, LIST, &name).await?).await?;
            Ok(Report::new(format!("removed {name}"), json!({"deleted": name})))
        }
        McpCommand::Import { file } => import(api, &file).await,
    }
}

async fn add(api: &Api, args: AddMcp) -> Result<Report, Failure> {
    let pairs = |given: &[String], separator| -> Result<Value, Failure> {
        let mut map = Map::new();
        for pair in given {
            let (name, value) = input::pair(pair, separator)?;
            map.insert(name, Value::String(value));
        }
        Ok(Value::Object(map))
    };
    let mut body = match (&args.url, args.command.split_first()) {
        (Some(url), _) => json!({"transport": "http", "url": url, "headers": pairs(&args.headers, ':')?}),
        (None, Some((command, rest))) => {
            json!({"transport": "stdio", "command": command, "args": rest, "env": pairs(&args.env, '=')?})
        }
        (None, None) => return Err(Failure::new("give --url URL, or a command after `--`")),
    };
    body["name"] = json!(args.name);
    if let Some(timeout) = args.timeout {
        body["timeout_s"] = json!(timeout);
    }
    if let Some(policy) = args.on_change {
        body["on_change"] = json!(match policy {
            OnChange::Accept => "accept",
            OnChange::Review => "review",
        });
    }
    let spinner = screen::working(format!("discovering the tools of {}", args.name));
    let answer = api.post(LIST, &body).await;
    spinner.finish_and_clear();
    let answer = answer?;
    Ok(Report::new(format!("added {} as {}: {}", args.name, field(&answer, "id"), summary(&answer)), answer))
}

async fn list(api: &Api) -> Result<Report, Failure> {
    let items = api.list(LIST).await?;
    let row = |item: &Value| ["name", "id", "transport", "status", "tools"].map(|name| field(item, name));
    let header = ["NAME", "ID", "TRANSPORT", "STATUS", "TOOLS"];
    let text = table(header, items.iter().map(row).collect(), "no servers: `haft mcp add NAME --url URL`");
    Ok(Report::new(text, json!({"items": items, "next_cursor": null})))
}

async fn show(api: &Api, name: &str) -> Result<Report, Failure> {
    let path = names::path(api, LIST, name).await?;
    let items = api.list(&format!("{path}/tools")).await?;
    let row = |item: &Value| [field(item, "name"), brief(&field(item, "description"))];
    let text = table(["TOOL", "DESCRIPTION"], items.iter().map(row).collect(), "no tools");
    Ok(Report::new(text, json!({"items": items, "next_cursor": null})))
}

async fn refresh(api: &Api, id: &str, name: &str) -> Result<Value, Failure> {
    let spinner = screen::working(format!("discovering the tools of {name}"));
    let answer = api.post(&format!("{LIST}/{}/refresh", segment(id)), &json!({})).await;
    spinner.finish_and_clear();
    answer
}

/// Refreshes each server; one that fails does not keep the others from it.
async fn refresh_all(api: &Api) -> Result<Report, Failure> {
    let servers = api.list(LIST).await?;
    let (mut lines, mut results, mut failed) = (Vec::new(), Vec::new(), 0);
    for server in &servers {
        let (id, name) = (field(server, "id"), field(server, "name"));
        match refresh(api, &id, &name).await {
            Ok(answer) => {
                lines.push(format!("{name}: {}", refreshed(&answer)));
                results.push(json!({"name": name, "id": id, "result": answer}));
            }
            Err(failure) => {
                failed += 1;
                lines.push(format!("{name}: {}", failure.text()));
                results.push(json!({"name": name, "id": id, "failure": failure.json()}));
            }
        }
    }
    let mut report = Report::new(lines.join("\n"), json!({"items": results}));
    report.failed =
        (failed > 0).then(|| format!("{failed} of {} servers could not be refreshed", servers.len()));
    Ok(report)
}

async fn import(api: &Api, file: &str) -> Result<Report, Failure> {
    let text = input::file(file)?;
    let body: Value =
        serde_json::from_str(&text).map_err(|e| Failure::new(format!("`{file}` is not JSON: {e}")))?;
    let spinner = screen::working("registering the servers");
    let answer = api.post(&format!("{LIST}/import"), &body).await;
    spinner.finish_and_clear();
    let answer = answer?;
    let servers = answer.get("servers").and_then(Value::as_array).cloned().unwrap_or_default();
    let line = |server: &Value| match server.get("server") {
        Some(added) => format!("{}: {}", field(server, "name"), summary(added)),
        None => format!("{}: not added: {}", field(server, "name"), field(server, "error")),
    };
    let failed = servers.iter().filter(|server| server.get("error").is_some()).count();
    let mut report = Report::new(servers.iter().map(line).collect::<Vec<_>>().join("\n"), answer);
    report.failed = (failed > 0).then(|| format!("{failed} of {} servers were not added", servers.len()));
    Ok(report)
}

/// What a refresh found.
fn refreshed(answer: &Value) -> String {
    let count = |kind: &str| {
        answer.pointer(&format!("/changes/{kind}")).and_then(Value::as_array).map_or(0, Vec::len)
    };
    let server = answer.get("server").unwrap_or(&Value::Null);
    let (added, removed, altered) = (count("added"), count("removed"), count("altered"));
    let mut text = format!("{}; {added} added, {removed} removed, {altered} altered", summary(server));
    if server.get("pending_changes").and_then(Value::as_u64).is_some_and(|waiting| waiting > 0) {
        let _ = write!(
            text,
            "; {} changed definitions wait: `haft mcp changes {1}`, then `haft mcp approve {1}`",
            field(server, "pending_changes"),
            field(server, "name")
        );
    }
    text
}

/// What a server has changed, with the definitions that wait for approval.
async fn changes(api: &Api, name: &str) -> Result<Report, Failure> {
    let path = names::path(api, LIST, name).await?;
    let answer = api.get(&format!("{path}/changes")).await?;
    let pending = answer.get("pending").and_then(Value::as_array).cloned().unwrap_or_default();
    let row = |change: &Value| {
        let flags = change.get("flags").and_then(Value::as_array).map_or(0, Vec::len);
        let flags = if flags == 0 { String::new() } else { format!("{flags} suspicious things: see --json") };
        [field(change, "name"), field(change, "fields"), flags]
    };
    let text =
        table(["TOOL", "CHANGED", ""], pending.iter().map(row).collect(), "nothing waits for approval");
    Ok(Report::new(text, answer))
}

/// Takes what was seen into use: a definition that changed again since then is not approved unseen.
async fn approve(api: &Api, name: &str, tools: &[String]) -> Result<Report, Failure> {
    let path = names::path(api, LIST, name).await?;
    let seen = api.get(&format!("{path}/changes")).await?;
    let mut body = json!({"revision": seen.get("revision")});
    if !tools.is_empty() {
        body["names"] = json!(tools);
    }
    let answer = api.post(&format!("{path}/changes/approve"), &body).await?;
    Ok(Report::new(format!("{name}: {}", summary(&answer)), answer))
}

fn summary(answer: &Value) -> String {
    format!(
        "{} tools, {} (revision {})",
        field(answer, "tools"),
        field(answer, "status"),
        field(answer, "revision")
    )
}
