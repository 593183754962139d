//! From text to a JSON value: JSON as JSON first, else YAML, within a budget of aliases, depth and nodes.

use super::DocumentError;
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};

/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 20 * 1024 * 1024;
/// How deep a YAML document may nest. JSON has the same limit in its parser.
const MAX_DEPTH: usize = 128;
/// How many nodes a YAML document may have, written out.
const MAX_NODES: usize = 2_000_000;
/// How many parser events aliases may repeat.
const MAX_REPLAYED: usize = 2_000_000;

/// A document as a value.
pub(super) struct Read {
    pub(super) value: Value,
    /// Why it is not JSON, where it is YAML.
    pub(super) not_json: Option<NotJson>,
}

/// Why a text is not JSON.
pub(super) struct NotJson {
    pub(super) error: DocumentError,
    /// Whether JSON was meant: it starts with a brace, though YAML can make something of it.
    pub(super) was_meant: bool,
}

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Read, DocumentError> {
    if text.len() > MAX_DOCUMENT_BYTES {
        return Err(DocumentError::TooLarge(text.len()));
    }
    let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\0', '\u{feff}']);
    if text.trim().is_empty() {
        return Err(DocumentError::Empty);
    }
    let error = match serde_json::from_str(text) {
        Ok(value) => {
            return Ok(Read { value, not_json: None });
        }
        Err(error) => syntax_of_json(&error),
    };
    let was_meant = text.trim_start().starts_with(['{', '[']);
    match read_yaml(text) {
        Ok(value) => Ok(Read { value, not_json: Some(NotJson { error, was_meant }) }),
        Err(_) if was_meant => Err(error),
        Err(yaml) => Err(yaml),
    }
}

fn syntax_of_json(error: &serde_json::Error) -> DocumentError {
    DocumentError::Syntax {
        format: "JSON",
        line: error.line() as u64,
        column: error.column() as u64,
        message: without_place(&error.to_string(), 300),
    }
}

/// A parser's message; the place is told apart from it.
fn without_place(message: &str, max: usize) -> String {
    super::text::trimmed(message.split(" at line ").next().unwrap_or_default(), max)
}

fn read_yaml(text: &str) -> Result<Value, DocumentError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * MAX_NODES,
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
            max_documents: 1,
            max_recorded_anchor_events: MAX_REPLAYED,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_REPLAYED,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        emit_comments: false,
        strict_booleans: true,
        null_as_string: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let location = error.location();
        let message = error.to_string();
        DocumentError::Syntax {
            format: "YAML",
            line: location.map_or(0, |l| l.line()),
            column: location.map_or(0, |l| l.column()),
            message: without_place(&message, 300),
        }
    })
}
