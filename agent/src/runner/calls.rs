//! The calls of a turn: side by side, their results in the order they were asked for.

use super::{Halt, Run};
use domain::{
    CallContext, Dialect, ToolError, Toolset, dialect,
    ports::{AgentEvent, AgentEventKind, ToolCall},
    schema::canonical_json,
};
use futures::{StreamExt as _, stream};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How many calls run at the same time.
const AT_ONCE: usize = 8;
/// The most calls of one turn that are made; what is past them is answered that it was not made.
const MAX_CALLS: usize = 64;
/// The longest that one call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest result that a model reads, in characters.
const MAX_RESULT: usize = 60_000;
/// How often the very same call may fail before it is no longer made.
const MAX_REPEATS: u32 = 2;
/// The tool whose calls are told as searches of datasets.
const DATASET_RETRIEVAL: &str = "dataset_retrieval";

/// How often each call of the run has failed.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<HashMap<String, u32>>);

impl Failures {
    fn of(&self, key: &str) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied().unwrap_or_default()
    }

    fn note(&self, key: String, failed: bool) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failed {
            *counts.entry(key).or_default() += 1;
        } else {
            counts.remove(&key);
        }
    }
}

/// What came of a call.
struct Outcome {
    text: String,
    is_error: bool,
    took: Duration,
}

impl Run<'_> {
    /// Makes all calls of a turn and shows each result as its turn comes. Gives what the model is told.
    pub(super) async fn call_all(&mut self, calls: &[ToolCall]) -> Result<Vec<String>, Halt> {
        let searched: Vec<Option<String>> =
            calls.iter().map(|call| self.binding.search(&call.name, &call.arguments)).collect();
        let caller = Caller {
            toolset: &self.request.toolset,
            cx: &self.request.cx,
            dialect: self.request.model.info.dialect,
            failures: &self.failures,
        };
        let made = calls.iter().zip(searched).enumerate().map(|(place, (call, found))| async move {
            match found {
                Some(text) => Outcome { text, is_error: false, took: Duration::ZERO },
                None => caller.call(place, call).await,
            }
        });
        // Boxed: the compiler cannot see that the borrowed futures are `Send` otherwise.
        let made: Vec<_> = made.map(futures::FutureExt::boxed).collect();
        let mut outcomes = stream::iter(made).buffered(AT_ONCE).zip(stream::iter(calls));
        let mut results = Vec::with_capacity(calls.len());
        while let Some((outcome, call)) = outcomes.next().await {
            halted(&self.request.cx)?;
            let event = event_of(call, &outcome);
            self.sink.event(event).await.map_err(|_| Halt::Closed)?;
            results.push(outcome.text);
        }
        Ok(results)
    }
}

#[derive(Clone, Copy)]
struct Caller<'a> {
    toolset: &'a Arc<Toolset>,
    cx: &'a CallContext,
    dialect: Dialect,
    failures: &'a Failures,
}

impl Caller<'_> {
    async fn call(&self, place: usize, call: &ToolCall) -> Outcome {
        let started = Instant::now();
        let (text, is_error) = match self.refusal(place, call) {
            Some(why) => (why, true),
            None => self.invoke(call).await,
        };
        Outcome { text: shortened(text), is_error, took: started.elapsed() }
    }

    /// Why a call is not made at all.
    fn refusal(&self, place: usize, call: &ToolCall) -> Option<String> {
        if place >= MAX_CALLS {
            return Some(format!(
                "Not called: at most {MAX_CALLS} calls are made at once. Ask for fewer at a time."
            ));
        }
        let failed = self.failures.of(&key_of(call));
        (failed >= MAX_REPEATS).then(|| {
            format!(
                "Not called: this very call has failed {failed} times already. Change the arguments, use another tool, or \
                 answer without it."
            )
        })
    }

    async fn invoke(&self, call: &ToolCall) -> (String, bool) {
        let mut args = call.arguments.clone();
        if let Value::String(text) = &args
            && !text.trim().is_empty()
            && self.toolset.get(&call.name).is_some()
        {
            let why =
                serde_json::from_str::<Value>(text).err().map_or_else(String::new, |e| format!(" ({e})"));
            self.failures.note(key_of(call), true);
            return (
                format!("The arguments are not a JSON object{why}. Nothing was sent. Write them anew."),
                true,
            );
        }
        if let Some(entry) = self.toolset.get(&call.name) {
            dialect::restore(&mut args, entry.spec().args_schema.value(), self.dialect);
        }
        let mut cx = self.cx.clone();
        cx.deadline = cx.deadline.min(Instant::now() + CALL_TIMEOUT);
        let (text, is_error) = match self.toolset.invoke(&call.name, args, &cx).await {
            Ok(output) => (output.text(), output.is_error),
            Err(error @ ToolError::Internal { .. }) => {
                tracing::error!(tool = %call.name, request_id = %cx.request_id, error = %error.for_operator(), "a tool failed inside");
                (error.for_model(), true)
            }
            Err(error) => (error.for_model(), true),
        };
        self.failures.note(key_of(call), is_error);
        (text, is_error)
    }
}

/// Whether the run was stopped or its time is over.
fn halted(cx: &CallContext) -> Result<(), Halt> {
    if cx.cancel.is_cancelled() {
        return Err(Halt::Stopped);
    }
    if cx.remaining().is_zero() {
        return Err(Halt::TimedOut);
    }
    Ok(())
}

fn event_of(call: &ToolCall, outcome: &Outcome) -> AgentEvent {
    let kind = match call.name.as_str() {
        DATASET_RETRIEVAL => AgentEventKind::DatasetRetrieval,
        _ => AgentEventKind::AgentAction,
    };
    AgentEvent {
        observation: outcome.text.clone(),
        tool: call.name.clone(),
        tool_input: call.arguments.as_object().cloned().unwrap_or_default(),
        tool_call_id: call.id.clone(),
        is_error: outcome.is_error,
        latency: outcome.took.as_secs_f64(),
        ..AgentEvent::step(kind)
    }
}

fn key_of(call: &ToolCall) -> String {
    format!("{}\n{}", call.name, canonical_json(&call.arguments))
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_RESULT) {
        None => text,
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}\n[cut here: {more} more characters; ask for less at a time]", &text[..end])
        }
    }
}
