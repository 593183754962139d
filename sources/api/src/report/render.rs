//! A report as a text for a terminal.

use super::{OperationReport, Outcome, Report, Severity, Warning, WarningCode};
use comfy_table::{ContentArrangement, Table, presets};
use std::{collections::BTreeMap, fmt::Write as _};

/// How many places of one kind of warning are listed.
const MAX_EXAMPLES: usize = 3;

impl Report {
    /// The report for a terminal `width` columns wide: what it is, every operation, then warnings by kind.
    pub fn render(&self, width: u16) -> String {
        let mut out = String::new();
        self.render_head(&mut out);
        if !self.operations.is_empty() {
            let _ = writeln!(out, "\n{}\n", self.table(width).trim_fmt());
        }
        self.render_lost(&mut out);
        self.render_warnings(&mut out);
        out.push('\n');
        out.push_str(&self.summary());
        out.push('\n');
        out
    }

    /// The sums in one line.
    pub fn summary(&self) -> String {
        let t = &self.totals;
        let mut line = format!("{} of {} operations are tools", t.tools, t.operations);
        if t.lost > 0 {
            let _ = write!(line, ", {} could not be taken", t.lost);
        }
        if t.not_selected > 0 {
            let _ = write!(line, ", {} were not selected", t.not_selected);
        }
        let _ = write!(
            line,
            "; about {} tokens together, {} the largest; {} warnings",
            t.tokens, t.largest_tokens, t.warnings
        );
        line
    }

    fn render_head(&self, out: &mut String) {
        let title = if self.title.is_empty() { "(no title)" } else { &self.title };
        let _ = writeln!(out, "{title} {} ({})", self.version, self.dialect.as_str());
        for server in &self.servers {
            let _ = writeln!(out, "  server {}", server.url);
        }
    }

    fn table(&self, width: u16) -> Table {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width)
            .set_header(["", "method", "path", "tool", "tokens"]);
        for operation in &self.operations {
            let (mark, tokens) = match &operation.outcome {
                Outcome::Tool { tokens } => ("ok", tokens.to_string()),
                Outcome::Lost { reason } => ("LOST", reason.code.to_string()),
                Outcome::NotSelected => ("-", String::new()),
            };
            table.add_row([
                mark,
                operation.method.as_str(),
                operation.path.as_str(),
                operation.name.as_str(),
                tokens.as_str(),
            ]);
        }
        table
    }

    fn render_lost(&self, out: &mut String) {
        let lost = |o: &OperationReport| match &o.outcome {
            Outcome::Lost { reason } => Some((o.method.clone(), o.path.clone(), reason.clone())),
            _ => None,
        };
        for (method, path, reason) in self.operations.iter().filter_map(lost) {
            let _ = writeln!(
                out,
                "LOST {method} {path}: {} [{}, at {}]",
                reason.message,
                reason.code,
                place(&reason.pointer)
            );
        }
    }

    fn render_warnings(&self, out: &mut String) {
        let all = self.operations.iter().flat_map(|o| &o.warnings).chain(&self.notes);
        let mut by_code: BTreeMap<(std::cmp::Reverse<Severity>, WarningCode), Vec<&Warning>> =
            BTreeMap::new();
        for warning in all {
            let key = (std::cmp::Reverse(warning.code.severity()), warning.code);
            by_code.entry(key).or_default().push(warning);
        }
        for ((std::cmp::Reverse(severity), code), warnings) in by_code {
            let word = match severity {
                Severity::Loss => "loss",
                Severity::Action => "to do",
                Severity::Note => "note",
            };
            let _ = writeln!(out, "{word}: {code} ({} times)", warnings.len());
            for warning in warnings.iter().take(MAX_EXAMPLES) {
                let _ = writeln!(out, "  {} [at {}]", warning.message, place(&warning.pointer));
            }
        }
    }
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the top" } else { pointer }
}
