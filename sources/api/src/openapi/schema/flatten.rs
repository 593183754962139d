//! What a body's fields are, where it is a plain object: the fields of its parts put together.

use super::{Schemas, is_annotation, part_number};
use crate::{
    compile::args::Fields,
    openapi::doc::{Doc, reference_of},
};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// How deep parts are looked into, and how many of them.
const MAX_DEPTH: usize = 8;
const MAX_PARTS: usize = 500;
/// How many fields may stand beside each other as arguments.
const MAX_FIELDS: usize = 500;

impl<'d> Schemas<'d> {
    /// The fields of a converted schema that is a plain object; `None` where it is anything else. `source` is
    /// what it was converted from.
    pub(in crate::openapi) fn fields(&mut self, converted: &Value, source: &'d Value) -> Option<Fields> {
        let mut found = Collected::default();
        self.collect(converted, 0, &mut found)?;
        let Collected { mut fields, is_object, .. } = found;
        if !is_object || fields.properties.is_empty() {
            return None;
        }
        // One part may require what another hides.
        let hidden: HashSet<String> = self.hidden_names(source);
        fields.required.retain(|name| fields.properties.contains_key(name) || !hidden.contains(name));
        for name in &fields.required {
            fields.properties.entry(name.clone()).or_insert_with(|| json!({}));
        }
        Some(fields)
    }

    fn collect(&mut self, value: &Value, depth: usize, found: &mut Collected) -> Option<()> {
        let map = value.as_object()?;
        found.parts += 1;
        let fields = &found.fields;
        let too_many = fields.properties.len() > MAX_FIELDS || fields.required.len() > MAX_FIELDS;
        if depth > MAX_DEPTH || found.parts > MAX_PARTS || too_many {
            return None;
        }
        if let Some(id) = part_number(map) {
            let definition = self.definition(id);
            self.collect(&definition.value, depth + 1, found)?;
        }
        for (key, value) in map {
            match key.as_str() {
                "$ref" => {}
                "type" => {
                    let only_object = value == "object" || *value == json!(["object", "null"]);
                    only_object.then_some(())?;
                    found.is_object = true;
                }
                "properties" => {
                    for (name, schema) in value.as_object()? {
                        add(&mut found.fields.properties, name, schema);
                    }
                }
                "required" => {
                    for name in value.as_array()?.iter().filter_map(Value::as_str) {
                        let required = &mut found.fields.required;
                        if required.len() <= MAX_FIELDS && !required.iter().any(|r| r == name) {
                            required.push(name.to_owned());
                        }
                    }
                }
                "allOf" => {
                    for branch in value.as_array()? {
                        self.collect(branch, depth + 1, found)?;
                    }
                }
                "anyOf" => self.collect(the_one_not_null(value)?, depth + 1, found)?,
                "additionalProperties" if *value == Value::Bool(false) => {}
                key if is_annotation(key) => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn hidden_names(&mut self, source: &'d Value) -> HashSet<String> {
        let properties = raw_properties(self.doc, source);
        let hidden =
            properties.into_iter().filter(|(_, schema)| self.is_hidden(schema, super::Mode::Request));
        hidden.map(|(name, _)| name.to_owned()).collect()
    }
}

#[derive(Default)]
struct Collected {
    fields: Fields,
    is_object: bool,
    parts: usize,
}

fn add(properties: &mut Map<String, Value>, name: &str, schema: &Value) {
    match properties.get_mut(name) {
        None => drop(properties.insert(name.to_owned(), schema.clone())),
        Some(own) if own == schema => {}
        Some(Value::Object(own)) if own.len() == 1 && own.contains_key("allOf") => {
            if let Some(Value::Array(list)) = own.get_mut("allOf") {
                list.push(schema.clone());
            }
        }
        Some(own) => {
            let both = json!({"allOf": [own.take(), schema]});
            *own = both;
        }
    }
}

/// Of a schema and null, the schema.
fn the_one_not_null(list: &Value) -> Option<&Value> {
    let null = json!({"type": "null"});
    match list.as_array()?.as_slice() {
        [one, other] if *other == null => Some(one),
        [other, one] if *other == null => Some(one),
        _ => None,
    }
}

/// The properties of a schema of the document, those of its references and `allOf` parts included.
pub(in crate::openapi) fn raw_properties<'d>(
    doc: &'d Doc,
    schema: &'d Value,
) -> IndexMap<&'d str, &'d Value> {
    let mut found = IndexMap::new();
    let mut seen = HashSet::new();
    collect_raw(doc, schema, 0, &mut seen, &mut found);
    found
}

fn collect_raw<'d>(
    doc: &'d Doc,
    schema: &'d Value,
    depth: usize,
    seen: &mut HashSet<*const Value>,
    found: &mut IndexMap<&'d str, &'d Value>,
) {
    let followed = match reference_of(schema).map(|r| doc.resolve(r)) {
        Some(Ok(target)) => target.value,
        Some(Err(_)) => return,
        None => schema,
    };
    if depth > MAX_DEPTH || !seen.insert(std::ptr::from_ref(followed)) {
        return;
    }
    for (name, property) in followed.get("properties").and_then(Value::as_object).into_iter().flatten() {
        found.entry(name).or_insert(property);
    }
    for branch in followed.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        collect_raw(doc, branch, depth + 1, seen, found);
    }
}

/// Whether a schema is the base of others that its discriminator tells apart without naming them: its fields
/// are then not all there are.
pub(in crate::openapi) fn has_bare_discriminator(doc: &Doc, schema: &Value) -> bool {
    let followed = reference_of(schema).and_then(|r| doc.resolve(r).ok()).map_or(schema, |t| t.value);
    let names_them = followed.get("oneOf").or_else(|| followed.get("anyOf")).is_some();
    followed.get("discriminator").is_some_and(|d| d.is_string() || d.is_object()) && !names_them
}
