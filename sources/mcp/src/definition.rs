//! A tool's definition as a server gives it: kept raw, read one by one, so that a bad one harms no other.

use crate::{
    client::headers::{self, ParamHeader},
    scan::{self, Flag},
};
use domain::{Annotations, Schema, schema::canonical_json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The longest name of a tool, in bytes.
const MAX_NAME: usize = 128;
/// The largest definition, in bytes of JSON.
const MAX_DEFINITION: usize = 1024 * 1024;
/// The fields of a definition that a model or a person is guided by.
const MEANING: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// A tool that was listed and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Skipped {
    /// Its name, or its place in the list where it has none.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What is stored of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredTool {
    /// The definition in use, as it came.
    pub(crate) definition: Value,
    /// Its hash.
    pub(crate) hash: String,
    /// What is suspicious in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flags: Vec<Flag>,
    /// The server has changed it, and nobody has approved that yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<Pending>,
    /// The server does not list it any more. It is remembered, so that it cannot come back as another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) removed: bool,
}

/// A definition that waits for approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) definition: Value,
    pub(crate) hash: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flags: Vec<Flag>,
}

/// A definition, understood.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) args_schema: Schema,
    pub(crate) output_schema: Option<Schema>,
    /// What the server claims about the tool's behaviour.
    pub(crate) claimed: Annotations,
    /// The arguments that are repeated in headers.
    pub(crate) repeated: Vec<ParamHeader>,
}

impl StoredTool {
    /// A tool in use from now on.
    pub(crate) fn new(definition: Value) -> Self {
        Self {
            hash: hash(&definition),
            flags: scan::scan(&definition),
            definition,
            pending: None,
            removed: false,
        }
    }
}

impl Definition {
    /// Reads a definition; says what is wrong where it cannot be used.
    pub(crate) fn read(raw: &Value) -> Result<Self, String> {
        let Value::Object(map) = raw else {
            return Err("it is not an object".to_owned());
        };
        let name = read_name(map)?;
        let size = serde_json::to_vec(raw).map_or(usize::MAX, |bytes| bytes.len());
        if size > MAX_DEFINITION {
            return Err(format!("it has {size} bytes; at most {MAX_DEFINITION} are taken"));
        }
        let args_schema = match map.get("inputSchema") {
            Some(schema @ Value::Object(_)) => schema,
            Some(other) => return Err(format!("its `inputSchema` is {}, not an object", kind_of(other))),
            None => return Err("it has no `inputSchema`".to_owned()),
        };
        match args_schema.get("type") {
            None => {}
            Some(Value::String(kind)) if kind == "object" => {}
            Some(other) => return Err(format!("its `inputSchema` is of type {other}, not \"object\"")),
        }
        let repeated = headers::repeated(args_schema)?;
        let annotations = map.get("annotations");
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let title = text(map.get("title")).or_else(|| text(annotations.and_then(|a| a.get("title"))));
        Ok(Self {
            title: title.filter(|t| !t.trim().is_empty()).unwrap_or_else(|| name.clone()),
            description: text(map.get("description")).unwrap_or_default(),
            args_schema: Schema::new(args_schema.clone()),
            // A broken output schema spoils nothing but itself.
            output_schema: map
                .get("outputSchema")
                .filter(|schema| schema.is_object())
                .map(|schema| Schema::new(schema.clone())),
            claimed: claimed(annotations),
            repeated,
            name,
        })
    }
}

fn read_name(map: &Map<String, Value>) -> Result<String, String> {
    let name = match map.get("name") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(format!("its name is {}, not a text", kind_of(other))),
        None => return Err("it has no name".to_owned()),
    };
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("its name has {} bytes; 1 to {MAX_NAME} are taken", name.len()));
    }
    if name.chars().any(char::is_control) {
        return Err("its name contains control characters".to_owned());
    }
    Ok(name.clone())
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What the hints say, where they say anything; the protocol's defaults otherwise.
fn claimed(annotations: Option<&Value>) -> Annotations {
    let hint = |name: &str, default: bool| {
        annotations.and_then(|a| a.get(name)).and_then(Value::as_bool).unwrap_or(default)
    };
    let read_only = hint("readOnlyHint", false);
    Annotations {
        read_only,
        destructive: !read_only && hint("destructiveHint", true),
        idempotent: hint("idempotentHint", false),
        open_world: hint("openWorldHint", true),
    }
}

/// A hash of what a definition means; it does not depend on the order of keys or on how it looks.
pub(crate) fn hash(definition: &Value) -> String {
    let meaning: Map<String, Value> = MEANING
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), definition.get(field)?.clone())))
        .collect();
    hex::encode(Sha256::digest(canonical_json(&Value::Object(meaning))))
}

/// Which fields of the meaning differ.
pub(crate) fn changed_fields(old: &Value, new: &Value) -> Vec<String> {
    let text = |definition: &Value, field: &str| definition.get(field).map(canonical_json);
    MEANING
        .iter()
        .filter(|field| text(old, field) != text(new, field))
        .map(|field| (*field).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn malformed_definitions_say_what_is_wrong() {
        for (raw, part) in [
            (json!([]), "not an object"),
            (json!({"inputSchema":{}}), "no name"),
            (json!({"name":7,"inputSchema":{}}), "a number"),
            (json!({"name":"","inputSchema":{}}), "0 bytes"),
            (json!({"name":"a\u{7}","inputSchema":{}}), "control"),
            (json!({"name":"a"}), "no `inputSchema`"),
            (json!({"name":"a","inputSchema":null}), "null"),
            (json!({"name":"a","inputSchema":true}), "a boolean"),
            (json!({"name":"a","inputSchema":{"type":"array"}}), "\"array\""),
            (json!({"name":"a","inputSchema":{"type":"object","x-mcp-header":"A"}}), "x-mcp-header"),
        ] {
            let reason = Definition::read(&raw).unwrap_err();
            assert!(reason.contains(part), "{raw}: {reason}");
        }
    }

    #[test]
    fn what_is_broken_beside_the_point_is_overlooked() {
        let raw = json!({"name":"a","inputSchema":{"type":"object"},"outputSchema":[],"annotations":7,"icons":"x","title":3});
        let read = Definition::read(&raw).unwrap();
        assert_eq!((read.title.as_str(), read.output_schema), ("a", None));
        assert_eq!(read.claimed, Annotations::default());
    }

    #[test]
    fn a_hash_depends_on_the_meaning_alone() {
        let one = json!({"name":"a","description":"d","inputSchema":{"type":"object","a":1},"icons":[1],"_meta":{"n":1}});
        let same = json!({"inputSchema":{"a":1,"type":"object"},"description":"d","name":"a"});
        let other = json!({"name":"a","description":"d!","inputSchema":{"type":"object","a":1}});
        assert_eq!(hash(&one), hash(&same));
        assert_ne!(hash(&one), hash(&other));
        assert_eq!(changed_fields(&one, &other), ["description"]);
    }
}
