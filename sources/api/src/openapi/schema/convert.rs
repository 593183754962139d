//! One schema of any dialect to one of 2020-12: what stays, what is rewritten, what goes.

use super::{
    Draft, MAX_DEPTH, Mode, Schemas, is_annotation, keywords, poses_as_reference,
    types::{TypeReading, Types, coerced, enumeration},
};
use crate::{
    compile::{
        report_parts::json_bytes,
        text::{MAX_FIELD_TEXT, as_flag, description, flag, kind_of, text_of},
    },
    openapi::doc::{At, reference_of},
    report::WarningCode,
};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The largest default that is kept, in bytes of JSON, and the longest example, in characters.
const MAX_DEFAULT: usize = 200;
const MAX_EXAMPLE: usize = 64;

impl<'d> Schemas<'d> {
    /// A schema below `at`.
    pub(super) fn schema(
        &mut self,
        source: &'d Value,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
    ) -> Value {
        if !self.spend(at, draft) {
            return json!({});
        }
        if depth > MAX_DEPTH {
            let message =
                format!("The schema nests deeper than {MAX_DEPTH} levels: what is below is not checked.");
            draft.warn(WarningCode::SchemaCut, at, message);
            return json!({});
        }
        match source {
            Value::Object(map) if reference_of(source).is_some() => self.reference(map, at, depth, draft),
            Value::Object(map) => self.object(map, at, depth, draft),
            Value::Bool(true) => json!({}),
            Value::Bool(false) => json!({"not": {}}),
            other => {
                let message = format!("A schema is {}; anything is accepted there.", kind_of(other));
                draft.warn(WarningCode::Repaired, at, message);
                json!({})
            }
        }
    }

    /// `$ref` with what stands beside it: in 3.1 everything counts, before it only what describes.
    fn reference(
        &mut self,
        map: &'d Map<String, Value>,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
    ) -> Value {
        let reference = text_of(map, "$ref");
        let id = match self.part_of(reference, draft.mode) {
            Ok(id) => id,
            Err(problem) if depth == 0 => {
                draft.fail(problem.into_reason(at.name("$ref")));
                return json!({});
            }
            Err(problem) => {
                // Deep inside, one part that is not there is no reason to give up the rest.
                let message = format!("{} Anything is accepted there.", problem.message);
                draft.warn(WarningCode::UnresolvedPart, &at.name("$ref"), message);
                return json!({});
            }
        };
        draft.refs.push(id);
        let mut out = Map::new();
        out.insert("$ref".into(), json!(id));
        if self.doc.dialect == crate::normal::Dialect::OpenApi31 {
            self.keywords(map, TypeReading::of(map), at, depth, draft, &mut out);
        } else {
            Self::annotations(map, &mut out);
        }
        let nullable = flag(map.get("nullable")) || flag(map.get("x-nullable"));
        Value::Object(if nullable { or_null(out) } else { out })
    }

    fn object(
        &mut self,
        map: &'d Map<String, Value>,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
    ) -> Value {
        let mut reading = TypeReading::of(map);
        if reading.unknown {
            draft.warn(WarningCode::KeywordIgnored, at, "A type that JSON Schema does not know is ignored.");
        } else if reading.repaired {
            draft.warn(WarningCode::Repaired, at, "A type is written in a way JSON Schema does not know.");
        }
        let format = text_of(map, "format");
        reading.file |= format == "binary" && reading.types.has(Types::STRING);
        let mut out = Map::new();
        if !reading.types.is_empty() {
            out.insert("type".into(), reading.types.value());
        }
        if reading.file || keywords::is_encoded_file(map, reading.types) {
            out.insert("contentEncoding".into(), "base64".into());
        } else if !format.is_empty() && text_of(map, "type") != format {
            out.insert("format".into(), format.into());
            if format == "byte" {
                out.insert("contentEncoding".into(), "base64".into());
            }
        }
        self.keywords(map, reading, at, depth, draft, &mut out);
        // Where a type is named it says `null` itself.
        let add_null = reading.nullable && reading.types.is_empty();
        Value::Object(if add_null { or_null(out) } else { out })
    }

    /// All keywords but `$ref`, `type`, `format`.
    fn keywords(
        &mut self,
        map: &'d Map<String, Value>,
        reading: TypeReading,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
        out: &mut Map<String, Value>,
    ) {
        Self::annotations(map, out);
        for (key, value) in map {
            let at = at.name(key);
            match key.as_str() {
                "enum" | "const" if poses_as_reference(value) => {
                    draft.warn(
                        WarningCode::KeywordIgnored,
                        &at,
                        "Values that look like references are ignored.",
                    );
                }
                "enum" => match value.as_array().and_then(|values| enumeration(values, reading)) {
                    Some(values) => drop(out.insert("enum".into(), values.into())),
                    None => draft.warn(
                        WarningCode::KeywordIgnored,
                        &at,
                        "An enum without usable values is ignored.",
                    ),
                },
                "const" => drop(out.insert("const".into(), value.clone())),
                "pattern" => self.pattern(value, &at, draft, out),
                "properties" => self.properties(map, &at, depth, draft, out),
                "items" => self.items(map, value, &at, depth, draft, out),
                "prefixItems" => {
                    let items = self.list(value, &at, depth, draft);
                    if !items.is_empty() {
                        out.insert("prefixItems".into(), items.into());
                    }
                }
                "patternProperties" => self.pattern_properties(value, &at, depth, draft, out),
                "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
                    let converted = match as_flag(Some(value)) {
                        Some(flag) => flag.into(),
                        None => self.schema(value, &at, depth + 1, draft),
                    };
                    out.insert(key.clone(), converted);
                }
                "not" | "contains" | "propertyNames" | "if" | "then" | "else" if value.is_object() => {
                    let converted = self.schema(value, &at, depth + 1, draft);
                    out.insert(key.clone(), converted);
                }
                _ => keywords::simple(key, value, map, &at, draft, out),
            }
        }
        self.required(map, at, draft, out);
        self.combine(map, reading, at, depth, draft, out);
    }

    fn annotations(map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let said = text_of(map, "description");
        // Titles are mostly the name once more; one of several words may be all that is said.
        let said = if said.trim().is_empty() {
            Some(text_of(map, "title")).filter(|t| t.trim().contains(' '))
        } else {
            Some(said)
        };
        if let Some(said) = said {
            out.insert("description".into(), description(said, MAX_FIELD_TEXT).into());
        }
        if flag(map.get("deprecated")) {
            out.insert("deprecated".into(), true.into());
        }
        let types = TypeReading::of(map).types;
        let default = map.get("default").filter(|d| !d.is_null()).map(|d| coerced(d, types));
        if let Some(default) = default.filter(|d| types.fit(d))
            && json_bytes(&default) <= MAX_DEFAULT
            && !poses_as_reference(&default)
        {
            out.insert("default".into(), default);
        }
        let example = map.get("example").or_else(|| map.get("examples")?.as_array()?.first());
        if let Some(example) = example.filter(|e| keywords::is_short(e, MAX_EXAMPLE) && types.fit(e))
            && !map.contains_key("enum")
        {
            out.insert("examples".into(), json!([example]));
        }
    }

    fn properties(
        &mut self,
        map: &'d Map<String, Value>,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
        out: &mut Map<String, Value>,
    ) {
        let Some(properties) = map.get("properties").and_then(Value::as_object) else {
            draft.warn(WarningCode::KeywordIgnored, at, "`properties` is not an object and is ignored.");
            return;
        };
        let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
        let mut converted = Map::with_capacity(properties.len());
        for (name, schema) in properties {
            if self.is_hidden(schema, draft.mode) {
                continue;
            }
            let at = at.name(name);
            let value = match schema {
                Value::Null => json!({}),
                // What must be given has to be known.
                schema if required.contains(name.as_str()) => self.schema_or_fail(schema, &at, depth, draft),
                schema => self.schema(schema, &at, depth + 1, draft),
            };
            converted.insert(name.clone(), value);
        }
        out.insert("properties".into(), converted.into());
    }

    fn schema_or_fail(
        &mut self,
        schema: &'d Value,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
    ) -> Value {
        let unresolved = reference_of(schema).and_then(|r| self.doc.resolve(r).err());
        match unresolved {
            Some(problem) => {
                draft.fail(problem.into_reason(at.name("$ref")));
                json!({})
            }
            None => self.schema(schema, at, depth + 1, draft),
        }
    }

    /// `required`, without what is hidden on this side of the wire, and with what says so of itself.
    fn required(
        &mut self,
        map: &'d Map<String, Value>,
        at: &At<'_>,
        draft: &mut Draft<'_>,
        out: &mut Map<String, Value>,
    ) {
        let properties = map.get("properties").and_then(Value::as_object);
        let listed =
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let marked = properties
            .into_iter()
            .flatten()
            .filter(|(_, schema)| schema.get("required") == Some(&true.into()));
        let mut seen = HashSet::new();
        let names: Vec<&str> =
            listed.chain(marked.map(|(name, _)| name.as_str())).filter(|n| seen.insert(*n)).collect();
        if names.is_empty() {
            return;
        }
        let closed = as_flag(map.get("additionalProperties")) == Some(false);
        let mut required: Vec<Value> = Vec::with_capacity(names.len());
        for name in names {
            let schema = properties.and_then(|p| p.get(name));
            match schema {
                Some(schema) if self.is_hidden(schema, draft.mode) => {}
                None if closed && !map.contains_key("patternProperties") => {
                    let message = format!(
                        "`{name}` is required but not described, and nothing undescribed is allowed."
                    );
                    draft.warn(WarningCode::Repaired, at, message);
                }
                _ => required.push(name.into()),
            }
        }
        if !required.is_empty() {
            out.insert("required".into(), required.into());
        }
    }

    /// Whether a property is not there on this side of the wire.
    pub(super) fn is_hidden(&mut self, schema: &'d Value, mode: Mode) -> bool {
        let key = match mode {
            Mode::Request => "readOnly",
            Mode::Response => "writeOnly",
        };
        let Value::Object(map) = schema else { return false };
        if let Some(own) = as_flag(map.get(key)) {
            return own;
        }
        if let Some(reference) = reference_of(schema) {
            let target = self.doc.resolve(reference).ok();
            return target.is_some_and(|t| flag(t.value.get(key)));
        }
        let branches = map.get("allOf").and_then(Value::as_array);
        branches.is_some_and(|list| list.iter().any(|branch| flag(branch.get(key))))
    }

    fn items(
        &mut self,
        map: &'d Map<String, Value>,
        value: &'d Value,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
        out: &mut Map<String, Value>,
    ) {
        if !value.is_array() {
            let items = self.schema(value, at, depth + 1, draft);
            out.insert("items".into(), items);
            return;
        }
        let items = self.list(value, at, depth, draft);
        if !items.is_empty() {
            out.insert("prefixItems".into(), items.into());
        }
        if let Some(more) = map.get("additionalItems") {
            let more = self.schema(more, at, depth + 1, draft);
            out.insert("items".into(), more);
        }
    }

    fn pattern_properties(
        &mut self,
        value: &'d Value,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
        out: &mut Map<String, Value>,
    ) {
        let mut converted = Map::new();
        for (pattern, schema) in value.as_object().into_iter().flatten() {
            let at = at.name(pattern);
            if self.is_pattern(pattern) {
                let schema = self.schema(schema, &at, depth + 1, draft);
                converted.insert(pattern.clone(), schema);
            } else {
                draft.warn(
                    WarningCode::PatternDropped,
                    &at,
                    "A pattern for names is not usable and is ignored.",
                );
            }
        }
        if !converted.is_empty() {
            out.insert("patternProperties".into(), converted.into());
        }
    }

    fn pattern(&mut self, value: &Value, at: &At<'_>, draft: &mut Draft<'_>, out: &mut Map<String, Value>) {
        let Some(written) = value.as_str() else {
            draft.warn(WarningCode::PatternDropped, at, "A pattern that is not a text is ignored.");
            return;
        };
        let pattern = keywords::without_slashes(written);
        if pattern.is_empty() {
            return;
        }
        if self.is_pattern(pattern) {
            out.insert("pattern".into(), pattern.into());
        } else {
            let shown = crate::compile::text::trimmed(pattern, 80);
            let message =
                format!("The pattern `{shown}` is not a regular expression we can check; it is left out.");
            draft.warn(WarningCode::PatternDropped, at, message);
        }
    }

    /// The schemas of a list.
    pub(super) fn list(
        &mut self,
        value: &'d Value,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
    ) -> Vec<Value> {
        let list = value.as_array().into_iter().flatten().enumerate();
        list.map(|(i, schema)| self.schema(schema, &at.index(i), depth + 1, draft)).collect()
    }
}

/// The schema, or null. What describes stays outside.
pub(super) fn or_null(mut map: Map<String, Value>) -> Map<String, Value> {
    for choice in ["anyOf", "oneOf"] {
        if let Some(Value::Array(list)) = map.get_mut(choice) {
            let null = json!({"type": "null"});
            if !list.contains(&null) {
                list.push(null);
            }
            return map;
        }
    }
    let (outside, inside): (Map<_, _>, Map<_, _>) = map.into_iter().partition(|(key, _)| is_annotation(key));
    // Without anything that refuses null there is nothing to add.
    if !inside.contains_key("$ref") && !inside.contains_key("allOf") {
        return inside.into_iter().chain(outside).collect();
    }
    let mut out = Map::new();
    out.insert("anyOf".into(), json!([inside, {"type": "null"}]));
    out.extend(outside);
    out
}
