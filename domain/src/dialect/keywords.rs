//! Keywords: which constrain values, and whether their values are of the right kind.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The types of JSON Schema.
pub(super) const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// Keywords that constrain a value: leaving one out is a loss.
const CONSTRAINTS: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "required",
    "properties",
    "$ref",
];

pub(super) fn is_constraint(keyword: &str) -> bool {
    CONSTRAINTS.contains(&keyword)
}

/// Whether the value of a keyword that holds no schema is one that JSON Schema allows.
pub(super) fn is_well_formed(keyword: &str, value: &Value) -> bool {
    match keyword {
        "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
            value.is_string()
        }
        "deprecated" | "uniqueItems" => value.is_boolean(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.is_u64(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|step| step > 0.0),
        "examples" => value.is_array(),
        "dependentRequired" => {
            value.as_object().is_some_and(|entries| entries.values().all(are_distinct_texts))
        }
        _ => true,
    }
}

fn are_distinct_texts(value: &Value) -> bool {
    let Some(values) = value.as_array() else {
        return false;
    };
    let texts: HashSet<&str> = values.iter().filter_map(Value::as_str).collect();
    texts.len() == values.len()
}

/// The type a keyword speaks of; it says nothing of values of other types.
pub(super) fn subject(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => "object",
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" => "array",
        "format" | "pattern" | "minLength" | "maxLength" | "contentEncoding" | "contentMediaType" => "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        _ => return None,
    })
}

/// Whether a value is of a type.
pub(super) fn is_of_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(number) => {
            name == "number" || (name == "integer" && number.as_f64().is_some_and(|n| n.fract() == 0.0))
        }
    }
}

/// The most telling type of a value.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(_) if is_of_type(value, "integer") => "integer",
        Value::Number(_) => "number",
    }
}

/// The types a schema names, without what is no type.
pub(super) fn named_types(schema: &Map<String, Value>) -> Vec<&'static str> {
    let known = |name: &Value| {
        let name = name.as_str()?;
        TYPES.into_iter().find(|known| *known == name)
    };
    let mut types: Vec<&'static str> = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(known).collect(),
        Some(name) => known(name).into_iter().collect(),
        None => Vec::new(),
    };
    let mut seen = Vec::new();
    types.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    types
}

/// The types a schema allows, inferred from its other keywords where it names none.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&'static str> {
    let named = named_types(schema);
    if !named.is_empty() {
        return named;
    }
    let listed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let listed = listed.or_else(|| schema.get("const").map(std::slice::from_ref));
    if let Some(values) = listed {
        let mut types = Vec::new();
        for name in values.iter().map(type_of) {
            if !types.contains(&name) {
                types.push(name);
            }
        }
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        return types;
    }
    let speaks_of = |name: &str| schema.keys().any(|keyword| subject(keyword) == Some(name));
    ["object", "array", "string", "number"].into_iter().filter(|name| speaks_of(name)).collect()
}

/// Draft 4 wrote `"exclusiveMinimum": true` beside `minimum`; so do OpenAPI 3.0 documents.
pub(super) fn modernise_bounds(schema: &mut Map<String, Value>) {
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) else {
            continue;
        };
        let is_exclusive = *is_exclusive;
        schema.remove(exclusive);
        if is_exclusive && let Some(bound) = schema.remove(inclusive) {
            schema.insert(exclusive.to_owned(), bound);
        }
    }
}

/// Whether a pattern needs an engine that looks around or back, which providers do not have.
pub(super) fn is_irregular(pattern: &str) -> bool {
    let looks = ["(?=", "(?!", "(?<=", "(?<!", "(?>"].iter().any(|mark| pattern.contains(mark));
    let refers_back = pattern
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'\\' && (pair[1].is_ascii_digit() && pair[1] != b'0' || pair[1] == b'k'));
    looks || refers_back
}

/// One more step of a JSON pointer.
pub(super) fn step(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The JSON pointer of a reference into the same document.
pub(super) fn pointer_of(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let pair = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let pointer = String::from_utf8(bytes).ok()?;
    (pointer.is_empty() || pointer.starts_with('/')).then_some(pointer)
}
