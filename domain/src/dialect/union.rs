//! Alternatives: `anyOf`, `oneOf`, several types, and null.

use serde_json::{Map, Value, json};

use super::flatten::{merge, types_with_alternatives};
use super::json_size;
use super::keywords::{is_constraint, is_of_type, named_types, step, subject};
use super::rules::Nulls;
use super::walk::{Place, Walk};

/// Most alternatives of one schema.
const MAX_BRANCHES: usize = 64;

impl Walk<'_> {
    /// A schema with `anyOf` or `oneOf`, already flat.
    pub(super) fn union(&mut self, mut schema: Map<String, Value>, place: &Place) -> Value {
        let one_of = schema.remove("oneOf");
        let any_of = schema.remove("anyOf");
        let keyword = if any_of.is_some() { "anyOf" } else { "oneOf" };
        if any_of.is_none() {
            self.lose(&step(&place.path, keyword), "that exactly one alternative holds is left out");
        }
        if any_of.is_some() && one_of.is_some() {
            self.lose_keyword(place, "oneOf");
        }
        let Some(Value::Array(branches)) = any_of.or(one_of) else {
            return self.flat_single(schema, place);
        };
        let mut nullable = schema.remove("nullable") == Some(json!(true));
        if says_only_required(&branches) {
            self.lose(&step(&place.path, keyword), "which properties go together is left out");
            return self.flat_single(schema, place);
        }
        let place_of = place.below(&[keyword]);
        if branches.len() > MAX_BRANCHES {
            self.lose(&place_of.path, format!("only the first {MAX_BRANCHES} alternatives are offered"));
        }
        let shared = without_annotations(&schema);
        let mut projected: Vec<Value> = Vec::new();
        for (i, branch) in branches.iter().take(MAX_BRANCHES).enumerate() {
            let place = place_of.below(&[&i.to_string()]);
            if is_null(branch) {
                nullable |= named_types(&shared).is_empty() || named_types(&shared).contains(&"null");
                continue;
            }
            let Some(branch) = self.with_shared(branch, &shared, &place) else {
                continue;
            };
            let one = self.node(&branch, &place);
            self.push_alternative(&mut projected, one, &place);
        }
        self.finish_union(projected, nullable, &schema, place)
    }

    /// One alternative, with what stands beside the union folded in; `None` if the two contradict each other.
    fn with_shared(&mut self, branch: &Value, shared: &Map<String, Value>, place: &Place) -> Option<Value> {
        let Value::Object(map) = branch else {
            return Some(branch.clone());
        };
        let refers = map.contains_key("$ref") || map.contains_key("allOf");
        let (wanted, offered) = (named_types(shared), self.offered_types(map));
        let fits = |name: &str| wanted.contains(&name) || (name == "integer" && wanted.contains(&"number"));
        let narrows = offered.contains(&"number") && wanted.contains(&"integer");
        if !wanted.is_empty() && !offered.is_empty() && !narrows && !offered.iter().any(|name| fits(name)) {
            return None;
        }
        // A type beside a reference mostly repeats what that says; inlining it would gain nothing.
        let repeats = shared.keys().all(|keyword| keyword == "type")
            && !offered.is_empty()
            && offered.iter().all(|name| fits(name));
        if shared.is_empty() || (refers && repeats) {
            return Some(branch.clone());
        }
        if !self.may_copy(json_size_of(shared)) {
            self.lose(&place.path, "too large with what stands beside the alternatives: that is left out");
            return Some(branch.clone());
        }
        if refers {
            return Some(json!({"allOf": [branch, shared]}));
        }
        let mut joined = map.clone();
        for keyword in merge(&mut joined, shared) {
            self.lose_keyword(place, &keyword);
        }
        Some(Value::Object(joined))
    }

    /// The types an alternative names, itself or through its reference.
    pub(super) fn offered_types(&self, branch: &Map<String, Value>) -> Vec<&'static str> {
        let own = types_with_alternatives(branch);
        if !own.is_empty() {
            return own;
        }
        let reference = branch.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| self.target(reference));
        target.and_then(|(_, target)| target.as_object()).map(types_with_alternatives).unwrap_or_default()
    }

    /// Adds an alternative, unless it is there or there are too many.
    fn push_alternative(&mut self, branches: &mut Vec<Value>, one: Value, place: &Place) {
        // An alternative that is a union itself needs no level of its own, and some dialects take none.
        let inner = match one.as_object() {
            Some(map) if map.keys().all(|keyword| keyword == "anyOf" || !is_constraint(keyword)) => {
                map.get("anyOf").and_then(Value::as_array).cloned()
            }
            _ => None,
        };
        for branch in inner.unwrap_or_else(|| vec![one]) {
            if branches.contains(&branch) {
                continue;
            }
            if branches.len() == MAX_BRANCHES {
                self.lose(&place.path, format!("only {MAX_BRANCHES} alternatives are offered"));
                return;
            }
            branches.push(branch);
        }
    }

    fn finish_union(
        &mut self,
        mut branches: Vec<Value>,
        nullable: bool,
        schema: &Map<String, Value>,
        place: &Place,
    ) -> Value {
        let mut out = match branches.len() {
            0 if nullable => return self.null(schema, place),
            0 => {
                self.lose(&place.path, "none of the alternatives can be met: left open");
                return self.anything(schema, place);
            }
            1 => branches.remove(0),
            _ => json!({"anyOf": branches}),
        };
        if let Some(map) = out.as_object_mut() {
            let bare = self.rules.bare_any_of && map.contains_key("anyOf");
            if bare {
                describe_first(map, schema);
            } else if !map.contains_key("$ref") {
                // What is said of the whole is nearer to the reader than what its one alternative says.
                let mut whole = Map::new();
                self.annotate(schema, &mut whole);
                map.extend(whole);
            }
        }
        if nullable { self.nullable(out) } else { out }
    }

    /// A schema of several types, as alternatives of one type each.
    pub(super) fn split_types(
        &mut self,
        schema: &Map<String, Value>,
        types: &[&'static str],
        nullable: bool,
        place: &Place,
    ) -> Value {
        let mut branches = Vec::new();
        for name in types {
            let relevant = |keyword: &str| match subject(keyword) {
                Some(of) => of == *name || (of == "number" && *name == "integer"),
                None => is_constraint(keyword),
            };
            let mut one: Map<String, Value> = schema
                .iter()
                .filter(|(keyword, _)| relevant(keyword))
                .map(|(keyword, value)| (keyword.clone(), value.clone()))
                .collect();
            one.insert("type".to_owned(), json!(name));
            if let Some(Value::Array(values)) = one.get_mut("enum") {
                values.retain(|value| is_of_type(value, name));
                if values.is_empty() {
                    continue;
                }
            }
            let one = self.flat_single(one, place);
            self.push_alternative(&mut branches, one, place);
        }
        self.finish_union(branches, nullable, schema, place)
    }

    /// A schema that allows null and nothing else.
    pub(super) fn null(&mut self, schema: &Map<String, Value>, place: &Place) -> Value {
        let mut out = match self.rules.nulls {
            Nulls::Keyword => json!({"type": "string", "nullable": true}),
            _ => json!({"type": "null"}),
        };
        if self.rules.nulls == Nulls::Keyword {
            self.lose(&place.path, "only null is allowed: offered as a text that may be null");
        }
        if let Some(out) = out.as_object_mut() {
            self.annotate(schema, out);
        }
        out
    }

    /// A property that may be left out needs no null beside it.
    pub(super) fn without_null(&mut self, mut schema: Value, place: &Place) -> Value {
        let Some(Value::Array(branches)) = schema.get_mut("anyOf") else {
            return schema;
        };
        let before = branches.len();
        branches.retain(|branch| branch != &json!({"type": "null"}));
        if branches.len() == before {
            return schema;
        }
        self.lose(&place.path, "null cannot be given: the property is left out instead");
        let only = (branches.len() == 1).then(|| branches.remove(0));
        match (only, schema.as_object_mut()) {
            (Some(Value::Object(only)), Some(whole)) => {
                whole.remove("anyOf");
                if !only.contains_key("$ref") {
                    let said = std::mem::take(whole);
                    whole.extend(only);
                    whole.extend(said);
                    return schema;
                }
                Value::Object(only)
            }
            _ => schema,
        }
    }

    /// `schema`, or null.
    pub(super) fn nullable(&mut self, mut schema: Value) -> Value {
        let Some(map) = schema.as_object_mut() else {
            return schema;
        };
        if map.is_empty() || allows_null(map) {
            return schema;
        }
        if self.rules.nulls == Nulls::Keyword {
            return nullable_by_keyword(schema);
        }
        if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
            branches.push(json!({"type": "null"}));
            return schema;
        }
        if self.rules.nulls == Nulls::TypeList
            && !map.contains_key("properties")
            && !map.contains_key("items")
        {
            let types = match map.get("type") {
                Some(Value::String(name)) => Some(json!([name, "null"])),
                Some(Value::Array(names)) => Some(names.iter().cloned().chain([json!("null")]).collect()),
                _ => None,
            };
            if let Some(types) = types {
                map.insert("type".to_owned(), types);
                if let Some(Value::Array(values)) = map.get_mut("enum") {
                    values.push(Value::Null);
                    self.enum_values += 1;
                }
                if let Some(only) = map.remove("const") {
                    map.insert("enum".to_owned(), json!([only, null]));
                }
                return schema;
            }
        }
        json!({"anyOf": [schema, {"type": "null"}]})
    }
}

/// Where alternatives stand alone, the first carries what is said of the whole.
fn describe_first(union: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let first =
        union.get_mut("anyOf").and_then(|branches| branches.get_mut(0)).and_then(Value::as_object_mut);
    if let (Some(first), Some(Value::String(description))) = (first, schema.get("description")) {
        first.entry("description").or_insert_with(|| json!(description));
    }
}

fn json_size_of(schema: &Map<String, Value>) -> usize {
    schema.iter().map(|(keyword, value)| keyword.len() + json_size(value)).sum()
}

/// Gemini: `nullable` stands in each alternative, because an `anyOf` stands alone.
fn nullable_by_keyword(mut schema: Value) -> Value {
    if let Some(map) = schema.as_object_mut() {
        if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
            for branch in branches.iter_mut() {
                *branch = nullable_by_keyword(branch.take());
            }
        } else {
            map.insert("nullable".to_owned(), json!(true));
        }
    }
    schema
}

fn allows_null(schema: &Map<String, Value>) -> bool {
    let in_branches = schema.get("anyOf").and_then(Value::as_array);
    named_types(schema).contains(&"null")
        || in_branches.is_some_and(|branches| branches.iter().filter_map(Value::as_object).any(allows_null))
}

fn is_null(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else {
        return false;
    };
    named_types(map) == ["null"]
        || map.get("const") == Some(&Value::Null)
        || map
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_null))
}

/// `anyOf: [{required: [a]}, {required: [b]}]`: nothing that a model could be shown apart.
fn says_only_required(branches: &[Value]) -> bool {
    let only = |branch: &Value| {
        branch.as_object().is_some_and(|map| {
            map.keys()
                .filter(|keyword| is_constraint(keyword))
                .all(|keyword| matches!(keyword.as_str(), "required" | "not"))
        })
    };
    !branches.is_empty() && branches.iter().all(|branch| only(branch) && branch.get("required").is_some())
}

fn without_annotations(schema: &Map<String, Value>) -> Map<String, Value> {
    let constraints = schema.iter().filter(|(keyword, _)| is_constraint(keyword));
    constraints.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}
