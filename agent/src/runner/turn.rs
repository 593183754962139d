//! One turn of the model, its pieces shown as they come.

use super::{Halt, Run, react, review::Redactor, tokens, within};
use domain::ports::{
    AgentEvent, AgentEventKind, ChatError, ChatEvent, ChatMessage, ChatRequest, ChatRole, ChatStream,
    ToolCall, Usage,
};
use futures::StreamExt as _;
use std::time::Instant;

/// The longest text of one turn, in bytes.
const MAX_TEXT: usize = 4 * 1024 * 1024;

/// A turn that is over.
pub(super) struct Turn {
    /// The id of the message that was shown.
    pub(super) message_id: String,
    /// All that the model wrote, as it wrote it.
    pub(super) raw: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Usage,
    pub(super) started: Instant,
}

impl Run<'_> {
    /// Asks the model once and shows what it says.
    pub(super) async fn turn(&mut self, messages: &[ChatMessage]) -> Result<Turn, Halt> {
        let started = Instant::now();
        let asked = self.ask(messages).await;
        let mut stream = match asked {
            Err(Halt::Failed(_)) if std::mem::take(&mut self.react_from_now_on) => self.ask(messages).await?,
            other => other?,
        };
        let mut turn = Turn {
            message_id: uuid::Uuid::now_v7().simple().to_string(),
            raw: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            started,
        };
        let mut shown = Shown::new(self);
        let told = loop {
            let event = within(&self.request.cx, stream.next()).await?;
            match event.unwrap_or_else(|| Err(ChatError::Broken("it has no end".into()))) {
                Ok(ChatEvent::Text(text)) => {
                    turn.raw.push_str(&text);
                    check_size(&turn.raw)?;
                    let piece = shown.take(&text);
                    self.show(&turn.message_id, piece).await?;
                }
                Ok(ChatEvent::Reasoning(text)) => {
                    turn.reasoning.push_str(&text);
                    check_size(&turn.reasoning)?;
                }
                Ok(ChatEvent::ToolCall(call)) => turn.calls.push(call),
                Ok(ChatEvent::End { usage }) => break usage,
                Err(error) => {
                    // What the redactor held back was said: it is shown before the error.
                    let rest = shown.rest();
                    self.show(&turn.message_id, rest).await?;
                    return Err(error.into());
                }
            }
        };
        if self.react && turn.calls.is_empty() {
            turn.calls.extend(shown.written_call());
        }
        let rest = shown.rest();
        self.show(&turn.message_id, rest).await?;
        turn.usage = told.unwrap_or_else(|| estimate(messages, &turn));
        self.spent = self.spent.saturating_add(turn.usage.total());
        Ok(turn)
    }

    async fn ask(&mut self, messages: &[ChatMessage]) -> Result<ChatStream, Halt> {
        let mut messages = messages.to_vec();
        let mut tools = self.binding.tools();
        if self.react {
            if !tools.is_empty() {
                react::instruct(&mut messages, &tools);
            }
            tools = Vec::new();
        }
        let has_tools = !tools.is_empty();
        let request = ChatRequest { messages, tools, parameters: self.request.parameters.clone() };
        let model = self.request.model.chat.clone();
        match within(&self.request.cx, model.chat(request)).await? {
            Ok(stream) => Ok(stream),
            Err(error) => {
                if has_tools && !self.react && refuses_tools(&error) {
                    tracing::info!(model = %self.request.model.info.name, "the model takes no tools: calls are asked for in words");
                    self.react = true;
                    self.react_from_now_on = true;
                }
                Err(error.into())
            }
        }
    }

    async fn show(&mut self, id: &str, piece: String) -> Result<(), Halt> {
        if piece.is_empty() {
            return Ok(());
        }
        let event = AgentEvent {
            thought: piece.clone(),
            answer: piece,
            ..AgentEvent::new(id, AgentEventKind::AgentMessage)
        };
        self.emit(event).await
    }
}

/// What of a turn's text may be shown when.
struct Shown {
    redactor: Option<Redactor>,
    gate: Option<react::Gate>,
}

impl Shown {
    fn new(run: &Run<'_>) -> Self {
        let review = &run.request.review;
        let redactor =
            (review.outputs && !review.keywords.is_empty()).then(|| Redactor::new(&review.keywords));
        Self { redactor, gate: run.react.then(react::Gate::default) }
    }

    fn take(&mut self, text: &str) -> String {
        let text = match &mut self.gate {
            Some(gate) => gate.take(text),
            None => text.to_owned(),
        };
        match &mut self.redactor {
            Some(redactor) => redactor.take(&text),
            None => text,
        }
    }

    /// The call that was written in the place of an answer, if it is one; its text is then not shown.
    fn written_call(&mut self) -> Option<ToolCall> {
        self.gate.as_mut().and_then(react::Gate::call)
    }

    fn rest(&mut self) -> String {
        let text = self.gate.as_mut().map(react::Gate::rest).unwrap_or_default();
        match &mut self.redactor {
            Some(redactor) => redactor.take(&text) + &redactor.rest(),
            None => text,
        }
    }
}

fn refuses_tools(error: &ChatError) -> bool {
    matches!(error, ChatError::Refused { status: 400 | 404 | 422 | 501, message }
        if message.contains("does not support tools") || message.contains("does not support function"))
}

fn check_size(text: &str) -> Result<(), Halt> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    Err(ChatError::Broken(format!("it is longer than {MAX_TEXT} bytes")).into())
}

/// The figures of a turn where the service tells none.
fn estimate(messages: &[ChatMessage], turn: &Turn) -> Usage {
    let input = messages.iter().map(tokens::of_message).sum();
    let written =
        ChatMessage { tool_calls: turn.calls.clone(), ..ChatMessage::text(ChatRole::Assistant, &turn.raw) };
    Usage { input_tokens: input, output_tokens: tokens::of_message(&written) }
}
