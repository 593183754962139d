//! The loop: a model's turns and the calls it wants, until there is an answer.
//!
//! | module | purpose |
//! |---|---|
//! | `turn` | one turn of the model, its pieces shown as they come |
//! | `calls` | the calls of a turn, side by side, results in order |
//! | `binding` | a toolset as a model sees it |
//! | [`search`] | large toolsets: tools are found when they are needed |
//! | `react` | models that call no tools: calls written down in words |
//! | `review` | words that may not be shown, also across pieces |
//! | [`tokens`] | how many tokens a text takes, roughly |
//!
//! It reads no store: who runs it gives it everything, and takes its events.

mod binding;
mod calls;
mod react;
mod review;
pub mod search;
pub mod tokens;
mod turn;

pub use review::{Redactor, contains_keyword};

use async_trait::async_trait;
use binding::{Binding, Projections};
use calls::Failures;
use domain::ports::{
    Agent, AgentEvent, AgentEventKind, AgentRequest, AgentSink, ChatError, ChatMessage, ChatRole, ToolCall,
    Usage,
};
use search::ToolSearch;
use std::{fmt, sync::Arc, time::Instant};
use turn::Turn;

/// What a run that asked for tools too often is answered.
const TOO_MANY_ITERATIONS: &str = "当前Agent迭代次数已超过限制，请重试";
/// What a run that used up its tokens is answered.
const TOO_MANY_TOKENS: &str = "当前Agent可用的Token数已用完，请稍后重试";

/// Runs agents.
#[derive(Clone, Default)]
pub struct AgentRunner {
    projections: Projections,
    search: Option<Arc<dyn ToolSearch>>,
}

impl AgentRunner {
    /// A runner that shows a model all tools of a set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with a search that takes over where a set is large.
    pub fn with_search(self, search: Arc<dyn ToolSearch>) -> Self {
        Self { search: Some(search), ..self }
    }
}

impl fmt::Debug for AgentRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentRunner").field("searches", &self.search.is_some()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Agent for AgentRunner {
    async fn run(&self, request: AgentRequest, sink: &mut dyn AgentSink) {
        let binding = Binding::new(&request, self.search.clone(), self.projections.clone());
        let react = !request.model.info.calls_tools;
        let failures = Failures::default();
        let mut run = Run { request, sink, binding, failures, spent: 0, react, react_from_now_on: false };
        let Err(end) = run.finish().await else { return };
        let (kind, observation) = match end {
            Halt::Closed => return,
            Halt::Stopped => (AgentEventKind::Stop, String::new()),
            Halt::TimedOut => (AgentEventKind::Timeout, String::new()),
            Halt::Failed(why) => (AgentEventKind::Error, why),
        };
        let event = AgentEvent { observation, ..AgentEvent::step(kind) };
        // Whoever closed the sink knows that the run is over.
        let _ = run.sink.event(event).await;
    }
}

/// Why a run ends before its answer.
#[derive(Debug)]
enum Halt {
    Closed,
    Stopped,
    TimedOut,
    Failed(String),
}

impl From<ChatError> for Halt {
    fn from(error: ChatError) -> Self {
        Self::Failed(format!("LLM节点发生错误, 错误信息: {error}"))
    }
}

/// One run.
struct Run<'a> {
    request: AgentRequest,
    sink: &'a mut dyn AgentSink,
    binding: Binding,
    failures: Failures,
    /// Tokens of all turns so far.
    spent: u64,
    /// Calls are written down in words.
    react: bool,
    /// The service refused tools just now: the turn is asked for again, in words.
    react_from_now_on: bool,
}

impl Run<'_> {
    async fn finish(&mut self) -> Result<(), Halt> {
        let review = &self.request.review;
        if let Some(preset) = &review.preset_response
            && contains_keyword(&review.keywords, &self.request.query)
        {
            let preset = preset.clone();
            return self.say_and_end(&preset).await;
        }
        let mut messages = self.opening();
        let mut iterations = 0;
        loop {
            if self.is_broke() {
                return self.say_and_end(TOO_MANY_TOKENS).await;
            }
            let turn = self.turn(&messages).await?;
            if turn.calls.is_empty() {
                return self.end(turn).await;
            }
            iterations += 1;
            self.think(&turn).await?;
            if iterations > self.request.limits.max_iterations {
                return self.say_and_end(TOO_MANY_ITERATIONS).await;
            }
            let results = self.call_all(&turn.calls).await?;
            self.note(&mut messages, turn, results);
        }
    }

    /// What the model reads first.
    fn opening(&self) -> Vec<ChatMessage> {
        let request = &self.request;
        let mut messages = Vec::with_capacity(request.history.len() + 2);
        if !request.system.trim().is_empty() {
            messages.push(ChatMessage::text(ChatRole::System, &request.system));
        }
        messages.extend(request.history.iter().cloned());
        let mut query = ChatMessage::text(ChatRole::User, &request.query);
        query.image_urls.clone_from(&request.image_urls);
        messages.push(query);
        messages
    }

    fn is_broke(&self) -> bool {
        self.request.limits.max_tokens.is_some_and(|most| self.spent >= most)
    }

    /// Writes a turn and its results behind the messages.
    fn note(&self, messages: &mut Vec<ChatMessage>, turn: Turn, results: Vec<String>) {
        if self.react {
            messages.push(ChatMessage::text(ChatRole::Assistant, turn.raw));
            for (call, result) in turn.calls.iter().zip(results) {
                messages.push(ChatMessage::text(ChatRole::User, react::result(&call.name, &result)));
            }
            return;
        }
        let ids: Vec<String> = turn.calls.iter().map(|call| call.id.clone()).collect();
        messages.push(ChatMessage {
            tool_calls: turn.calls,
            reasoning: Some(turn.reasoning).filter(|text| !text.is_empty()),
            ..ChatMessage::text(ChatRole::Assistant, turn.raw)
        });
        messages.extend(ids.into_iter().zip(results).map(|(id, result)| ChatMessage::result(id, result)));
    }

    /// Shows which calls the model wants.
    async fn think(&mut self, turn: &Turn) -> Result<(), Halt> {
        let calls: Vec<_> = turn.calls.iter().map(told).collect();
        let event = AgentEvent {
            thought: serde_json::Value::from(calls).to_string(),
            reasoning: turn.reasoning.clone(),
            ..self.figures(AgentEventKind::AgentThought, turn.usage, turn.started)
        };
        self.emit(event).await
    }

    /// Closes the last message with the figures of its turn, and the run.
    async fn end(&mut self, turn: Turn) -> Result<(), Halt> {
        let closing = AgentEvent {
            id: turn.message_id,
            reasoning: turn.reasoning,
            ..self.figures(AgentEventKind::AgentMessage, turn.usage, turn.started)
        };
        self.emit(closing).await?;
        self.emit(AgentEvent::step(AgentEventKind::AgentEnd)).await
    }

    /// Answers with a text of ours and ends the run.
    async fn say_and_end(&mut self, text: &str) -> Result<(), Halt> {
        let said = AgentEvent {
            thought: text.to_owned(),
            answer: text.to_owned(),
            ..AgentEvent::step(AgentEventKind::AgentMessage)
        };
        self.emit(said).await?;
        self.emit(AgentEvent::step(AgentEventKind::AgentEnd)).await
    }

    fn figures(&self, kind: AgentEventKind, usage: Usage, started: Instant) -> AgentEvent {
        AgentEvent {
            total_token_count: usage.total(),
            total_price: self.request.model.info.price.map_or(0.0, |price| price.of(usage)),
            latency: started.elapsed().as_secs_f64(),
            ..AgentEvent::step(kind)
        }
    }

    async fn emit(&mut self, event: AgentEvent) -> Result<(), Halt> {
        self.sink.event(event).await.map_err(|_| Halt::Closed)
    }
}

/// A call as events and traces tell it.
fn told(call: &ToolCall) -> serde_json::Value {
    serde_json::json!({"id": call.id, "name": call.name, "args": call.arguments, "type": "tool_call"})
}

/// Waits for something of the run, as long as nobody stops it and its time is not over.
async fn within<T>(cx: &domain::CallContext, wait: impl Future<Output = T>) -> Result<T, Halt> {
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => Err(Halt::Stopped),
        ended = tokio::time::timeout_at(cx.deadline.into(), wait) => ended.map_err(|_| Halt::TimedOut),
    }
}
