//! Models that call no tools: the tools are told in the system prompt, and the model writes a call down as
//!
//! ````text
//! ```json
//! {"name": "…", "args": {…}}
//! ```
//! ````

use domain::ports::{ChatMessage, ChatRole, ChatTool, ToolCall};
use serde_json::Value;
use std::fmt::Write as _;

const FENCE: &str = "```json";

/// Tells the model of the tools and how to write a call down.
pub(super) fn instruct(messages: &mut Vec<ChatMessage>, tools: &[ChatTool]) {
    let mut text = String::from("You can use these tools:\n");
    for tool in tools {
        let _ = write!(
            text,
            "\n- {}: {}\n  arguments (JSON Schema): {}",
            tool.name, tool.description, tool.parameters
        );
    }
    text.push_str(
        "\n\nTo use a tool, answer with exactly one fenced block and nothing else, neither before nor after it:\n\
         ```json\n{\"name\": \"the tool's name\", \"args\": {}}\n```\n\
         `args` must meet the tool's schema. You are then told the result and may use another tool. \
         When you need no tool, answer in plain words and write no such block.",
    );
    match messages.first_mut().filter(|first| first.role == ChatRole::System) {
        Some(system) => {
            system.content.push_str("\n\n");
            system.content.push_str(&text);
        }
        None => messages.insert(0, ChatMessage::text(ChatRole::System, text)),
    }
}

/// How a result is told.
pub(super) fn result(name: &str, text: &str) -> String {
    format!("The result of the tool `{name}`:\n\n{text}")
}

/// Holds a text back as long as it may be a call.
#[derive(Debug, Default)]
pub(super) struct Gate {
    held: String,
    open: bool,
}

impl Gate {
    /// Takes a piece and gives what is certainly no call.
    pub(super) fn take(&mut self, piece: &str) -> String {
        if self.open {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        let begun = self.held.trim_start();
        if begun.starts_with(FENCE) || FENCE.starts_with(begun) {
            return String::new();
        }
        self.open = true;
        std::mem::take(&mut self.held)
    }

    /// The call that is held, if it is one.
    pub(super) fn call(&mut self) -> Option<ToolCall> {
        let call = read(self.held.trim())?;
        self.held.clear();
        Some(call)
    }

    /// What was held after all.
    pub(super) fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

fn read(text: &str) -> Option<ToolCall> {
    let inner = text.strip_prefix(FENCE)?;
    let inner = inner.find("```").map_or(inner, |end| &inner[..end]);
    let call: Value = serde_json::from_str(inner.trim()).ok()?;
    let name = call.get("name")?.as_str()?.to_owned();
    let arguments = ["args", "arguments"].iter().find_map(|key| call.get(key)).cloned();
    let arguments = arguments.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    Some(ToolCall { id: format!("call_{}", uuid::Uuid::now_v7().simple()), name, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fenced_call_is_held_and_read() {
        let mut gate = Gate::default();
        for piece in ["``", "`js", "on\n{\"name\":\"now\",", "\"args\":{\"tz\":\"UTC\"}}\n```"] {
            assert_eq!(gate.take(piece), "");
        }
        let call = gate.call().unwrap();
        assert_eq!((call.name.as_str(), call.arguments), ("now", json!({"tz": "UTC"})));
        assert_eq!(gate.rest(), "");
    }

    #[test]
    fn plain_words_pass_and_a_block_that_is_no_call_is_shown() {
        let mut gate = Gate::default();
        assert_eq!(gate.take("``"), "");
        assert_eq!(gate.take("`rust\nfn"), "```rust\nfn");
        let mut gate = Gate::default();
        assert_eq!(gate.take("```json\n{\"a\": 1}\n```"), "");
        assert_eq!(gate.call(), None);
        assert_eq!(gate.rest(), "```json\n{\"a\": 1}\n```");
    }
}
