//! The headers that repeat parts of a request: `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::collections::HashSet;

const ANNOTATION: &str = "x-mcp-header";
const ENCODED_BEGIN: &str = "=?base64?";
const ENCODED_END: &str = "?=";
/// The largest integer that every JSON reader keeps exactly.
const MAX_SAFE: i64 = 9_007_199_254_740_991;
/// How deep a schema is looked into.
const MAX_DEPTH: usize = 64;

/// An argument that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// The names from the arguments' root to it.
    pub(crate) path: Vec<String>,
    /// The header's whole name.
    pub(crate) name: HeaderName,
}

/// The headers of a request in an era that asks for them.
pub(crate) fn standard(method: &str, params: &Value, repeated: &[ParamHeader], headers: &mut HeaderMap) {
    let mut set = |name: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::from_str(&encode(text)) {
            headers.insert(name, value);
        }
    };
    set(HeaderName::from_static("mcp-method"), method);
    if method == "tools/call"
        && let Some(name) = params.get("name").and_then(Value::as_str)
    {
        set(HeaderName::from_static("mcp-name"), name);
    }
    for ParamHeader { path, name } in repeated {
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        let value = path.iter().try_fold(arguments, |value, step| value.get(step));
        if let Some(text) = value.and_then(as_text) {
            set(name.clone(), &text);
        }
    }
}

/// Finds a schema's annotated arguments, or says why the annotations are not legal.
pub(crate) fn repeated(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), true, 0, &mut found)?;
    let mut seen = HashSet::new();
    for header in &found {
        if !seen.insert(header.name.clone()) {
            return Err(format!("two arguments ask for the header `{}`", header.name));
        }
    }
    Ok(found)
}

fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    on_chain: bool,
    depth: usize,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("the schema is more than {MAX_DEPTH} levels deep"));
    }
    let Value::Object(schema) = schema else {
        return match schema {
            Value::Array(parts) => {
                parts.iter().try_for_each(|part| walk(part, path, false, depth + 1, found))
            }
            _ => Ok(()),
        };
    };
    if let Some(annotation) = schema.get(ANNOTATION) {
        found.push(annotated(schema, annotation, path, on_chain)?);
    }
    for (keyword, part) in schema {
        match keyword.as_str() {
            // Values and names, not schemas.
            "default" | "const" | "enum" | "examples" | "dependentRequired" | "required" | ANNOTATION => {}
            "properties" => each(part, path, on_chain, depth, found)?,
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                each(part, path, false, depth, found)?;
            }
            _ => walk(part, path, false, depth + 1, found)?,
        }
    }
    Ok(())
}

/// Looks into a map of names to schemas.
fn each(
    part: &Value,
    path: &mut Vec<String>,
    on_chain: bool,
    depth: usize,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    for (name, property) in part.as_object().into_iter().flatten() {
        path.push(name.clone());
        walk(property, path, on_chain, depth + 1, found)?;
        path.pop();
    }
    Ok(())
}

fn annotated(
    schema: &Map<String, Value>,
    annotation: &Value,
    path: &[String],
    on_chain: bool,
) -> Result<ParamHeader, String> {
    let place = path.join(".");
    if !on_chain || path.is_empty() {
        return Err(format!("`{ANNOTATION}` at `{place}` is not on a plain property"));
    }
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err(format!("`{ANNOTATION}` at `{place}` is not on a string, integer or boolean"));
    }
    let name = annotation.as_str().filter(|name| !name.is_empty());
    let name = name.and_then(|name| HeaderName::try_from(format!("Mcp-Param-{name}")).ok());
    let name = name.ok_or_else(|| format!("`{ANNOTATION}` at `{place}` is not a header name"))?;
    Ok(ParamHeader { path: path.to_vec(), name })
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => match number.as_i64() {
            Some(n) if n.abs() <= MAX_SAFE => Some(n.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Encodes what a header cannot carry as it is.
fn encode(text: &str) -> String {
    let looks_encoded = text.starts_with(ENCODED_BEGIN) && text.ends_with(ENCODED_END);
    let visible = text.bytes().all(|b| matches!(b, 0x20..=0x7e)) && text.trim().len() == text.len();
    if visible && !looks_encoded {
        return text.to_owned();
    }
    format!("{ENCODED_BEGIN}{}{ENCODED_END}", BASE64_STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_encoded_as_the_protocol_shows() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(text), header);
        }
    }

    #[test]
    fn annotated_arguments_are_repeated_wherever_they_stand() {
        let schema = json!({"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "note":{"type":"string","default":{"x-mcp-header":"not an annotation"}}}});
        let repeated = repeated(&schema).unwrap();
        let mut headers = HeaderMap::new();
        let params = json!({"name":"ü","arguments":{"region":"eu","deep":{"n":42}}});
        standard("tools/call", &params, &repeated, &mut headers);
        assert_eq!(headers["mcp-method"], "tools/call");
        assert_eq!(headers["mcp-name"], "=?base64?w7w=?=");
        assert_eq!(headers["mcp-param-region"], "eu");
        assert_eq!(headers["mcp-param-n"], "42");
        headers.clear();
        standard("tools/call", &json!({"name":"t","arguments":{"region":null}}), &repeated, &mut headers);
        assert!(!headers.contains_key("mcp-param-region"));
    }

    #[test]
    fn illegal_annotations_are_told() {
        let property = |p: Value| json!({"type":"object","properties":{"a": p}});
        for schema in [
            property(json!({"type":"string","x-mcp-header":""})),
            property(json!({"type":"string","x-mcp-header":"a b"})),
            property(json!({"type":"string","x-mcp-header":"a\r\nb"})),
            property(json!({"type":"string","x-mcp-header":7})),
            property(json!({"type":"number","x-mcp-header":"A"})),
            property(json!({"type":"array","items":{"type":"string","x-mcp-header":"A"}})),
            property(json!({"anyOf":[{"type":"string","x-mcp-header":"A"}]})),
            json!({"type":"object","x-mcp-header":"A"}),
            json!({"type":"object","$defs":{"d":{"type":"string","x-mcp-header":"A"}}}),
            json!({"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}),
        ] {
            assert!(repeated(&schema).is_err(), "{schema}");
        }
    }
}
