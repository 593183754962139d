//! `allOf`, `anyOf`, `oneOf`, and what a discriminator says of their branches.

use super::{Draft, Schemas, flatten, is_annotation, part_number, types::TypeReading};
use crate::{
    openapi::doc::{At, object_or_empty, reference_of},
    report::WarningCode,
};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

impl<'d> Schemas<'d> {
    /// The combinators of a schema, into what is there of it already.
    pub(super) fn combine(
        &mut self,
        map: &'d Map<String, Value>,
        reading: TypeReading,
        at: &At<'_>,
        depth: usize,
        draft: &mut Draft<'_>,
        out: &mut Map<String, Value>,
    ) {
        if let Some(list) = Self::branches(map, "allOf", at, draft) {
            let branches = self.list(list, &at.name("allOf"), depth, draft);
            put_all_of(branches, out);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(list) = Self::branches(map, key, at, draft) else {
                continue;
            };
            let mut branches = self.list(list, &at.name(key), depth, draft);
            if let Some(discriminator) = map.get("discriminator") {
                self.discriminate(discriminator, list, &mut branches);
            }
            let distinct = distinct(branches);
            if distinct.len() == 1 && !reading.nullable {
                put_all_of(distinct, out);
            } else {
                out.insert(key.into(), distinct.into());
            }
        }
    }

    fn branches(
        map: &'d Map<String, Value>,
        key: &str,
        at: &At<'_>,
        draft: &mut Draft<'_>,
    ) -> Option<&'d Value> {
        let value = map.get(key)?;
        match value {
            Value::Array(list) if !list.is_empty() => Some(value),
            Value::Array(_) | Value::Null => None,
            _ => {
                let message = format!("`{key}` is not a list and is ignored.");
                draft.warn(WarningCode::KeywordIgnored, at, message);
                None
            }
        }
    }

    /// Says in every branch that is a reference which value of the discriminator is its own, so that a branch is
    /// told from the others and a model sees what to write.
    fn discriminate(&self, discriminator: &Value, list: &Value, branches: &mut [Value]) {
        let Some(property) = discriminator.get("propertyName").and_then(Value::as_str) else {
            return;
        };
        let mut mapped: HashMap<String, Vec<&str>> = HashMap::new();
        for (value, to) in object_or_empty(discriminator.get("mapping")) {
            let to = to.as_str().unwrap_or_default();
            let component = format!("#/components/schemas/{to}");
            if let Ok(target) = self.doc.resolve(&component).or_else(|_| self.doc.resolve(to)) {
                mapped.entry(target.pointer).or_default().push(value);
            }
        }
        for (source, branch) in list.as_array().into_iter().flatten().zip(branches) {
            let Some(target) = reference_of(source).and_then(|r| self.doc.resolve(r).ok()) else {
                continue;
            };
            let own_name = target.pointer.rsplit('/').next().into_iter();
            let mut values = mapped.get(&target.pointer).cloned().unwrap_or_else(|| own_name.collect());
            let Some(own) = flatten::raw_properties(self.doc, target.value).shift_remove(property) else {
                continue;
            };
            let allowed = own.get("enum").and_then(Value::as_array);
            let has_const = own.get("const").is_some() || allowed.is_some_and(|a| a.len() == 1);
            values.retain(|v| allowed.is_none_or(|a| a.iter().any(|x| x == v)));
            let said = match values[..] {
                _ if has_const => continue,
                [] => continue,
                [only] => json!({"const": only}),
                _ => json!({"enum": values}),
            };
            if let Value::Object(branch) = branch
                && branch.contains_key("$ref")
                && !branch.contains_key("properties")
            {
                branch.insert("properties".into(), json!({property: said}));
                branch.insert("required".into(), json!([property]));
            }
        }
    }
}

/// Each branch once.
fn distinct(branches: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    branches.into_iter().filter(|branch| seen.insert(branch.to_string())).collect()
}

/// Puts branches that must all hold into a schema: in place where that says the same, else as `allOf`.
fn put_all_of(branches: Vec<Value>, out: &mut Map<String, Value>) {
    let mut rest: Vec<Value> = Vec::new();
    let references =
        branches.iter().filter(|b| b.as_object().is_some_and(|m| part_number(m).is_some())).count();
    for branch in branches {
        match branch {
            Value::Object(map) if map.is_empty() => {}
            Value::Object(map) if (references <= 1 || !map.contains_key("$ref")) && folds(&map, out) => {
                fold(map, out);
            }
            other => rest.push(other),
        }
    }
    let rest = distinct(rest);
    if !rest.is_empty() {
        match out.get_mut("allOf") {
            Some(Value::Array(list)) => list.extend(rest),
            _ => drop(out.insert("allOf".into(), rest.into())),
        }
    }
}

/// Whether a branch says the same when its keywords stand in the schema itself.
fn folds(branch: &Map<String, Value>, out: &Map<String, Value>) -> bool {
    branch.iter().all(|(key, value)| match (key.as_str(), out.get(key)) {
        ("unevaluatedProperties" | "unevaluatedItems", _) => false,
        // They belong together: apart they would say something else.
        ("if" | "then" | "else" | "contains" | "minContains" | "maxContains", _) => {
            !out.contains_key("if") && !out.contains_key("contains")
        }
        ("prefixItems" | "items", _) => !out.contains_key("prefixItems") && !out.contains_key("items"),
        (_, None) | ("required", Some(_)) => true,
        (key, Some(_)) if is_annotation(key) => true,
        ("properties", Some(own)) => {
            let own = own.as_object();
            let clashes = |(name, schema): (&String, &Value)| {
                own.and_then(|o| o.get(name)).is_some_and(|o| o != schema)
            };
            !value.as_object().into_iter().flatten().any(clashes)
        }
        (_, Some(own)) => own == value,
    }) && (plain_additional(branch) && plain_additional(out))
}

/// Whether what is not described is simply allowed or not. A schema for it would speak of other members than
/// before when `properties` of two branches come together.
fn plain_additional(map: &Map<String, Value>) -> bool {
    map.get("additionalProperties").is_none_or(Value::is_boolean) && !map.contains_key("patternProperties")
}

fn fold(branch: Map<String, Value>, out: &mut Map<String, Value>) {
    for (key, value) in branch {
        match (out.get_mut(&key), value) {
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                for name in more {
                    if !own.contains(&name) {
                        own.push(name);
                    }
                }
            }
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => own.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(out.insert(key, value)),
        }
    }
}
