//! `$ref` and `allOf` folded into one schema, for dialects that have neither.

use std::{borrow::Cow, collections::HashSet};

use serde_json::{Map, Value, json};

use super::keywords::{is_constraint, named_types, step};
use super::walk::{Place, Walk};

/// Most comparisons made to join two lists of values.
const MAX_COMPARISONS: usize = 1_000_000;
/// Longest chain of references and `allOf`s of one schema.
const MAX_PARTS: usize = 100;

/// A schema without `$ref` and `allOf` at its top level.
pub(super) struct Flat {
    pub(super) schema: Map<String, Value>,
    pub(super) place: Place,
}

impl Walk<'_> {
    pub(super) fn flatten(&mut self, schema: &Map<String, Value>, place: &Place) -> Flat {
        let mut fold = Fold { out: Map::new(), place: place.clone(), parts: 0, cut: false };
        self.absorb(&mut fold, schema, &place.path);
        // Where the whole schema is one reference, paths below it are those of its target.
        if fold.cut {
            return Flat { schema: fold.out, place: fold.place };
        }
        if let (1, Some(Value::String(reference))) = (schema.len(), schema.get("$ref"))
            && let Some((pointer, _)) = self.target(reference)
        {
            fold.place.path = pointer;
        }
        Flat { schema: fold.out, place: fold.place }
    }

    fn absorb(&mut self, fold: &mut Fold, schema: &Map<String, Value>, path: &str) {
        fold.parts += 1;
        if fold.parts > MAX_PARTS {
            self.lose(path, "too many parts: the rest is left out");
            return;
        }
        for keyword in merge(&mut fold.out, schema) {
            self.lose(
                &step(path, &keyword),
                format!("`{keyword}` cannot be joined with another one: left out"),
            );
        }
        if let Some(reference) = schema.get("$ref") {
            self.absorb_reference(fold, reference, path);
        }
        let parts = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (i, part) in parts.iter().enumerate() {
            let path = step(&step(path, "allOf"), &i.to_string());
            match part {
                Value::Object(part) => self.absorb(fold, part, &path),
                Value::Bool(true) => {}
                _ => self.lose(&path, "not a schema that can be met: left out"),
            }
        }
    }

    fn absorb_reference(&mut self, fold: &mut Fold, reference: &Value, path: &str) {
        let path = step(path, "$ref");
        let Some((pointer, whole)) = reference.as_str().and_then(|reference| self.target(reference)) else {
            self.lose(&path, "the reference leads nowhere in this document: left open");
            return;
        };
        let Value::Object(target) = whole else {
            return;
        };
        let inside = fold.place.active.iter().filter(|active| **active == pointer).count();
        if inside >= self.effort.recursion {
            self.lose(&path, "recursion: not described any deeper");
            // What it is can still be said, though not what is in it.
            fold.cut = true;
            let types = types_with_alternatives(target);
            if !types.is_empty() {
                merge(&mut fold.out, json!({"type": types}).as_object().unwrap_or(&Map::new()));
            }
            return;
        }
        let size = self.size_of(&pointer, whole);
        if !self.may_copy(size) {
            self.lose(&path, "too large with everything it refers to: left open");
            return;
        }
        fold.place.active.push(pointer.clone());
        self.absorb(fold, target, &pointer);
    }
}

struct Fold {
    out: Map<String, Value>,
    place: Place,
    parts: usize,
    /// Whether recursion was cut.
    cut: bool,
}

/// The types a schema names, or all its alternatives name.
pub(super) fn types_with_alternatives(schema: &Map<String, Value>) -> Vec<&'static str> {
    let own = named_types(schema);
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let Some(branches) = branches.filter(|_| own.is_empty()) else {
        return own;
    };
    let mut all = Vec::new();
    for branch in branches {
        let types = branch.as_object().map(named_types).unwrap_or_default();
        if types.is_empty() {
            return Vec::new();
        }
        all.extend(types.into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
    }
    all
}

/// Joins `more` into `out`, so that what meets both meets the result. Returns the constraints that could not
/// be joined; `out` keeps its own there.
pub(super) fn merge(out: &mut Map<String, Value>, more: &Map<String, Value>) -> Vec<String> {
    let mut lost = Vec::new();
    let mut aligned = Cow::Borrowed(more);
    if closes(more) {
        align(out, more);
    }
    if closes(out) {
        align(aligned.to_mut(), out);
    }
    for (keyword, value) in aligned.iter() {
        if matches!(keyword.as_str(), "$ref" | "allOf" | "$defs" | "definitions") {
            continue;
        }
        let Some(own) = out.get_mut(keyword) else {
            out.insert(keyword.clone(), value.clone());
            continue;
        };
        if own != value && !join(keyword, own, value) && is_constraint(keyword) {
            lost.push(keyword.clone());
        }
    }
    lost
}

/// Whether a schema says what properties it does not name must be.
fn closes(schema: &Map<String, Value>) -> bool {
    let additional = schema.get("additionalProperties");
    additional.is_some_and(|additional| additional == &json!(false) || additional.is_object())
        && !schema.contains_key("patternProperties")
}

/// Properties that `closing` does not name are what it says such properties must be.
fn align(schema: &mut Map<String, Value>, closing: &Map<String, Value>) {
    let additional = closing.get("additionalProperties").unwrap_or(&Value::Null);
    let named = closing.get("properties").and_then(Value::as_object);
    let is_named = |name: &String| named.is_some_and(|named| named.contains_key(name));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    if additional == &json!(false) {
        properties.retain(|name, _| is_named(name));
        return;
    }
    for (_, property) in properties.iter_mut().filter(|(name, _)| !is_named(name)) {
        *property = json!({"allOf": [&*property, additional]});
    }
}

/// Joins two values of one keyword; says whether that was possible.
fn join(keyword: &str, own: &mut Value, other: &Value) -> bool {
    match keyword {
        "properties" | "patternProperties" => join_properties(own, other),
        "required" => join_names(own, other),
        "type" => join_types(own, other),
        "enum" => {
            let (Value::Array(values), Value::Array(others)) = (&*own, other) else {
                return false;
            };
            if values.len().saturating_mul(others.len()) > MAX_COMPARISONS {
                return false;
            }
            let both: Vec<_> = values.iter().filter(|value| others.contains(value)).cloned().collect();
            let possible = !both.is_empty();
            if possible {
                *own = Value::Array(both);
            }
            possible
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            tighter(own, other, |own, other| other > own)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            tighter(own, other, |own, other| other < own)
        }
        "additionalProperties" | "items" | "propertyNames" | "contains" => {
            *own = match (&*own, other) {
                (Value::Bool(false), _) | (_, Value::Bool(false)) => json!(false),
                (Value::Bool(true), other) => other.clone(),
                (own, Value::Bool(true)) => own.clone(),
                (own, other) => json!({"allOf": [own, other]}),
            };
            true
        }
        "nullable" | "uniqueItems" => {
            let both = own == &json!(true) && other == &json!(true);
            *own = json!(if keyword == "nullable" { both } else { true });
            true
        }
        _ => false,
    }
}

fn join_properties(own: &mut Value, other: &Value) -> bool {
    let (Value::Object(own), Value::Object(other)) = (own, other) else {
        return false;
    };
    for (name, schema) in other {
        match own.get_mut(name) {
            None => {
                own.insert(name.clone(), schema.clone());
            }
            Some(same) if same == schema => {}
            Some(differs) => *differs = json!({"allOf": [&*differs, schema]}),
        }
    }
    true
}

fn join_names(own: &mut Value, other: &Value) -> bool {
    let (Value::Array(own), Value::Array(other)) = (own, other) else {
        return false;
    };
    let names: HashSet<String> = own.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let more = other.iter().filter(|name| name.as_str().is_some_and(|name| !names.contains(name)));
    own.extend(more.cloned());
    true
}

fn join_types(own: &mut Value, other: &Value) -> bool {
    let as_schema = |types: &Value| Map::from_iter([("type".to_owned(), types.clone())]);
    let (mine, others) = (named_types(&as_schema(own)), named_types(&as_schema(other)));
    if mine.is_empty() || others.is_empty() {
        return false;
    }
    let mut both: Vec<&str> = Vec::new();
    for name in &mine {
        if others.contains(name) || (*name == "integer" && others.contains(&"number")) {
            both.push(name);
        } else if *name == "number" && others.contains(&"integer") {
            both.push("integer");
        }
    }
    match both.as_slice() {
        [] => return false,
        [one] => *own = json!(one),
        many => *own = json!(many),
    }
    true
}

fn tighter(own: &mut Value, other: &Value, is_tighter: impl Fn(f64, f64) -> bool) -> bool {
    let (Some(mine), Some(others)) = (own.as_f64(), other.as_f64()) else {
        return false;
    };
    if is_tighter(mine, others) {
        *own = other.clone();
    }
    true
}
