//! `haft tour`: one tool of each kind, put in if it is not there, assembled together and called for real.
//!
//! It does through the public API what a newcomer would do by hand, and shows what was given and returned. The
//! API tool's server is this very server, so that nothing outside is needed.

use super::{
    args::Tour,
    client::Api,
    failure::Failure,
    names,
    screen::{self, Report, brief, field, table},
};
use domain::ToolOutput;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::time::Instant;

const API_NAME: &str = "haft-itself";
const MCP_NAME: &str = "everything";

pub(crate) async fn run(api: &Api, args: &Tour) -> Result<Report, Failure> {
    let document = api_document(api)?;
    let api_id = ensure(api, "/api-tools", API_NAME, &document).await?;
    let server = json!({"name": MCP_NAME, "transport": "stdio", "command": "node", "args": [args.mcp_server, "stdio"]});
    let mcp_id = ensure(api, "/mcp-servers", MCP_NAME, &server).await?;
    let refs = json!([
        {"type": "builtin_tool", "provider_id": "time", "tool_id": "current_time", "params": {}},
        {"type": "api_tool", "provider_id": api_id, "tool_id": "get_health", "params": {}},
        {"type": "mcp_tool", "provider_id": mcp_id, "tool_id": "echo", "params": {}},
    ]);
    let arguments =
        [json!({"timezone": "Asia/Shanghai"}), json!({}), json!({"message": "hello from a haft"})];

    let began = Instant::now();
    let assembled = api.post("/tools/assemble", &json!({"refs": refs})).await?;
    let assembly_ms = millis(began);
    let tools = assembled["tools"].as_array().cloned().unwrap_or_default();
    let mut calls = Vec::new();
    for (tool, args) in tools.iter().zip(arguments) {
        calls.push(call(api, &refs, tool, args).await);
    }
    let complete = tools.len() == refs.as_array().map_or(0, Vec::len);
    let worked = complete && calls.iter().all(|call| call["ok"] == true);
    Ok(Report {
        text: text(&assembled, assembly_ms, &calls),
        value: json!({"assembled": assembled, "assembly_ms": assembly_ms, "calls": calls}),
        failed: (!worked).then(|| "not every tool could be assembled and called".to_owned()),
    })
}

/// Calls a tool of the assembly by the name it has there; what happened, as data.
async fn call(api: &Api, refs: &Value, tool: &Value, args: Value) -> Value {
    let began = Instant::now();
    let answer = api.post("/tools/invoke", &json!({"refs": refs, "name": tool["name"], "args": args})).await;
    let ms = millis(began);
    let (ok, result) = match answer {
        Ok(value) => match ToolOutput::deserialize(&value) {
            Ok(output) => (!output.is_error, output.text()),
            Err(error) => (false, format!("the answer is not a tool's result: {error}")),
        },
        Err(failure) => (false, failure.text()),
    };
    json!({"name": tool["name"], "kind": tool["ref"]["type"], "args": args, "ok": ok, "result": result, "ms": ms})
}

/// The id of what has this name in a list, made from `body` where there is none.
async fn ensure(api: &Api, list: &str, name: &str, body: &Value) -> Result<String, Failure> {
    let id = names::id(api, list, name).await?;
    if id != name {
        return Ok(id);
    }
    let spinner = screen::working(format!("adding {name}"));
    let made = api.post(list, body).await;
    spinner.finish_and_clear();
    Ok(field(&made?, "id"))
}

/// A narrow document of one operation: the health route of this server.
fn api_document(api: &Api) -> Result<Value, Failure> {
    let url = api.url().ok_or_else(|| {
        Failure::new("the tour calls this server as an API, and none is running")
            .hint("start one with `haft serve`, and repeat this in another terminal")
    })?;
    let document = json!({
        "server": url.as_str().trim_end_matches('/'),
        "description": "Haft itself, seen as an API",
        "paths": {"/health": {"get": {
            "operationId": "get_health",
            "description": "Says whether this server answers",
            "parameters": [],
        }}},
    });
    Ok(json!({"name": API_NAME, "openapi_schema": document.to_string()}))
}

fn text(assembled: &Value, assembly_ms: f64, calls: &[Value]) -> String {
    let row = |call: &Value| {
        let ok = if call["ok"] == true { "ok" } else { "FAILED" };
        let args = call["args"].to_string();
        let shown = [field(call, "name"), field(call, "kind"), args, brief(&field(call, "result"))];
        let [name, kind, args, result] = shown;
        [name, kind, args, ok.to_owned(), format!("{} ms", field(call, "ms")), result]
    };
    let header = ["TOOL", "KIND", "ARGUMENTS", "", "TIME", "RESULT"];
    let calls = table(header, calls.iter().map(row).collect(), "nothing was assembled");
    let problems = assembled["problems"].as_array().into_iter().flatten();
    let problems = problems
        .map(|problem| {
            format!("\nproblem with reference {}: {}", problem["index"], field(problem, "message"))
        })
        .collect::<Vec<_>>()
        .concat();
    let count = assembled["tools"].as_array().map_or(0, Vec::len);
    format!(
        "assembled {count} tools of three kinds in {assembly_ms} ms, and called each:\n\n{calls}{problems}"
    )
}

fn millis(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
}
