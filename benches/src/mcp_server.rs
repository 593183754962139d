//! A small MCP server over streamable HTTP (2025-06-18, stateless), with as many tools as wanted.

use anyhow::Result;
use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::{net::TcpListener, task::JoinHandle};

/// Serves `tools` tools called `tool_0`, `tool_1`, … on a free port until the handle is aborted.
pub async fn serve(tools: usize) -> Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/mcp", post(answer)).with_state(tools);
    let server = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    Ok((address, server))
}

async fn answer(State(tools): State<usize>, Json(request): Json<Value>) -> impl IntoResponse {
    let Some(id) = request.get("id") else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match request["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": (0..tools).map(tool).collect::<Vec<_>>()}),
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": request["params"]["arguments"].to_string()}]})
        }
        _ => {
            let error = json!({"code": -32601, "message": "unknown method"});
            return Json(json!({"jsonrpc": "2.0", "id": id, "error": error})).into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

fn tool(n: usize) -> Value {
    json!({
        "name": format!("tool_{n}"),
        "description": "Gives its arguments back.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city"},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "units": {"enum": ["metric", "us"]}
            },
            "required": ["city"],
            "additionalProperties": false
        }
    })
}
