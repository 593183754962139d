//! Lines of the report that both front ends write alike.

use super::{select::Matcher, text::plain};
use crate::{
    normal::{Operation, Server, ServerProblem},
    report::{Warning, WarningCode},
};
use serde::Serialize;
use std::io;

/// About how many bytes of JSON a token holds.
const BYTES_PER_TOKEN: usize = 4;

/// About how many tokens a model reads of an operation whose schema has so many bytes.
pub(crate) fn tokens(operation: &Operation, schema_bytes: usize) -> usize {
    let bytes = operation.name.len() + operation.description.len() + schema_bytes;
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// How long a value is as JSON, without writing it.
pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail, and values of documents have texts as keys.
    serde_json::to_writer(&mut counter, value).map_or(usize::MAX, |()| counter.0)
}

/// Whether and which address the user has to give.
pub(crate) fn server_notes(servers: &[Server]) -> Vec<Warning> {
    let mut notes = Vec::new();
    match Server::first_address(servers) {
        Err(problem) => {
            let at = if problem == ServerProblem::Missing { "" } else { "/servers/0" };
            let message = problem.to_string().replacen("the ", "The ", 1);
            notes.push(Warning::new(WarningCode::NoServer, at, format!("{message}.")));
        }
        Ok(first) if servers.len() > 1 => {
            let others: Vec<&str> =
                servers.iter().map(|s| s.url.as_str()).filter(|u| *u != first).take(10).collect();
            let message = format!(
                "The document names {} servers: {first} is used unless another is given as `server` ({}).",
                servers.len(),
                others.join(", ")
            );
            notes.push(Warning::new(WarningCode::SeveralServers, "/servers", message));
        }
        Ok(_) => {}
    }
    notes
}

/// Terms of the selection that fit nothing.
pub(crate) fn selection_notes(matcher: &Matcher<'_>) -> Vec<Warning> {
    let note = |term: &str| {
        let message = format!("`{}` of the selection fits no operation.", plain(&term.into()));
        Warning::new(WarningCode::SelectsNothing, "", message)
    };
    matcher.unused().map(note).collect()
}
