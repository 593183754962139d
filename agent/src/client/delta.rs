//! Chunks of an answer to text and tool calls, in every form they are seen in.
//!
//! Services differ: calls without an index, the index 0 for all of them, arguments as an object, empty ids and names in
//! later pieces, a `message` in the place of a `delta`, any word as the reason to finish. That there are calls decides
//! that tools are wanted; the reason to finish does not.

use domain::ports::{ChatError, ChatEvent, ToolCall, Usage};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The most calls of one answer.
const MAX_CALLS: usize = 256;
/// The longest arguments of one call, in bytes.
const MAX_ARGUMENTS: usize = 1024 * 1024;

/// What has arrived of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    calls: Vec<Call>,
    usage: Option<Usage>,
    finish: Option<String>,
    said_something: bool,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    text: String,
    object: Option<Map<String, Value>>,
}

impl Answer {
    /// Takes a chunk (or a whole answer) and says what is new in it.
    pub(super) fn take(&mut self, chunk: &Value) -> Result<Vec<ChatEvent>, ChatError> {
        self.take_usage(chunk.get("usage"));
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(Vec::new());
        };
        self.take_usage(choice.get("usage"));
        let mut events = Vec::new();
        let delta = ["delta", "message"].iter().filter_map(|name| choice.get(name)).find(|d| d.is_object());
        if let Some(delta) = delta {
            let reasoning =
                ["reasoning_content", "reasoning"].iter().find_map(|name| text_of(delta.get(name)?));
            events.extend(reasoning.map(ChatEvent::Reasoning));
            if let Some(text) =
                delta.get("content").and_then(text_of).or_else(|| delta.get("refusal").and_then(text_of))
            {
                self.said_something = true;
                events.push(ChatEvent::Text(text));
            }
            self.take_calls(delta)?;
        }
        let finish = choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
        if let Some(reason) = finish {
            self.finish = Some(reason.to_owned());
        }
        Ok(events)
    }

    /// Whether the service has said that the answer is whole; figures may follow.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// The last events, once the service has closed the answer; `marked` when it said so itself.
    pub(super) fn end(self, marked: bool) -> Result<Vec<ChatEvent>, ChatError> {
        let has_content = self.said_something || !self.calls.is_empty();
        match self.finish.as_deref() {
            None if !(marked && has_content) => {
                return Err(ChatError::Broken("the stream ended before the answer did".into()));
            }
            Some(reason)
                if !has_content
                    && !matches!(reason, "stop" | "length" | "tool_calls" | "end_turn" | "eos") =>
            {
                return Err(ChatError::Broken(format!("the model said nothing and ended with `{reason}`")));
            }
            _ => {}
        }
        let mut ids = HashSet::new();
        let mut events: Vec<_> = self
            .calls
            .into_iter()
            .filter(|call| !call.is_empty())
            .map(|call| ChatEvent::ToolCall(call.finish(&mut ids)))
            .collect();
        events.push(ChatEvent::End { usage: self.usage });
        Ok(events)
    }

    fn take_usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let count = |names: [&str; 2]| names.iter().find_map(|name| whole(usage.get(name)?));
        let input = count(["prompt_tokens", "input_tokens"]);
        let output = count(["completion_tokens", "output_tokens"]);
        if input.is_some() || output.is_some() {
            self.usage = Some(Usage {
                input_tokens: input.unwrap_or_default(),
                output_tokens: output.unwrap_or_default(),
            });
        }
    }

    fn take_calls(&mut self, delta: &Value) -> Result<(), ChatError> {
        match delta.get("tool_calls") {
            Some(Value::Array(pieces)) => pieces.iter().try_for_each(|piece| self.take_call(piece)),
            Some(piece @ Value::Object(_)) => self.take_call(piece),
            // The form before tools: one call without an id.
            _ => match delta.get("function_call") {
                Some(function @ Value::Object(_)) => {
                    self.take_call(&json!({"index": 0, "function": function}))
                }
                _ => Ok(()),
            },
        }
    }

    fn take_call(&mut self, piece: &Value) -> Result<(), ChatError> {
        let function = piece.get("function").unwrap_or(piece);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, name) = (text(piece.get("id")), text(function.get("name")));
        let arguments = function.get("arguments").unwrap_or(&Value::Null);
        let index = piece.get("index").and_then(whole);
        let place = match self.place_of(index, &id, &name, arguments) {
            Some(place) => place,
            None if self.calls.len() == MAX_CALLS => {
                return Err(ChatError::Broken(format!("it asks for more than {MAX_CALLS} calls")));
            }
            None => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() {
            call.name = name;
        }
        call.add(arguments)
    }

    /// Which call a piece goes on with; none for a new one.
    fn place_of(&self, index: Option<u64>, id: &str, name: &str, arguments: &Value) -> Option<usize> {
        let open = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index))?,
            None if !id.is_empty() => return self.calls.iter().rposition(|call| call.id == id),
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[open];
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        // Whole calls one after the other without ids: a name after complete arguments begins the next.
        let next =
            id.is_empty() && !name.is_empty() && !call.name.is_empty() && call.is_whole() && says(arguments);
        (!other_id && !next).then_some(open)
    }
}

impl Call {
    fn add(&mut self, arguments: &Value) -> Result<(), ChatError> {
        match arguments {
            Value::String(more) => self.text.push_str(more),
            Value::Object(object) => self.object.get_or_insert_default().extend(object.clone()),
            _ => {}
        }
        if self.text.len() > MAX_ARGUMENTS {
            return Err(ChatError::Broken(format!(
                "a call has arguments of more than {MAX_ARGUMENTS} bytes"
            )));
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.object.is_some() || serde_json::from_str::<Map<String, Value>>(&self.text).is_ok()
    }

    fn is_empty(&self) -> bool {
        self.name.is_empty() && self.text.trim().is_empty() && self.object.is_none()
    }

    fn finish(self, ids: &mut HashSet<String>) -> ToolCall {
        let arguments = match self.object {
            Some(object) => Value::Object(object),
            None if self.text.trim().is_empty() => json!({}),
            None => serde_json::from_str(&self.text).unwrap_or(Value::String(self.text)),
        };
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        let mut id = self.id;
        if id.is_empty() || !ids.insert(id.clone()) {
            id = format!("call_{}", uuid::Uuid::now_v7().simple());
            ids.insert(id.clone());
        }
        ToolCall { id, name: self.name, arguments }
    }
}

/// Text, as a string or as parts.
fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A whole number, also where it is written as 3.0 or "3".
fn whole(value: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    let of_float =
        |float: f64| ((0.0..1e15).contains(&float) && float.fract() == 0.0).then_some(float as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(of_float)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn says(arguments: &Value) -> bool {
    match arguments {
        Value::String(text) => !text.is_empty(),
        Value::Object(_) => true,
        _ => false,
    }
}
