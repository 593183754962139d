//! Keywords that stand for themselves: limits, flags, names.

use super::{Draft, types::Types};
use crate::{
    compile::text::{as_flag, flag, text_of},
    openapi::doc::At,
    report::WarningCode,
};
use serde_json::{Map, Number, Value, json};

/// A keyword without schemas in it. What is not known is left out.
pub(super) fn simple(
    key: &str,
    value: &Value,
    map: &Map<String, Value>,
    at: &At<'_>,
    draft: &mut Draft<'_>,
    out: &mut Map<String, Value>,
) {
    let usable = match key {
        "minimum" | "maximum" => limit(key, value, map, out),
        // A flag belongs to the limit beside it.
        "exclusiveMinimum" | "exclusiveMaximum" if as_flag(Some(value)).is_some() => true,
        "exclusiveMinimum" | "exclusiveMaximum" => insert(out, key, number(value)),
        "multipleOf" => insert(out, key, number(value).filter(|n| n.as_f64().is_some_and(|f| f > 0.0))),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => insert(out, key, count(value)),
        "uniqueItems" => {
            if flag(Some(value)) {
                out.insert(key.to_owned(), true.into());
            }
            true
        }
        "contentEncoding" | "contentMediaType" if value.is_string() => {
            out.entry(key.to_owned()).or_insert_with(|| value.clone());
            true
        }
        "dependentRequired" => {
            let is_list = |v: &Value| v.as_array().is_some_and(|l| l.iter().all(Value::is_string));
            let usable = value.as_object().filter(|map| map.values().all(is_list)).cloned();
            insert(out, key, usable)
        }
        "$dynamicRef" | "$recursiveRef" => {
            let message = format!("`{key}` is not followed: anything is accepted there.");
            draft.warn(WarningCode::SchemaCut, at, message);
            true
        }
        _ => true,
    };
    if !usable && !value.is_null() {
        let message = format!("The value of `{key}` is not usable, and the keyword is ignored.");
        draft.warn(WarningCode::KeywordIgnored, at, message);
    }
}

/// `minimum` and `maximum`, exclusive where draft 4's flag says so.
fn limit(key: &str, value: &Value, map: &Map<String, Value>, out: &mut Map<String, Value>) -> bool {
    let exclusive = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
    let key = if flag(map.get(exclusive)) { exclusive } else { key };
    insert(out, key, number(value))
}

fn insert<V: Into<Value>>(out: &mut Map<String, Value>, key: &str, value: Option<V>) -> bool {
    let usable = value.is_some();
    if let Some(value) = value {
        out.insert(key.to_owned(), value.into());
    }
    usable
}

/// A number, also where it is quoted.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text.trim()).ok(),
        _ => None,
    }
}

/// A whole number from 0 on.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
fn count(value: &Value) -> Option<u64> {
    let number = number(value)?;
    let float = || number.as_f64().filter(|f| f.fract() == 0.0 && (0.0..1e15).contains(f));
    number.as_u64().or_else(|| float().map(|f| f as u64))
}

/// Whether a text holds a file in a way only 3.1 has: a media type that is not text, in no encoding.
pub(super) fn is_encoded_file(map: &Map<String, Value>, types: Types) -> bool {
    let media = text_of(map, "contentMediaType");
    types.has(Types::STRING)
        && !media.is_empty()
        && !map.contains_key("contentEncoding")
        && !media.starts_with("text/")
        && !media.contains("json")
        && !media.contains("xml")
}

/// A scalar of at most so many characters.
pub(super) fn is_short(value: &Value, max: usize) -> bool {
    match value {
        Value::String(text) => !text.is_empty() && text.len() <= max,
        Value::Number(_) | Value::Bool(_) => true,
        _ => false,
    }
}

/// `/^x$/i` as JavaScript writes it: the slashes are no part of the pattern.
pub(super) fn without_slashes(pattern: &str) -> &str {
    let inner = pattern.strip_prefix('/').and_then(|rest| {
        let (inner, flags) = rest.rsplit_once('/')?;
        flags.chars().all(|c| "gimsuy".contains(c)).then_some(inner)
    });
    match inner {
        Some(inner) if inner.starts_with('^') || inner.ends_with('$') => inner,
        _ => pattern,
    }
}

/// What a text is that holds bytes.
pub(in crate::openapi) fn file_schema(said: &str) -> Value {
    let mut schema = json!({"type": "string", "contentEncoding": "base64"});
    let said = if said.is_empty() { "The content, as base64 or a data URI." } else { said };
    schema["description"] = said.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_lose_the_slashes_of_javascript() {
        let table = [
            ("/^a$/", "^a$"),
            ("/^a/i", "^a"),
            ("^/a/b$", "^/a/b$"),
            ("/a/b", "/a/b"),
            ("/usr/bin/", "/usr/bin/"),
        ];
        for (written, meant) in table {
            assert_eq!(without_slashes(written), meant, "{written}");
        }
    }

    #[test]
    fn numbers_are_read_from_texts_and_floats() {
        assert_eq!(count(&json!(3.0)), Some(3));
        assert_eq!(count(&json!("12")), Some(12));
        assert_eq!(count(&json!(-1)), None);
        assert_eq!(number(&json!("x")), None);
    }
}
