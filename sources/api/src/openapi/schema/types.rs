//! Types in all the ways documents write them, and enums that agree with them.

use serde_json::{Map, Value};
use std::collections::HashSet;

/// A set of JSON types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types(u8);

const NAMES: [(&str, u8); 7] = [
    ("string", 1),
    ("integer", 2),
    ("number", 4),
    ("boolean", 8),
    ("array", 16),
    ("object", 32),
    ("null", 64),
];

/// What a schema says of its type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TypeReading {
    pub(super) types: Types,
    /// `null` is allowed too, in whatever way that was said.
    pub(super) nullable: bool,
    /// It is a file (Swagger 2.0's `type: file`).
    pub(super) file: bool,
    /// A type was named that is none, and could be understood.
    pub(super) repaired: bool,
    /// A type was named that is none.
    pub(super) unknown: bool,
}

impl Types {
    pub(super) const STRING: Self = Self(1);
    pub(super) const ARRAY: Self = Self(16);
    pub(super) const OBJECT: Self = Self(32);
    pub(super) const NULL: Self = Self(64);

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// As a schema writes it.
    pub(super) fn value(self) -> Value {
        let mut names: Vec<&str> =
            NAMES.iter().filter(|(_, bit)| self.0 & bit != 0).map(|(n, _)| *n).collect();
        match (names.len(), names.pop()) {
            (1, Some(only)) => only.into(),
            (_, last) => names.into_iter().chain(last).collect::<Vec<_>>().into(),
        }
    }

    /// Whether a value is of one of the types; of any, where none is named.
    pub(super) fn fit(self, value: &Value) -> bool {
        let bits = match value {
            Value::Null => 64,
            Value::Bool(_) => 8,
            Value::String(_) => 1,
            Value::Array(_) => 16,
            Value::Object(_) => 32,
            Value::Number(n) if n.is_i64() || n.is_u64() => 6,
            Value::Number(n) if n.as_f64().is_some_and(|f| f.fract() == 0.0) => 6,
            Value::Number(_) => 4,
        };
        self.is_empty() || self.0 & bits != 0
    }
}

impl TypeReading {
    /// Reads `type`, `nullable` and `x-nullable`; where no type is named, `properties` and `items` tell it.
    pub(super) fn of(map: &Map<String, Value>) -> Self {
        let mut reading = Self::default();
        match map.get("type") {
            Some(Value::String(name)) => reading.add(name),
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).for_each(|n| reading.add(n)),
            Some(Value::Null) => reading.add("null"),
            Some(_) => reading.unknown = true,
            None => {}
        }
        let says_null = |key| crate::compile::text::flag(map.get(key));
        reading.nullable |= says_null("nullable") || says_null("x-nullable");
        let chooses = map.contains_key("oneOf") || map.contains_key("anyOf");
        if reading.types.is_empty() && !chooses {
            if map.get("properties").is_some_and(Value::is_object) {
                reading.types = Types::OBJECT;
            } else if map.contains_key("items") {
                reading.types = Types::ARRAY;
            }
        }
        if reading.nullable && !reading.types.is_empty() {
            reading.types = reading.types.with(Types::NULL);
        }
        reading
    }

    fn add(&mut self, name: &str) {
        if let Some((_, bit)) = NAMES.iter().find(|(n, _)| *n == name) {
            if *bit == Types::NULL.0 {
                self.nullable = true;
            }
            self.types.0 |= bit;
            return;
        }
        let meant = match name.trim().to_ascii_lowercase().as_str() {
            "file" => {
                self.file = true;
                self.types = self.types.with(Types::STRING);
                return;
            }
            "str" | "text" | "date" | "datetime" | "date-time" | "uuid" | "uri" | "url" | "email"
            | "char" | "binary" | "byte" | "password" | "string" | "time" => 1,
            "int" | "int32" | "int64" | "long" | "integer" | "short" => 2,
            "float" | "double" | "decimal" | "number" | "numeric" => 4,
            "bool" | "boolean" => 8,
            "list" | "array" => 16,
            "map" | "dict" | "object" | "json" => 32,
            "null" | "none" => 64,
            _ => 0,
        };
        self.types.0 |= meant;
        self.repaired |= meant != 0;
        self.unknown |= meant == 0 && !matches!(name, "any" | "");
    }
}

/// The values of an enum, each once: written as the type wants them where that can be done, and `null` among
/// them where it is allowed. `None` where there are none.
pub(super) fn enumeration(values: &[Value], reading: TypeReading) -> Option<Vec<Value>> {
    let mut seen = HashSet::new();
    let mut out = Vec::with_capacity(values.len() + 1);
    for value in values {
        let value = coerced(value, reading.types);
        if seen.insert(value.to_string()) {
            out.push(value);
        }
    }
    if out.iter().any(|v| reading.types.fit(v)) {
        out.retain(|v| reading.types.fit(v));
    }
    if out.is_empty() {
        return None;
    }
    if reading.nullable && !out.contains(&Value::Null) {
        out.push(Value::Null);
    }
    Some(out)
}

/// A value as the type wants it: YAML reads an unquoted `1` or `true` as something else than a text, and some
/// documents quote their numbers.
pub(super) fn coerced(value: &Value, types: Types) -> Value {
    if types.fit(value) {
        return value.clone();
    }
    match value {
        Value::Number(_) | Value::Bool(_) if types.has(Types::STRING) => value.to_string().into(),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(read) if (read.is_number() || read.is_boolean()) && types.fit(&read) => read,
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(schema: &Value) -> TypeReading {
        TypeReading::of(schema.as_object().unwrap())
    }

    #[test]
    fn types_are_read_however_they_are_written() {
        let table = [
            (json!({"type": "string"}), json!("string")),
            (json!({"type": ["string", "null"]}), json!(["string", "null"])),
            (json!({"type": "integer", "nullable": true}), json!(["integer", "null"])),
            (json!({"type": "number", "x-nullable": "true"}), json!(["number", "null"])),
            (json!({"type": "file"}), json!("string")),
            (json!({"type": "int"}), json!("integer")),
            (json!({"type": "dict"}), json!("object")),
            (json!({"properties": {}}), json!("object")),
            (json!({"items": {}, "nullable": true}), json!(["array", "null"])),
        ];
        for (schema, expected) in table {
            assert_eq!(read(&schema).types.value(), expected, "{schema}");
        }
        assert!(read(&json!({"type": "spaceship"})).unknown);
        assert!(read(&json!({"type": "any"})).types.is_empty());
        assert!(read(&json!({"properties": {}, "oneOf": []})).types.is_empty());
    }

    #[test]
    fn enums_agree_with_their_type() {
        let table = [
            (json!({"type": "string"}), json!(["a", 1, true, "a"]), json!(["a", "1", "true"])),
            (json!({"type": "integer"}), json!(["1", 2, "x"]), json!([1, 2])),
            (json!({"type": "string", "nullable": true}), json!(["a"]), json!(["a", null])),
            (json!({}), json!(["a", 1]), json!(["a", 1])),
        ];
        for (schema, values, expected) in table {
            let found = enumeration(values.as_array().unwrap(), read(&schema));
            assert_eq!(Value::from(found.unwrap()), expected, "{schema}");
        }
        assert_eq!(enumeration(&[], TypeReading::default()), None);
    }
}
