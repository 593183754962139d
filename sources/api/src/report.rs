//! What became of a document: for each operation a tool or a reason, and what was dropped or changed on the
//! way. Nothing that a document says is lost without a line in here.
//!
//! Codes are stable; messages are plain sentences for people and may change. Places are JSON pointers into the
//! document as it was read.

mod codes;
mod render;

pub use codes::{ReasonCode, Severity, WarningCode};

use crate::normal::{Dialect, Server};
use serde::{Deserialize, Serialize};

/// How many warnings an operation, and how many notes a document, may carry.
pub const MAX_WARNINGS: usize = 50;
/// From how many estimated tokens on a tool's schema is worth a warning.
pub const MANY_TOKENS: usize = 4_000;

/// The report on one compiled document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The document's title.
    pub title: String,
    /// The API's version.
    pub version: String,
    /// What the document is written in.
    pub dialect: Dialect,
    /// Where the API is served.
    pub servers: Vec<Server>,
    /// Every operation of the document, in its order.
    pub operations: Vec<OperationReport>,
    /// What concerns the document as a whole, or a part that operations share.
    pub notes: Vec<Warning>,
    /// Sums over all of it.
    pub totals: Totals,
}

/// What became of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationReport {
    /// The tool's name, or the one it would have.
    pub name: String,
    /// The method as on the wire; `*` where a whole path is meant.
    pub method: String,
    /// The path as the document writes it.
    pub path: String,
    /// Where it stands.
    pub pointer: String,
    /// Tool or not.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What was dropped or changed, and what a model provider may refuse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Tool or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It is a tool now.
    Tool {
        /// About how many tokens its name, description and schema take.
        tokens: usize,
    },
    /// It is not, and this is why.
    Lost {
        /// Why.
        reason: Reason,
    },
    /// It was left out by the selection.
    NotSelected,
}

/// Why an operation is not a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The stable code.
    pub code: ReasonCode,
    /// Where the cause stands.
    pub pointer: String,
    /// A sentence.
    pub message: String,
}

/// Something worth knowing that did not cost the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The stable code.
    pub code: WarningCode,
    /// Where the cause stands.
    pub pointer: String,
    /// A sentence.
    pub message: String,
}

/// Sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Operations in the document.
    pub operations: usize,
    /// Those that became tools.
    pub tools: usize,
    /// Those that could not.
    pub lost: usize,
    /// Those left out by the selection.
    pub not_selected: usize,
    /// Warnings and notes.
    pub warnings: usize,
    /// About how many tokens all tools take together.
    pub tokens: usize,
    /// About how many tokens the largest takes.
    pub largest_tokens: usize,
}

impl Report {
    /// Whether all that was asked for is there: every selected operation became a tool, and no warning says
    /// that a part of one which a caller could have used is gone.
    pub fn is_lossless(&self) -> bool {
        let lossy = |w: &Warning| w.code.severity() == Severity::Loss;
        self.totals.lost == 0
            && !self.notes.iter().any(lossy)
            && !self.operations.iter().any(|o| o.warnings.iter().any(lossy))
    }

    /// Adds up what is in the report.
    pub(crate) fn add_up(&mut self) {
        let mut totals =
            Totals { operations: self.operations.len(), warnings: self.notes.len(), ..Totals::default() };
        for operation in &self.operations {
            totals.warnings += operation.warnings.len();
            match operation.outcome {
                Outcome::Tool { tokens } => {
                    totals.tools += 1;
                    totals.tokens += tokens;
                    totals.largest_tokens = totals.largest_tokens.max(tokens);
                }
                Outcome::Lost { .. } => totals.lost += 1,
                Outcome::NotSelected => totals.not_selected += 1,
            }
        }
        self.totals = totals;
    }
}

impl Reason {
    pub(crate) fn new(code: ReasonCode, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, pointer: pointer.into(), message: message.into() }
    }
}

impl Warning {
    pub(crate) fn new(code: WarningCode, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, pointer: pointer.into(), message: message.into() }
    }
}

/// Warnings as they are gathered: each once, and no more than a reader can use.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
    left_out: usize,
}

impl Warnings {
    pub(crate) fn add(&mut self, code: WarningCode, pointer: impl Into<String>, message: impl Into<String>) {
        self.push(Warning::new(code, pointer, message));
    }

    pub(crate) fn push(&mut self, warning: Warning) {
        if self.list.contains(&warning) {
            return;
        }
        // A loss must be seen, whatever stands in the list already.
        let is_loss = warning.code.severity() == Severity::Loss;
        if self.list.len() < MAX_WARNINGS || (is_loss && self.list.len() < 2 * MAX_WARNINGS) {
            self.list.push(warning);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = Warning>) {
        more.into_iter().for_each(|w| self.push(w));
    }

    pub(crate) fn finish(mut self, pointer: &str) -> Vec<Warning> {
        if self.left_out > 0 {
            let message = format!("{} more warnings of this kind are not listed.", self.left_out);
            self.list.push(Warning::new(WarningCode::More, pointer, message));
        }
        self.list
    }
}
