//! What model providers are known to refuse, told ahead. A projection for a provider is made elsewhere; this is
//! for the reader of the report.

use crate::report::{MANY_TOKENS, Warning, WarningCode};
use serde_json::Value;

/// The deepest nesting of objects that the strictest provider takes.
const MAX_NESTING: usize = 10;

/// Warnings about an operation's arguments.
pub(super) fn of_schema(schema: &Value, recursive: bool, pointer: &str) -> Vec<Warning> {
    let mut found = Vec::new();
    if recursive {
        let message = "The schema leads back to itself, which some model providers refuse.";
        found.push(Warning::new(WarningCode::ProviderRecursion, pointer, message));
    }
    let mut review = Review::default();
    review.look(schema, 0);
    let defs = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    defs.for_each(|(_, part)| review.look(part, 1));
    if let Some(name) = review.illegal {
        let shown = crate::compile::text::trimmed(&name, 60);
        let message = format!("Some model providers refuse members with names like `{shown}`.");
        found.push(Warning::new(WarningCode::ProviderName, pointer, message));
    }
    if review.deepest > MAX_NESTING {
        let message =
            format!("Objects nest {} deep; some model providers take {MAX_NESTING} at most.", review.deepest);
        found.push(Warning::new(WarningCode::ProviderDepth, pointer, message));
    }
    found
}

/// A warning about the size.
pub(super) fn of_tokens(tokens: usize, pointer: &str) -> Option<Warning> {
    let message = format!("The tool takes about {tokens} tokens of every request to a model.");
    (tokens > MANY_TOKENS).then(|| Warning::new(WarningCode::ManyTokens, pointer, message))
}

#[derive(Default)]
struct Review {
    illegal: Option<String>,
    deepest: usize,
}

impl Review {
    fn look(&mut self, schema: &Value, depth: usize) {
        let Value::Object(map) = schema else { return };
        self.deepest = self.deepest.max(depth);
        for (key, value) in map {
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        if self.illegal.is_none() && !is_legal(name) {
                            self.illegal = Some(name.clone());
                        }
                        self.look(schema, depth + 1);
                    }
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                    for schema in list {
                        self.look(schema, depth);
                    }
                }
                ("items" | "additionalProperties" | "not", schema) => self.look(schema, depth),
                _ => {}
            }
        }
    }
}

fn is_legal(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    !name.is_empty() && name.len() <= 64 && name.bytes().all(legal)
}
