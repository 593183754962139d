//! JSON Schema as the product handles it: the document kept lossless, its validator compiled once.

use crate::error::Violation;
use jsonschema::{Draft, PatternOptions, Validator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// The largest schema that is compiled, in bytes of JSON.
pub const MAX_SCHEMA_BYTES: usize = 1024 * 1024;
/// How many violations a refusal lists.
const MAX_VIOLATIONS: usize = 20;
/// The size limit of one compiled `pattern`, in bytes.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// A JSON Schema with its lazily compiled validator. Clones share both.
///
/// References to other documents are never fetched: a schema that needs one does not compile.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    value: Value,
    validator: OnceLock<Result<Validator, SchemaError>>,
}

/// Why a schema cannot be used to validate.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SchemaError {
    /// The schema breaks the rules of its dialect, or names something that is not there.
    #[error("the schema is not usable at `{path}`: {message}")]
    Invalid {
        /// JSON pointer into the schema.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// The schema is larger than [`MAX_SCHEMA_BYTES`].
    #[error("the schema has {0} bytes; at most {MAX_SCHEMA_BYTES} are compiled")]
    TooLarge(usize),
}

impl Schema {
    /// Wraps a schema. It is compiled at its first use.
    pub fn new(value: Value) -> Self {
        Self(Arc::new(Inner { value, validator: OnceLock::new() }))
    }

    /// The schema of a tool without arguments.
    pub fn empty_object() -> Self {
        Self::new(serde_json::json!({"type": "object", "properties": {}}))
    }

    /// The schema as it was given.
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// Compiles the schema if that has not been done.
    pub fn check(&self) -> Result<(), SchemaError> {
        self.validator().map(|_| ()).map_err(Clone::clone)
    }

    /// Whether `instance` meets the schema.
    pub fn is_valid(&self, instance: &Value) -> Result<bool, SchemaError> {
        self.validator().map(|v| v.is_valid(instance)).map_err(Clone::clone)
    }

    /// What `instance` breaks, most important first and at most 20; empty when it is valid.
    ///
    /// Messages never repeat the instance's values: those may be secrets.
    pub fn violations(&self, instance: &Value) -> Result<Vec<Violation>, SchemaError> {
        let validator = self.validator().map_err(Clone::clone)?;
        let violation = |e: jsonschema::ValidationError<'_>| Violation {
            path: e.instance_path().to_string(),
            message: e.masked().to_string(),
        };
        Ok(validator.iter_errors(instance).take(MAX_VIOLATIONS).map(violation).collect())
    }

    pub(crate) fn validator(&self) -> Result<&Validator, &SchemaError> {
        self.0.validator.get_or_init(|| compile(&self.0.value)).as_ref()
    }
}

fn compile(schema: &Value) -> Result<Validator, SchemaError> {
    let size = serde_json::to_vec(schema).map_or(usize::MAX, |bytes| bytes.len());
    if size > MAX_SCHEMA_BYTES {
        return Err(SchemaError::TooLarge(size));
    }
    let options = || {
        jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .with_draft(declared_draft(schema))
    };
    // The linear-time engine first; patterns that look around need the backtracking one, with a limit.
    options()
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
        .build(schema)
        .or_else(|_| {
            let fancy = PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(MAX_PATTERN_BYTES);
            options().with_pattern_options(fancy).build(schema)
        })
        .map_err(|e| SchemaError::Invalid {
            path: e.instance_path().to_string(),
            message: e.masked().to_string(),
        })
}

/// The draft a schema declares; 2020-12 where it declares none, or one that is not known.
fn declared_draft(schema: &Value) -> Draft {
    let declared = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let known = [
        ("draft-04", Draft::Draft4),
        ("draft-06", Draft::Draft6),
        ("draft-07", Draft::Draft7),
        ("2019-09", Draft::Draft201909),
    ];
    known.iter().find(|(mark, _)| declared.contains(mark)).map_or(Draft::Draft202012, |(_, draft)| *draft)
}

/// JSON with the keys of every object sorted, so that equal documents have equal texts.
pub fn canonical_json(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                out.push('{');
                for (i, (key, value)) in entries.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    write(value, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write(item, out);
                }
                out.push(']');
            }
            scalar => out.push_str(&scalar.to_string()),
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.value(), f)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl From<Value> for Schema {
    fn from(value: Value) -> Self {
        Self::new(value)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn violations_point_at_the_place_and_hide_the_value() {
        let schema =
            Schema::new(json!({"type":"object","properties":{"n":{"type":"integer"}},"required":["n","m"]}));
        let found = schema.violations(&json!({"n": "s3cret"})).unwrap();
        let paths: Vec<_> = found.iter().map(|v| v.path.as_str()).collect();
        assert!(paths.contains(&"/n") && paths.contains(&""), "{paths:?}");
        assert!(!format!("{found:?}").contains("s3cret"));
    }

    #[test]
    fn a_reference_to_another_document_is_never_fetched() {
        let schema = Schema::new(json!({"$ref": "http://127.0.0.1:9/x.json"}));
        assert!(schema.check().is_err());
    }

    #[test]
    fn a_pattern_that_looks_around_still_compiles() {
        let schema = Schema::new(json!({"type":"string","pattern":"^(?!x)y"}));
        assert!(schema.is_valid(&json!("y")).unwrap());
        assert!(!schema.is_valid(&json!("xy")).unwrap());
    }

    #[test]
    fn a_declared_older_draft_is_respected() {
        let exclusive =
            json!({"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true});
        assert!(!Schema::new(exclusive).is_valid(&json!(1)).unwrap());
    }

    #[test]
    fn canonical_json_does_not_depend_on_the_order_of_keys() {
        assert_eq!(
            canonical_json(&json!({"b":[{"d":1,"c":2}],"a":null})),
            r#"{"a":null,"b":[{"c":2,"d":1}]}"#
        );
    }
}
