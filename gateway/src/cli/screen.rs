//! What is shown: a report on standard output, failures and progress on standard error.

use super::failure::Failure;
use comfy_table::{ContentArrangement, Table, TableStyle, presets};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::Value;
use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

/// What a command answers: for people and for programs.
#[derive(Debug)]
pub(crate) struct Report {
    /// For people.
    pub(crate) text: String,
    /// For programs.
    pub(crate) value: Value,
    /// Why the command did not succeed although it has an answer.
    pub(crate) failed: Option<String>,
}

impl Report {
    /// A success.
    pub(crate) fn new(text: impl Into<String>, value: Value) -> Self {
        Self { text: text.into(), value, failed: None }
    }
}

/// Shows a report.
pub(crate) fn show(report: &Report, json: bool) -> ExitCode {
    let text = if json { format!("{:#}", report.value) } else { clean(&report.text) };
    let mut out = io::stdout().lock();
    // A reader that has gone, such as `head`, has seen enough.
    let _ = if text.is_empty() { Ok(()) } else { writeln!(out, "{}", text.trim_end()) };
    match &report.failed {
        None => ExitCode::SUCCESS,
        Some(why) => {
            let _ = writeln!(io::stderr(), "error: {}", clean(why));
            ExitCode::FAILURE
        }
    }
}

/// Shows a failure.
pub(crate) fn fail(failure: &Failure, json: bool) -> ExitCode {
    let text = if json { failure.json().to_string() } else { clean(&failure.text()) };
    let _ = writeln!(io::stderr(), "{text}");
    ExitCode::FAILURE
}

/// Rows under a header; `nothing` where there are none.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>, nothing: &str) -> String {
    const STYLE: TableStyle = presets::NOTHING;
    if rows.is_empty() {
        return nothing.to_owned();
    }
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width());
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    table.trim_fmt()
}

/// How wide the terminal is; where there is none, wide enough for everything.
pub(crate) fn width() -> u16 {
    Term::stdout().size_checked().map_or(u16::MAX, |(_, width)| width)
}

/// A field of an answer as text.
pub(crate) fn field(value: &Value, name: &str) -> String {
    match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The first line of a text, cut to a length that a table bears.
pub(crate) fn brief(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Says that work goes on, while it is held, where a person watches.
pub(crate) fn working(what: impl Into<String>) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what.into());
    spinner.set_draw_target(ProgressDrawTarget::stderr());
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// What comes from outside may hold control characters that a terminal would obey.
fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{FFFD}' } else { c };
    text.chars().map(shown).collect()
}
