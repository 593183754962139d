//! `llm`: one turn of a language model.

use super::{NodeError, Values, outputs, template::Template};
use crate::graph::kinds::ModelChoice;
use domain::{
    AccountId,
    ports::{ChatError, ChatEvent, ChatMessage, ChatRequest, ChatRole, Models, Usage},
};
use futures::StreamExt as _;
use serde_json::{Map, Value, json};

/// The longest answer that is taken, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// A model's node with its templates compiled.
#[derive(Clone, Debug)]
pub(crate) struct Prompts {
    pub(crate) system: Option<Template>,
    pub(crate) prompt: Template,
}

/// Renders the prompts and asks the model.
pub(crate) async fn ask(
    models: &dyn Models,
    account: &AccountId,
    choice: &ModelChoice,
    prompts: &Prompts,
    inputs: &Values,
) -> Result<Map<String, Value>, NodeError> {
    let system = match &prompts.system {
        Some(template) => Some(template.render_aside(inputs.clone()).await?),
        None => None,
    };
    let prompt = prompts.prompt.render_aside(inputs.clone()).await?;
    let (text, usage) = turn(models, account, choice, system, prompt).await?;
    let usage = usage.map_or_else(|| json!({}), |usage| json!(usage));
    Ok(outputs([("output", text.into()), ("usage", usage)]))
}

/// One turn: a text in, a text out.
pub(super) async fn turn(
    models: &dyn Models,
    account: &AccountId,
    choice: &ModelChoice,
    system: Option<String>,
    prompt: String,
) -> Result<(String, Option<Usage>), NodeError> {
    let model = models
        .model(account, &choice.id)
        .await
        .map_err(|error| NodeError::new("model_unavailable", error.to_string()))?;
    let mut messages = Vec::with_capacity(2);
    messages.extend(system.map(|text| ChatMessage::text(ChatRole::System, text)));
    messages.push(ChatMessage::text(ChatRole::User, prompt));
    let request = ChatRequest { messages, tools: Vec::new(), parameters: choice.parameters.clone() };
    let mut answer = model.chat.chat(request).await.map_err(|error| failed(&error))?;
    let mut text = String::new();
    while let Some(event) = answer.next().await {
        match event.map_err(|error| failed(&error))? {
            ChatEvent::Text(more) => text.push_str(&more),
            ChatEvent::Reasoning(_) | ChatEvent::ToolCall(_) => {}
            ChatEvent::End { usage } => return Ok((text, usage)),
        }
        if text.len() > MAX_ANSWER {
            let message = format!("the model's answer is longer than {MAX_ANSWER} bytes");
            return Err(NodeError::new("too_large", message));
        }
    }
    Err(NodeError::passing("model_failed", "the model's answer broke off"))
}

fn failed(error: &ChatError) -> NodeError {
    let code = match error {
        ChatError::Timeout => "timeout",
        ChatError::Blocked(_) => "blocked",
        ChatError::Refused { .. } if !error.is_transient() => "model_refused",
        ChatError::Refused { .. } | ChatError::Unreachable(_) | ChatError::Broken(_) => "model_failed",
    };
    NodeError { may_pass: error.is_transient(), ..NodeError::new(code, error.to_string()) }
}
