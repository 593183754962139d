//! Dialects that take nearly all of JSON Schema: a schema is made correct, and else left alone.

use std::borrow::Cow;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::keywords::{TYPES, is_well_formed, modernise_bounds, step};
use super::names::shown;
use super::walk::{Place, Walk};

/// Keywords whose value is one schema.
const SCHEMA: &[&str] = &[
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalProperties",
];

impl Walk<'_> {
    pub(super) fn lenient(&mut self, schema: &Map<String, Value>, place: &Place) -> Value {
        let mut schema = schema.clone();
        modernise_bounds(&mut schema);
        let mut out = Map::new();
        for (keyword, value) in &schema {
            if let Some(kept) = self.lenient_keyword(keyword, value, place) {
                // A list of items is called by its modern name.
                let keyword = if keyword == "items" && value.is_array() { "prefixItems" } else { keyword };
                out.insert(keyword.to_owned(), kept);
            }
        }
        add_null(&schema, &mut out);
        if allows_arrays(&out) && !out.contains_key("items") {
            // OpenAI refuses a list that does not say of what.
            out.insert("items".to_owned(), json!({}));
        }
        Value::Object(out)
    }

    /// The value to write for one keyword; `None` to leave it out.
    fn lenient_keyword(&mut self, keyword: &str, value: &Value, place: &Place) -> Option<Value> {
        match keyword {
            "$ref" => self.lenient_reference(value, place),
            "type" => self.lenient_type(value, place),
            "properties" => Some(self.lenient_properties(value, place)),
            "required" => {
                let place = place.below(&["properties"]);
                let listed: IndexSet<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
                let required = listed.into_iter().map(|name| Value::from(self.shown_name(name, &place)));
                Some(required.collect())
            }
            "items" if value.is_array() => self.lenient_list(value, &place.below(&["items"])),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.lenient_list(value, &place.below(&[keyword])),
            "patternProperties" | "dependentSchemas" => {
                let place = place.below(&[keyword]);
                let entries = value.as_object()?.iter();
                let entries: Map<_, _> = entries
                    .map(|(key, schema)| (key.clone(), self.node(schema, &place.below(&[key]))))
                    .collect();
                Some(Value::Object(entries))
            }
            "additionalProperties" if value == &json!(true) || value == &json!({}) => None,
            "items" => Some(self.lenient_schema(value, &place.below(&["items"]))),
            _ if SCHEMA.contains(&keyword) => Some(self.lenient_schema(value, &place.below(&[keyword]))),
            "enum" => {
                let listed = value.as_array().is_some_and(|values| !values.is_empty());
                if !listed {
                    self.lose_keyword(place, keyword);
                }
                listed.then(|| value.clone())
            }
            "dependentRequired" if !self.rules.plain_names && is_well_formed(keyword, value) => {
                Some(value.clone())
            }
            "const" => Some(value.clone()),
            "minContains" | "maxContains" => is_well_formed(keyword, value).then(|| value.clone()),
            _ if !self.rules.keywords.contains(&keyword) => {
                if keyword != "nullable" {
                    self.lose_keyword(place, keyword);
                }
                None
            }
            _ if is_well_formed(keyword, value) => Some(value.clone()),
            _ => {
                self.lose(
                    &step(&place.path, keyword),
                    format!("`{keyword}` has a value of the wrong kind: left out"),
                );
                None
            }
        }
    }

    fn lenient_schema(&mut self, value: &Value, place: &Place) -> Value {
        if value == &json!(false) { value.clone() } else { self.node(value, place) }
    }

    fn lenient_list(&mut self, value: &Value, place: &Place) -> Option<Value> {
        let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?.iter().enumerate();
        let schemas = schemas.map(|(i, schema)| self.lenient_schema(schema, &place.below(&[&i.to_string()])));
        Some(Value::Array(schemas.collect()))
    }

    fn lenient_properties(&mut self, value: &Value, place: &Place) -> Value {
        let place = place.below(&["properties"]);
        let Some(properties) = value.as_object() else {
            self.lose(&place.path, "`properties` is not an object: left out");
            return json!({});
        };
        let mut entries = Map::new();
        for (name, schema) in properties {
            let shown = self.shown_name(name, &place).into_owned();
            let projected = self.lenient_schema(schema, &place.below(&[name]));
            entries.insert(shown, projected);
        }
        Value::Object(entries)
    }

    fn lenient_reference(&mut self, value: &Value, place: &Place) -> Option<Value> {
        let target = value.as_str().and_then(|reference| self.target(reference));
        let Some((pointer, _)) = target else {
            self.lose(&step(&place.path, "$ref"), "the reference leads nowhere in this document: left open");
            return None;
        };
        self.kept_reference(pointer).get("$ref").cloned()
    }

    fn lenient_type(&mut self, value: &Value, place: &Place) -> Option<Value> {
        let names = match value {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let mut known: Vec<&str> = Vec::new();
        for name in names.iter().filter_map(Value::as_str).filter(|name| TYPES.contains(name)) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        if known.len() < names.len() {
            self.lose(&step(&place.path, "type"), "a type that JSON Schema does not know: left out");
        }
        match known.as_slice() {
            [] => None,
            [one] => Some(json!(one)),
            many => Some(json!(many)),
        }
    }

    /// The name to show for a property.
    pub(super) fn shown_name<'n>(&mut self, name: &'n str, place: &Place) -> Cow<'n, str> {
        if !self.rules.plain_names {
            return Cow::Borrowed(name);
        }
        let shown = shown(name);
        if let Cow::Owned(shown) = &shown {
            self.lose(&step(&place.path, name), format!("the name is not allowed: called `{shown}`"));
        }
        shown
    }
}

/// OpenAPI 3.0 writes `nullable: true`.
fn add_null(schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    if schema.get("nullable") != Some(&Value::Bool(true)) {
        return;
    }
    if let Some(Value::String(name)) = out.get("type")
        && name != "null"
    {
        let types = json!([name, "null"]);
        out.insert("type".to_owned(), types);
    }
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

fn allows_arrays(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "array",
        Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
        _ => false,
    }
}
