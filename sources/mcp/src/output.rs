//! A call's raw result as the product's result: every block and field passes through unchanged.

use crate::client::error::{CallError, excerpt};
use domain::{Content, ToolOutput};
use serde_json::{Map, Value, json};

/// What a server answers to a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// The result.
    Complete(ToolOutput),
    /// It wants to know more first. This is what we can say to it, and what it wants back with it.
    Asks { responses: Value, state: Option<Value> },
}

/// Reads a result.
pub(crate) fn read(result: Value) -> Result<Answer, CallError> {
    let Value::Object(mut result) = result else {
        return Err(CallError::Protocol(format!(
            "its result is not an object: {}",
            excerpt(&result.to_string())
        )));
    };
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => {}
        Some("input_required") => return asks(&mut result),
        Some("task") => {
            return Err(CallError::protocol(
                "it hands back a task to be asked for later, which was not offered",
            ));
        }
        Some(other) => {
            return Err(CallError::Protocol(format!(
                "its result is of the unknown type `{}`",
                excerpt(other)
            )));
        }
    }
    let content = match result.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(other) => vec![block(other)],
    };
    // The first published version had one field instead.
    let structured = result.remove("structuredContent").or_else(|| result.remove("toolResult"));
    Ok(Answer::Complete(ToolOutput {
        content,
        structured,
        is_error: result.get("isError").and_then(Value::as_bool).unwrap_or(false),
    }))
}

fn block(block: Value) -> Content {
    match block {
        Value::Object(_) => match serde_json::from_value(block) {
            Ok(content) => content,
            Err(error) => Content::text(format!("[a block that is not readable: {error}]")),
        },
        Value::String(text) => Content::text(text),
        other => Content::text(other.to_string()),
    }
}

fn asks(result: &mut Map<String, Value>) -> Result<Answer, CallError> {
    let requests = match result.remove("inputRequests") {
        Some(Value::Object(requests)) => requests,
        _ => Map::new(),
    };
    let mut responses = Map::new();
    for (key, request) in requests {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let response = match method {
            "elicitation/create" => json!({"action": "decline"}),
            "roots/list" => json!({"roots": []}),
            other => {
                return Err(CallError::Protocol(format!(
                    "it asks for `{}` before it answers, and nobody is there to be asked",
                    excerpt(other)
                )));
            }
        };
        responses.insert(key, response);
    }
    Ok(Answer::Asks { responses: Value::Object(responses), state: result.remove("requestState") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(result: Value) -> ToolOutput {
        match read(result).unwrap() {
            Answer::Complete(output) => output,
            asks @ Answer::Asks { .. } => panic!("{asks:?}"),
        }
    }

    #[test]
    fn every_block_passes_through_unchanged() {
        let content = json!([
            {"type":"text","text":"a","annotations":{"priority":1},"x":2},
            {"type":"image","data":"AA==","mimeType":"image/png"},
            {"type":"audio","data":"AA==","mimeType":"audio/wav"},
            {"type":"resource","resource":{"uri":"a:b","blob":"AA==","odd":[1]}},
            {"type":"resource_link","uri":"a:b","name":"n","size":3},
            {"type":"hologram","rays":[1]}
        ]);
        let output =
            complete(json!({"content": content, "structuredContent": [1, {"a": null}], "isError": true}));
        assert_eq!(serde_json::to_value(&output.content).unwrap(), content);
        assert_eq!((output.structured, output.is_error), (Some(json!([1, {"a": null}])), true));
    }

    #[test]
    fn odd_results_lose_nothing_either() {
        assert_eq!(complete(json!({})), ToolOutput::default());
        assert_eq!(complete(json!({"toolResult": 4})).structured, Some(json!(4)));
        assert_eq!(complete(json!({"content": "plain"})).content, [Content::text("plain")]);
        assert_eq!(complete(json!({"content": [7]})).content, [Content::text("7")]);
        for bad in [json!([]), json!("x"), json!({"resultType":"task"}), json!({"resultType":"?"})] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_the_server_asks_is_declined() {
        let asked = json!({"resultType":"input_required","requestState":"s","inputRequests":{
            "a":{"method":"elicitation/create"},"b":{"method":"roots/list"}}});
        let wanted = Answer::Asks {
            responses: json!({"a":{"action":"decline"},"b":{"roots":[]}}),
            state: Some(json!("s")),
        };
        assert_eq!(read(asked).unwrap(), wanted);
        let sampling =
            json!({"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}});
        assert!(read(sampling).is_err());
    }
}
