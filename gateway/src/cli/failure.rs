//! What went wrong, and what to do next.

use http_kit::ProblemDocument;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Why a command did not do it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: Option<String>,
}

impl Failure {
    /// A failure without advice.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: None }
    }

    /// The same failure with what to do next.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// For a person.
    pub(crate) fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("error: {}\n  try: {hint}", self.message),
            None => format!("error: {}", self.message),
        }
    }

    /// For a program.
    pub(crate) fn json(&self) -> Value {
        json!({"error": self.message, "code": self.code, "hint": self.hint})
    }
}

impl From<ProblemDocument> for Failure {
    fn from(problem: ProblemDocument) -> Self {
        let mut message = problem.detail;
        for violation in &problem.violations {
            let at = if violation.path.is_empty() { "(whole)" } else { &violation.path };
            let _ = write!(message, "\n  {at}: {}", violation.message);
        }
        if problem.status >= 500
            && let Some(id) = &problem.request_id
        {
            let _ = write!(message, "\n  request id: {id}");
        }
        Self { message, hint: advice(&problem.code).map(str::to_owned), code: Some(problem.code) }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(format!("{error:#}"))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}

fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "no_key" | "invalid_key" => {
            "set HAFT_API_KEY to a key of this server, or unset it to use DIR/admin.key"
        }
        "role_too_low" => "use a key with that role: an admin makes one with `haft keys create`",
        "provider_not_found" | "tool_not_found" | "not_found" => "`haft tools` lists what there is",
        "missing_credential" => "store it with `haft credentials set PROVIDER FIELD=VALUE`",
        "invalid_args" => "`haft tools show KIND/PROVIDER/TOOL` shows what the tool takes",
        "store_not_writable" => "free space on the disk, and see that the data directory can be written",
        "timeout" => "give it longer with --timeout, or ask for less",
        "name_taken" => "choose another name, or replace the one that has it",
        _ => return None,
    })
}
