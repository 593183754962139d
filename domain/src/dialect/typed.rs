//! Schemas of one type each, for dialects that want every schema plain.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::keywords::{
    is_constraint, is_irregular, is_of_type, is_well_formed, modernise_bounds, named_types, step, subject,
    types,
};
use super::rules::{Nulls, References};
use super::walk::{Place, Walk};

/// Keywords that other code writes, or that say nothing to a model.
const HANDLED: &[&str] = &[
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalProperties",
    "default",
    "description",
    "title",
    "examples",
];
/// Longest list that is put into a description.
const MAX_HINT: usize = 300;

/// The properties of an object that may be given.
type Properties<'s> = IndexMap<&'s String, &'s Value>;

impl Walk<'_> {
    /// Any schema of a dialect that is not lenient.
    pub(super) fn flat(&mut self, schema: &Map<String, Value>, place: &Place) -> Value {
        if self.rules.references == References::Kept
            && let Some(kept) = self.plain_reference(schema)
        {
            return kept;
        }
        let flat = self.flatten(schema, place);
        self.flat_schema(flat.schema, &flat.place)
    }

    /// A schema without `$ref` and `allOf`.
    pub(super) fn flat_schema(&mut self, schema: Map<String, Value>, place: &Place) -> Value {
        if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
            self.union(schema, place)
        } else {
            self.flat_single(schema, place)
        }
    }

    /// A schema without alternatives, of one type or several.
    pub(super) fn flat_single(&mut self, mut schema: Map<String, Value>, place: &Place) -> Value {
        modernise_bounds(&mut schema);
        let mut types = types(&schema);
        if schema.contains_key("type") && named_types(&schema).is_empty() {
            self.lose(&step(&place.path, "type"), "a type that JSON Schema does not know: left out");
        }
        let listed_null =
            schema.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&Value::Null));
        let nullable = types.contains(&"null") || listed_null || schema.get("nullable") == Some(&json!(true));
        types.retain(|name| *name != "null");
        let out = match types.as_slice() {
            [] if nullable && !schema.contains_key("nullable") => return self.null(&schema, place),
            [] => {
                for keyword in schema.keys().filter(|keyword| *keyword != "type") {
                    self.lose_keyword(place, keyword);
                }
                return self.anything(&schema, place);
            }
            [one] => self.typed(&schema, one, place),
            many if self.rules.type_lists && many.iter().all(|name| !matches!(*name, "object" | "array")) => {
                self.type_list(&schema, many, place)
            }
            many => return self.split_types(&schema, many, nullable, place),
        };
        if nullable { self.nullable(out) } else { out }
    }

    /// A reference with nothing beside it that constrains.
    fn plain_reference(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        let reference = schema.get("$ref").and_then(Value::as_str)?;
        let constrained = schema.keys().any(|keyword| keyword != "$ref" && is_constraint(keyword));
        let (pointer, target) = self.target(reference)?;
        (!constrained && target.is_object()).then(|| self.kept_reference(pointer))
    }

    fn typed(&mut self, schema: &Map<String, Value>, name: &'static str, place: &Place) -> Value {
        match name {
            "object" => self.object(schema, place),
            "array" => self.array(schema, place),
            _ => {
                let mut out = Map::from_iter([("type".to_owned(), json!(name))]);
                self.annotate(schema, &mut out);
                self.listed_values(schema, &[name], &mut out, place);
                self.constraints(schema, &[name], &mut out, place);
                Value::Object(out)
            }
        }
    }

    fn type_list(&mut self, schema: &Map<String, Value>, names: &[&'static str], place: &Place) -> Value {
        let mut out = Map::from_iter([("type".to_owned(), json!(names))]);
        self.annotate(schema, &mut out);
        self.listed_values(schema, names, &mut out, place);
        self.constraints(schema, names, &mut out, place);
        Value::Object(out)
    }

    fn object(&mut self, schema: &Map<String, Value>, place: &Place) -> Value {
        let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        // What may never be given needs no mention.
        let properties: Properties<'_> = named.filter(|(_, property)| **property != json!(false)).collect();
        let is_closed = schema.get("additionalProperties") == Some(&json!(false));
        let too_deep = place.objects >= self.rules.object_depth;
        if too_deep {
            self.lose(&place.path, "too many objects inside each other: not described any deeper");
        }
        let requires_any = schema
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(Value::is_string));
        let nothing_named = properties.is_empty() && !requires_any;
        let is_root = place.is_root;
        if !is_root
            && self.rules.free_form_as_text
            && (too_deep || (nothing_named && !(is_closed && self.rules.closed)))
        {
            return self.as_text(schema, "object", place);
        }
        let mut out = Map::from_iter([("type".to_owned(), json!("object"))]);
        self.annotate(schema, &mut out);
        if !too_deep && (!nothing_named || is_root || self.rules.closed) {
            self.properties(schema, &properties, &mut out, place);
        }
        self.additional(schema, &mut out, place);
        self.constraints(schema, &["object"], &mut out, place);
        Value::Object(out)
    }

    fn properties(
        &mut self,
        schema: &Map<String, Value>,
        properties: &Properties<'_>,
        out: &mut Map<String, Value>,
        place: &Place,
    ) {
        let listed: IndexSet<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let anything = json!(true);
        let mentioned: IndexSet<&str> = properties.keys().map(|name| name.as_str()).collect();
        let unnamed = listed.iter().filter(|name| !mentioned.contains(**name)).map(|name| (*name, &anything));
        let named = properties.iter().map(|(name, schema)| (name.as_str(), *schema));
        let mut inside = place.below(&["properties"]);
        inside.objects += 1;
        let (mut projected, mut required) = (Map::new(), Vec::new());
        for (name, property) in named.chain(unnamed) {
            let shown = self.shown_name(name, &inside).into_owned();
            let place = inside.below(&[name]);
            let mut one = self.node(property, &place);
            let is_required = listed.contains(name);
            if self.rules.closed && !is_required {
                one = self.nullable(one);
            } else if self.rules.nulls == Nulls::AnyOf && !is_required {
                one = self.without_null(one, &place);
            }
            if self.rules.closed || is_required {
                required.push(json!(shown));
            }
            self.properties += 1;
            self.text_bytes += name.len();
            projected.insert(shown, one);
        }
        out.insert("properties".to_owned(), Value::Object(projected));
        if self.rules.closed || !required.is_empty() {
            out.insert("required".to_owned(), Value::Array(required));
        }
    }

    /// What an object may hold beside its named properties.
    fn additional(&mut self, schema: &Map<String, Value>, out: &mut Map<String, Value>, place: &Place) {
        let Some(additional) = schema.get("additionalProperties").filter(|a| a.is_boolean() || a.is_object())
        else {
            if self.rules.closed {
                out.insert("additionalProperties".to_owned(), json!(false));
            }
            return;
        };
        let is_open = additional == &json!(true) || additional == &json!({});
        if self.rules.closed {
            if additional != &json!(false) {
                self.lose(
                    &step(&place.path, "additionalProperties"),
                    "properties that are not named cannot be given",
                );
            }
            out.insert("additionalProperties".to_owned(), json!(false));
        } else if is_open {
        } else if additional.is_boolean() && self.rules.may_close {
            out.insert("additionalProperties".to_owned(), json!(false));
        } else if additional.is_object() && self.rules.additional_schemas {
            let projected = self.node(additional, &place.below(&["additionalProperties"]));
            out.insert("additionalProperties".to_owned(), projected);
        } else {
            self.lose_keyword(place, "additionalProperties");
        }
    }

    fn array(&mut self, schema: &Map<String, Value>, place: &Place) -> Value {
        let mut out = Map::from_iter([("type".to_owned(), json!("array"))]);
        self.annotate(schema, &mut out);
        let listed =
            schema.get("prefixItems").or_else(|| schema.get("items").filter(|items| items.is_array()));
        let items = if let Some(Value::Array(listed)) = listed {
            self.lose(&place.path, "the order of the items is left out");
            let mut each = listed.clone();
            if let Some(rest @ Value::Object(_)) = schema.get("items") {
                each.push(rest.clone());
            }
            let place = place.below(&["prefixItems"]);
            self.node(&json!({"anyOf": each}), &place)
        } else {
            let items = schema.get("items").cloned().unwrap_or(json!(true));
            self.node(&items, &place.below(&["items"]))
        };
        out.insert("items".to_owned(), items);
        self.constraints(schema, &["array"], &mut out, place);
        Value::Object(out)
    }

    /// Asks for something that cannot be described as JSON text, which is read back before it is validated.
    fn as_text(&mut self, schema: &Map<String, Value>, what: &str, place: &Place) -> Value {
        self.lose(&place.path, format!("an {what} whose properties are not named: asked for as JSON text"));
        let mut out = Map::from_iter([("type".to_owned(), json!("string"))]);
        self.annotate(schema, &mut out);
        Self::hint(&mut out, &format!("A JSON {what}, written as JSON text."));
        Value::Object(out)
    }

    /// Title, description and, where it cannot be said otherwise, the default.
    pub(super) fn annotate(&self, schema: &Map<String, Value>, out: &mut Map<String, Value>) {
        for keyword in ["title", "description", "default", "examples"] {
            let said = |value: &&Value| !value.is_null() && is_well_formed(keyword, value);
            if let Some(value) = schema.get(keyword).filter(said)
                && self.rules.keywords.contains(&keyword)
            {
                out.insert(keyword.to_owned(), value.clone());
            }
        }
        if let Some(default) = schema.get("default").filter(|value| !value.is_null())
            && !self.rules.keywords.contains(&"default")
        {
            Self::hint(out, &format!("Default: {default}."));
        }
    }

    fn listed_values(
        &mut self,
        schema: &Map<String, Value>,
        names: &[&str],
        out: &mut Map<String, Value>,
        place: &Place,
    ) {
        let only = schema.get("const").map(std::slice::from_ref);
        let listed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        let Some(values) = only.or(listed) else {
            return;
        };
        let keyword = if only.is_some() { "const" } else { "enum" };
        let of_type = |value: &&Value| names.iter().any(|name| is_of_type(value, name));
        let fitting: Vec<&Value> = values.iter().filter(of_type).collect();
        let usable = !self.rules.text_enums
            || fitting.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()));
        let room = self
            .rules
            .totals
            .as_ref()
            .is_none_or(|totals| self.enum_values + fitting.len() <= totals.enum_values);
        if fitting.is_empty() || !usable || !room {
            self.lose(&step(&place.path, keyword), "the listed values are told in the description only");
            Self::hint(out, &format!("One of: {}.", json!(values)));
            return;
        }
        self.enum_values += fitting.len();
        self.text_bytes += fitting.iter().filter_map(|value| value.as_str()).map(str::len).sum::<usize>();
        out.insert("enum".to_owned(), json!(fitting));
    }

    /// Keywords that hold no schema; what the dialect does not have is noted.
    fn constraints(
        &mut self,
        schema: &Map<String, Value>,
        names: &[&str],
        out: &mut Map<String, Value>,
        place: &Place,
    ) {
        for (keyword, value) in schema {
            if HANDLED.contains(&keyword.as_str()) {
                continue;
            }
            let concerns = subject(keyword)
                .is_none_or(|of| names.contains(&of) || (of == "number" && names.contains(&"integer")));
            if !concerns {
                continue;
            }
            let is_format = |formats: &[&str]| value.as_str().is_some_and(|format| formats.contains(&format));
            let accepted = self.rules.keywords.contains(&keyword.as_str())
                && is_well_formed(keyword, value)
                && (keyword != "format" || self.rules.formats.is_none_or(is_format))
                && (keyword != "pattern"
                    || !self.rules.regular_patterns
                    || !value.as_str().is_some_and(is_irregular));
            if accepted {
                out.insert(keyword.clone(), value.clone());
            } else {
                self.lose_keyword(place, keyword);
            }
        }
    }

    /// Says in the description what the schema cannot.
    fn hint(out: &mut Map<String, Value>, hint: &str) {
        if hint.len() > MAX_HINT {
            return;
        }
        let description = match out.get("description").and_then(Value::as_str) {
            Some(text) if text.ends_with(['.', '!', '?', '。']) => format!("{text} {hint}"),
            Some(text) if !text.is_empty() => format!("{text}. {hint}"),
            _ => hint.to_owned(),
        };
        out.insert("description".to_owned(), json!(description));
    }
}
