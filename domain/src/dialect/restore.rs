//! The way back: arguments written for a projection, as the original schema wants them.
//!
//! Undoes two things a projection does to what a model writes: a null that stands for a property left out
//! (OpenAI's strict mode requires every property), and a property under another name. Objects asked for as
//! JSON text are read by the toolset's repair.

use serde_json::{Map, Value};

use super::Dialect;
use super::keywords::pointer_of;
use super::names::behind;

/// Most schemas looked at for one value.
const MAX_SCHEMAS: usize = 64;
/// Deepest value that is looked into.
const MAX_DEPTH: usize = 64;

/// Turns arguments that follow the projection of `original` for `dialect` into ones that may follow the
/// original. What is not understood is left as it is.
pub fn restore(args: &mut Value, original: &Value, dialect: Dialect) {
    let rules = dialect.rules();
    let way = Way { document: original, plain_names: rules.plain_names };
    way.value(args, &[original], 0);
}

struct Way<'a> {
    document: &'a Value,
    plain_names: bool,
}

impl<'a> Way<'a> {
    fn value(&self, value: &mut Value, schemas: &[&'a Value], depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let schemas = self.all(schemas);
        match value {
            Value::Object(map) => self.object(map, &schemas, depth),
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    let of_item: Vec<&Value> =
                        schemas.iter().filter_map(|schema| item_schema(schema, i)).collect();
                    self.value(item, &of_item, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn object(&self, map: &mut Map<String, Value>, schemas: &[&'a Map<String, Value>], depth: usize) {
        let written = std::mem::take(map);
        for (name, mut value) in written {
            let mut of_value: Vec<&Value> = Vec::new();
            let mut original = name.clone();
            let mut optional = false;
            for schema in schemas {
                let candidate = if self.plain_names { behind(schema, &name) } else { &name };
                if candidate != name {
                    candidate.clone_into(&mut original);
                }
                let properties = schema.get("properties").and_then(Value::as_object);
                if let Some(property) = properties.and_then(|properties| properties.get(candidate)) {
                    of_value.push(property);
                    let listed = schema.get("required").and_then(Value::as_array);
                    optional |= !listed.is_some_and(|listed| listed.iter().any(|name| name == candidate));
                }
            }
            let mut budget = MAX_SCHEMAS;
            if of_value.is_empty() {
                of_value = schemas.iter().filter_map(|schema| schema.get("additionalProperties")).collect();
            } else if value.is_null()
                && optional
                && !of_value.iter().any(|schema| self.allows_null(schema, &mut budget))
            {
                continue;
            }
            self.value(&mut value, &of_value, depth + 1);
            map.insert(original, value);
        }
    }

    /// The schemas that may speak of a value: with what they refer to and their alternatives.
    fn all(&self, schemas: &[&'a Value]) -> Vec<&'a Map<String, Value>> {
        let mut found: Vec<&'a Map<String, Value>> = Vec::new();
        let mut waiting: Vec<&'a Value> = schemas.iter().rev().copied().collect();
        while let Some(schema) = waiting.pop() {
            let Some(map) = schema.as_object() else {
                continue;
            };
            if found.len() == MAX_SCHEMAS || found.iter().any(|known| std::ptr::eq(*known, map)) {
                continue;
            }
            found.push(map);
            waiting.extend(self.referred(map));
            for keyword in ["allOf", "anyOf", "oneOf"] {
                waiting.extend(map.get(keyword).and_then(Value::as_array).into_iter().flatten().rev());
            }
            for keyword in ["then", "else"] {
                waiting.extend(map.get(keyword));
            }
        }
        found
    }

    fn referred(&self, schema: &'a Map<String, Value>) -> Option<&'a Value> {
        let pointer = pointer_of(schema.get("$ref")?.as_str()?)?;
        self.document.pointer(&pointer)
    }

    /// Whether a schema accepts null. One that is too tangled to tell counts as one that does.
    fn allows_null(&self, schema: &'a Value, budget: &mut usize) -> bool {
        let Value::Object(map) = schema else {
            return schema == &Value::Bool(true);
        };
        let Some(left) = budget.checked_sub(1) else {
            return true;
        };
        *budget = left;
        if map.get("nullable") == Some(&Value::Bool(true)) {
            return true;
        }
        let by_type = match map.get("type") {
            None => true,
            Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
            Some(name) => name == "null",
        };
        let listed = map.get("enum").and_then(Value::as_array);
        let by_value = listed.is_none_or(|values| values.contains(&Value::Null))
            && map.get("const").is_none_or(Value::is_null);
        let branches = |keyword: &str| map.get(keyword).and_then(Value::as_array);
        let by_all =
            branches("allOf").is_none_or(|parts| parts.iter().all(|part| self.allows_null(part, budget)));
        let by_any = ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(branches)
            .all(|branches| branches.iter().any(|branch| self.allows_null(branch, budget)));
        let by_reference = self.referred(map).is_none_or(|target| self.allows_null(target, budget));
        by_type && by_value && by_all && by_any && by_reference
    }
}

fn item_schema(schema: &Map<String, Value>, index: usize) -> Option<&Value> {
    let listed = schema.get("prefixItems").or_else(|| schema.get("items")).and_then(Value::as_array);
    listed
        .and_then(|listed| listed.get(index))
        .or_else(|| schema.get("items").filter(|items| !items.is_array()))
}
