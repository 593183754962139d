//! Chunks of chat completions, as services usually send them.

use serde_json::Value;

/// A chunk with a text.
pub fn text(text: &str) -> Value {
    json(&serde_json::json!({"content": text}))
}

/// A chunk with one whole call.
pub fn call(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    calls(&serde_json::json!([
        {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    ]))
}

/// A chunk with pieces of calls.
pub fn calls(pieces: &Value) -> Value {
    json(&serde_json::json!({"tool_calls": pieces}))
}

/// A chunk with any delta.
pub fn json(delta: &Value) -> Value {
    serde_json::json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// A chunk that says why the answer is over.
pub fn finish(reason: &str) -> Value {
    serde_json::json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A chunk with the figures of the turn.
pub fn usage(input: u64, output: u64) -> Value {
    serde_json::json!({"id": "c", "choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}})
}
