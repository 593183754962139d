//! A turn as the body that is sent.

use bytes::Bytes;
use domain::{
    Dialect,
    ports::{ChatMessage, ChatRequest, ChatRole, ChatTool, ModelEndpoint, ToolCall},
};
use serde_json::{Map, Value, json};

/// The body of a turn. `with_usage` asks for the figures of the turn at its end.
pub(super) fn body(endpoint: &ModelEndpoint, request: &ChatRequest, with_usage: bool) -> Bytes {
    let mut body = request.parameters.clone();
    // A parameter that is null is one that must not be sent.
    body.retain(|_, value| !value.is_null());
    body.insert("model".into(), json!(endpoint.model));
    body.insert("messages".into(), request.messages.iter().map(message).collect());
    body.insert("stream".into(), json!(true));
    if request.tools.is_empty() {
        for name in ["tools", "tool_choice", "parallel_tool_calls"] {
            body.remove(name);
        }
    } else {
        let strict = endpoint.dialect == Dialect::OpenAiStrict;
        body.insert("tools".into(), request.tools.iter().map(|t| tool(t, strict)).collect());
    }
    if !with_usage {
        body.remove("stream_options");
    } else if !request.parameters.contains_key("stream_options") {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    // A map of JSON values always serialises.
    serde_json::to_vec(&body).unwrap_or_default().into()
}

fn message(message: &ChatMessage) -> Value {
    let role = match message.role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
        ChatRole::Tool => "tool",
    };
    let mut out = Map::from_iter([("role".to_owned(), json!(role))]);
    // Some services refuse an empty content beside calls.
    if !message.content.is_empty() || message.tool_calls.is_empty() {
        out.insert("content".into(), content(message));
    }
    if !message.tool_calls.is_empty() {
        out.insert("tool_calls".into(), message.tool_calls.iter().map(call).collect());
        // Models that think want their thoughts back with the results of their calls, and only then.
        if let Some(reasoning) = message.reasoning.as_deref().filter(|text| !text.is_empty()) {
            out.insert("reasoning_content".into(), json!(reasoning));
        }
    }
    if let Some(id) = &message.tool_call_id {
        out.insert("tool_call_id".into(), json!(id));
    }
    Value::Object(out)
}

fn content(message: &ChatMessage) -> Value {
    if message.image_urls.is_empty() {
        return json!(message.content);
    }
    let text = (!message.content.is_empty()).then(|| json!({"type": "text", "text": message.content}));
    let images = message.image_urls.iter().map(|url| json!({"type": "image_url", "image_url": {"url": url}}));
    text.into_iter().chain(images).collect()
}

fn call(call: &ToolCall) -> Value {
    let arguments = match &call.arguments {
        // What was not JSON is not sent back: services that read it again refuse the whole turn.
        Value::String(_) => "{}".to_owned(),
        other => other.to_string(),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn tool(tool: &ChatTool, strict: bool) -> Value {
    let mut function =
        json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
    if strict {
        function["strict"] = json!(true);
    }
    json!({"type": "function", "function": function})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn sent(request: &ChatRequest, with_usage: bool) -> Value {
        let endpoint = ModelEndpoint {
            base_url: String::new(),
            api_key: None,
            model: "m".into(),
            dialect: Dialect::OpenAi,
            timeout: Duration::from_secs(1),
        };
        serde_json::from_slice(&body(&endpoint, request, with_usage)).unwrap()
    }

    #[test]
    fn a_turn_with_calls_goes_back_as_services_want_it() {
        let calls = vec![
            ToolCall { id: "a".into(), name: "now".into(), arguments: json!({"tz": "UTC"}) },
            ToolCall { id: "b".into(), name: "now".into(), arguments: json!("{broken") },
        ];
        let mut assistant = ChatMessage::text(ChatRole::Assistant, "");
        assistant.tool_calls = calls;
        assistant.reasoning = Some("hm".into());
        let mut user = ChatMessage::text(ChatRole::User, "look");
        user.image_urls = vec!["https://example.com/a.png".into()];
        let request = ChatRequest {
            messages: vec![user, assistant, ChatMessage::result("a", "noon")],
            tools: vec![],
            parameters: serde_json::from_value(
                json!({"temperature": 0, "top_p": null, "tool_choice": "auto"}),
            )
            .unwrap(),
        };
        assert_eq!(
            sent(&request, true),
            json!({
                "temperature": 0,
                "model": "m",
                "messages": [
                    {"role": "user", "content": [
                        {"type": "text", "text": "look"},
                        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
                    ]},
                    {"role": "assistant", "reasoning_content": "hm", "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{\"tz\":\"UTC\"}"}},
                        {"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}}
                    ]},
                    {"role": "tool", "content": "noon", "tool_call_id": "a"}
                ],
                "stream": true,
                "stream_options": {"include_usage": true}
            })
        );
        assert!(sent(&request, false).get("stream_options").is_none());
    }

    #[test]
    fn a_parameter_that_is_null_is_not_sent_and_ours_cannot_be_overridden() {
        let parameters = json!({"stream_options": null, "stream": false, "model": "other", "seed": 1});
        let request =
            ChatRequest { parameters: serde_json::from_value(parameters).unwrap(), ..ChatRequest::default() };
        assert_eq!(sent(&request, true), json!({"stream": true, "model": "m", "seed": 1, "messages": []}));
    }
}
