//! The providers' rules, written down a second time and apart from the code that follows them.

use domain::dialect::Dialect;
use serde_json::{Map, Value};

/// What `dialect` would refuse in `schema`.
pub(crate) fn problems(dialect: Dialect, schema: &Value) -> Vec<String> {
    let mut check = Check { dialect, root: schema, problems: Vec::new() };
    check.root();
    check.node(schema, "", true);
    check.problems
}

struct Check<'a> {
    dialect: Dialect,
    root: &'a Value,
    problems: Vec<String>,
}

impl Check<'_> {
    fn require(&mut self, holds: bool, path: &str, what: &str) {
        if !holds {
            self.problems.push(format!("{path}: {what}"));
        }
    }

    fn root(&mut self) {
        let root = self.root;
        self.require(root["type"] == "object", "", "the top level is an object");
        self.require(root["properties"].is_object(), "", "the top level has properties");
        for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "if", "$ref"] {
            self.require(root.get(keyword).is_none(), "", keyword);
        }
        if self.dialect == Dialect::Bedrock {
            let extra = root
                .as_object()
                .unwrap()
                .keys()
                .find(|k| !["type", "properties", "required"].contains(&k.as_str()));
            self.require(extra.is_none(), "", "nothing else at the top level");
        }
        if self.dialect != Dialect::Gemini {
            self.require(jsonschema::meta::is_valid(root), "", "is JSON Schema 2020-12");
        }
    }

    fn node(&mut self, schema: &Value, path: &str, is_root: bool) {
        let Some(map) = schema.as_object() else {
            let lenient = matches!(self.dialect, Dialect::OpenAi | Dialect::Anthropic);
            let closes = path.ends_with("/additionalProperties") && schema == &Value::Bool(false);
            self.require(schema.is_boolean() && (lenient || closes), path, "a schema is an object");
            return;
        };
        self.reference(map, path);
        self.names(map, path);
        if is_array(map) {
            self.require(map.contains_key("items"), path, "a list says of what");
        }
        match self.dialect {
            Dialect::OpenAiStrict => self.strict(map, path),
            Dialect::Gemini => self.gemini(map, path, is_root),
            Dialect::Qwen | Dialect::Moonshot => self.typed(map, path),
            _ => {}
        }
        for (path, child) in children(map, path) {
            self.node(child, &path, false);
        }
    }

    fn reference(&mut self, map: &Map<String, Value>, path: &str) {
        let Some(reference) = map.get("$ref") else {
            return;
        };
        let kept = !matches!(self.dialect, Dialect::Gemini | Dialect::Bedrock | Dialect::Qwen);
        self.require(kept, path, "no references");
        let pointer = reference.as_str().and_then(|r| r.strip_prefix('#')).unwrap_or("?");
        let leads = pointer.starts_with("/$defs/") && self.root.pointer(pointer).is_some();
        self.require(leads, path, "a reference leads to a definition");
        if matches!(self.dialect, Dialect::OpenAiStrict | Dialect::Moonshot) {
            self.require(map.len() == 1, path, "nothing beside a reference");
        }
    }

    fn names(&mut self, map: &Map<String, Value>, path: &str) {
        if !matches!(self.dialect, Dialect::Anthropic | Dialect::Bedrock) {
            return;
        }
        let plain = |name: &String| {
            !name.is_empty()
                && name.len() <= 64
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        };
        let properties = map.get("properties").and_then(Value::as_object);
        let bad = properties.and_then(|properties| properties.keys().find(|name| !plain(name)));
        self.require(bad.is_none(), path, "plain names");
    }

    fn keywords(&mut self, map: &Map<String, Value>, path: &str, allowed: &[&str]) {
        for keyword in map.keys() {
            self.require(allowed.contains(&keyword.as_str()), path, keyword);
        }
    }

    fn strict(&mut self, map: &Map<String, Value>, path: &str) {
        self.keywords(
            map,
            path,
            &[
                "$defs",
                "$ref",
                "additionalProperties",
                "anyOf",
                "description",
                "enum",
                "exclusiveMaximum",
                "exclusiveMinimum",
                "format",
                "items",
                "maxItems",
                "maximum",
                "minItems",
                "minimum",
                "multipleOf",
                "pattern",
                "properties",
                "required",
                "title",
                "type",
            ],
        );
        let says = ["type", "anyOf", "$ref"].iter().any(|keyword| map.contains_key(*keyword));
        self.require(says, path, "a type");
        if map.get("type") == Some(&Value::from("object")) {
            self.require(map.get("additionalProperties") == Some(&Value::Bool(false)), path, "closed");
            let names: Vec<&String> = map["properties"].as_object().unwrap().keys().collect();
            let required: Vec<&str> =
                map["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            self.require(names == required, path, "all required");
        }
    }

    fn gemini(&mut self, map: &Map<String, Value>, path: &str, is_root: bool) {
        self.keywords(
            map,
            path,
            &[
                "anyOf",
                "description",
                "enum",
                "format",
                "items",
                "maxItems",
                "maxLength",
                "maxProperties",
                "maximum",
                "minItems",
                "minLength",
                "minProperties",
                "minimum",
                "nullable",
                "pattern",
                "properties",
                "required",
                "title",
                "type",
            ],
        );
        if map.contains_key("anyOf") {
            self.require(map.len() == 1, path, "an anyOf stands alone");
            return;
        }
        self.require(map.get("type").is_some_and(Value::is_string), path, "one type");
        self.gemini_values(map, path);
        if map["type"] == "object" && !is_root {
            let properties = map.get("properties").and_then(Value::as_object);
            self.require(properties.is_some_and(|p| !p.is_empty()), path, "objects name properties");
        }
        for name in map.get("required").and_then(Value::as_array).into_iter().flatten() {
            let named = map.get("properties").and_then(|p| p.get(name.as_str().unwrap())).is_some();
            self.require(named, path, "what is required is described");
        }
    }

    fn gemini_values(&mut self, map: &Map<String, Value>, path: &str) {
        if let Some(values) = map.get("enum").and_then(Value::as_array) {
            self.require(map["type"] == "string", path, "enums are texts");
            let texts = values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()));
            self.require(texts && !values.is_empty(), path, "enum values are texts that are not empty");
        }
        if let Some(format) = map.get("format") {
            self.require(format == "date-time", path, "format");
        }
    }

    fn typed(&mut self, map: &Map<String, Value>, path: &str) {
        for keyword in ["allOf", "oneOf", "not", "if", "then", "else", "const"] {
            self.require(!map.contains_key(keyword), path, keyword);
        }
        if map.contains_key("$ref") {
            return;
        }
        if let Some(branches) = map.get("anyOf").and_then(Value::as_array) {
            self.require(!map.contains_key("type"), path, "no type beside anyOf");
            let typed = |branch: &Value| branch.get("type").is_some() || branch.get("$ref").is_some();
            self.require(branches.iter().all(typed), path, "types in the alternatives");
        } else {
            self.require(map.get("type").is_some_and(Value::is_string), path, "one type");
        }
    }
}

fn is_array(map: &Map<String, Value>) -> bool {
    match map.get("type") {
        Some(Value::Array(names)) => names.contains(&Value::from("array")),
        Some(name) => name == "array",
        None => false,
    }
}

fn children<'s>(map: &'s Map<String, Value>, path: &str) -> Vec<(String, &'s Value)> {
    let mut found = Vec::new();
    for (keyword, value) in map {
        let here = format!("{path}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "patternProperties" | "dependentSchemas", Value::Object(entries)) => {
                found.extend(entries.iter().map(|(name, child)| (format!("{here}/{name}"), child)));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(entries)) => {
                found.extend(entries.iter().enumerate().map(|(i, child)| (format!("{here}/{i}"), child)));
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                child,
            ) => found.push((here, child)),
            _ => {}
        }
    }
    found
}
