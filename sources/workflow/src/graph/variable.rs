//! Variables: how a node declares what it takes and gives, and where a value comes from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// The longest description that is kept, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// A named, typed value that a node takes or gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name: `^[A-Za-z_][A-Za-z0-9_-]*$`, unique in its list.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: VarType,
    /// Whether the node cannot do without it.
    #[serde(default = "yes")]
    pub required: bool,
    /// What it is, for people and models.
    #[serde(default)]
    pub description: String,
    /// Where its value comes from.
    #[serde(default)]
    pub value: VarValue,
    /// The only values it may have, if there is such a list.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// A JSON Schema of its inside, for objects and arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// What a node type wants to know besides, such as `type` of an HTTP request's input.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

const fn yes() -> bool {
    true
}

/// The types of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VarType {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// Any number.
    Float,
    /// True or false.
    Boolean,
    /// An object.
    Object,
    /// A list.
    Array,
    /// An object with the `uri` of a document, and its `name` and `mime_type` where known.
    File,
}

/// Where a variable's value comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum VarValue {
    /// Another node's output.
    Ref {
        /// Which.
        content: VarRef,
    },
    /// What stands here.
    Literal {
        /// The value.
        content: Value,
    },
    /// The node itself, or its caller, makes it.
    #[default]
    Generated,
}

/// An output of another node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarRef {
    /// The node's id.
    pub ref_node_id: String,
    /// The output's name.
    pub ref_var_name: String,
    /// A JSON pointer into the output, such as `/items/0`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
}

impl Variable {
    /// The value of an optional variable that nobody gave: its literal, else its type's empty value.
    pub fn absent_value(&self) -> Value {
        match &self.value {
            VarValue::Literal { content } if !content.is_null() => content.clone(),
            _ => self.kind.empty_value(),
        }
    }

    /// The variable as a JSON Schema.
    pub fn json_schema(&self) -> Value {
        let mut schema = self.kind.json_schema();
        if let Some(inside) = &self.schema {
            schema.extend(inside.clone());
        }
        if !self.description.is_empty() {
            let text: String = self.description.chars().take(MAX_DESCRIPTION).collect();
            schema.insert("description".into(), text.into());
        }
        if !self.allowed.is_empty() {
            schema.insert("enum".into(), self.allowed.clone().into());
        }
        if let VarValue::Literal { content } = &self.value
            && !content.is_null()
        {
            schema.insert("default".into(), content.clone());
        }
        Value::Object(schema)
    }
}

/// The JSON Schema of an object with these variables as its members.
pub fn object_schema(variables: &[Variable]) -> Value {
    let properties: Map<String, Value> =
        variables.iter().map(|v| (v.name.clone(), v.json_schema())).collect();
    let required: Vec<&str> = variables.iter().filter(|v| v.required).map(|v| v.name.as_str()).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

impl VarType {
    /// The type's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::File => "file",
        }
    }

    /// Whether a variable of this type takes an output of `from`; `None` is an output of any type.
    pub fn takes(self, from: Option<Self>) -> bool {
        match from {
            None => true,
            Some(from) => {
                from == self || matches!((self, from), (Self::Float, Self::Int) | (Self::Object, Self::File))
            }
        }
    }

    /// What stands for nothing.
    pub fn empty_value(self) -> Value {
        match self {
            Self::String => json!(""),
            Self::Int => json!(0),
            Self::Float => json!(0.0),
            Self::Boolean => json!(false),
            Self::Object => json!({}),
            Self::Array => json!([]),
            Self::File => Value::Null,
        }
    }

    /// The value as this type, or what it is instead. A text is made of anything; nothing else is guessed.
    pub fn coerce(self, value: Value) -> Result<Value, &'static str> {
        match (self, value) {
            (Self::String, value @ Value::String(_))
            | (Self::Boolean, value @ Value::Bool(_))
            | (Self::Object, value @ Value::Object(_))
            | (Self::Array, value @ Value::Array(_))
            | (Self::Float, value @ Value::Number(_)) => Ok(value),
            (Self::String, value) => Ok(Value::String(value.to_string())),
            (Self::Int, Value::Number(number)) => whole(&number).ok_or("a number that is not whole"),
            (Self::File, Value::Object(file)) if file.get("uri").is_some_and(Value::is_string) => {
                Ok(Value::Object(file))
            }
            (_, other) => Err(describe(&other)),
        }
    }

    fn json_schema(self) -> Map<String, Value> {
        let schema = match self {
            Self::String => json!({"type": "string"}),
            Self::Int => json!({"type": "integer"}),
            Self::Float => json!({"type": "number"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Object => json!({"type": "object"}),
            Self::Array => json!({"type": "array"}),
            Self::File => json!({
                "type": "object",
                "properties": {
                    "uri": {"type": "string"}, "name": {"type": "string"}, "mime_type": {"type": "string"}
                },
                "required": ["uri"]
            }),
        };
        match schema {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

/// A number as a whole one, where it is one.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(number: &serde_json::Number) -> Option<Value> {
    /// The largest whole number up to which a float holds every one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(Value::Number(number.clone()));
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| json!(float as i64))
}

/// What kind of JSON a value is.
pub fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl fmt::Display for VarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
