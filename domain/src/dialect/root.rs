//! The top level: every dialect wants one plain object there.

use serde_json::{Map, Value, json};

use super::keywords::{named_types, step};
use super::rules::Rules;
use super::walk::{Place, Walk};
use super::{Effort, Projection, Unrepresentable};

/// Keywords no dialect takes at the top level.
const REFUSED: &[&str] =
    &["not", "if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies", "enum", "const"];

pub(super) fn project_root(
    schema: &Value,
    rules: &'static Rules,
    effort: Effort,
) -> Result<Projection, Unrepresentable> {
    let mut walk = Walk::new(schema, rules, effort);
    let mut place = Place { is_root: true, ..Place::default() };
    let mut root = match schema {
        Value::Object(map) => {
            let flat = walk.flatten(map, &place);
            place = flat.place;
            flat.schema
        }
        Value::Bool(true) => Map::new(),
        _ => {
            return Err(not_expressible("", "the arguments' schema is not a schema of objects"));
        }
    };
    as_object(&mut root)?;
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = root.remove(keyword) {
            walk.join_alternatives(&mut root, &branches, keyword)?;
        }
    }
    for keyword in REFUSED {
        if root.remove(*keyword).is_some() {
            walk.lose_keyword(&place, keyword);
        }
    }
    root.remove("nullable");
    name_required(&mut root);
    let mut projected = match walk.node(&Value::Object(root), &place) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    projected.entry("properties").or_insert_with(|| json!({}));
    if rules.bare_root {
        for keyword in ["additionalProperties", "minProperties", "maxProperties"] {
            if projected.contains_key(keyword) {
                walk.lose_keyword(&place, keyword);
            }
        }
        projected.retain(|keyword, _| matches!(keyword.as_str(), "type" | "properties" | "required"));
    }
    let definitions = walk.definitions();
    if !definitions.is_empty() {
        projected.insert("$defs".to_owned(), Value::Object(definitions));
    }
    walk.within_totals()?;
    Ok(Projection { schema: Value::Object(projected), losses: walk.into_losses() })
}

impl Walk<'_> {
    /// Offers the alternatives of the top level as one object.
    fn join_alternatives(
        &mut self,
        root: &mut Map<String, Value>,
        branches: &Value,
        keyword: &str,
    ) -> Result<(), Unrepresentable> {
        let path = step("", keyword);
        let Some(branches) = branches.as_array().filter(|branches| !branches.is_empty()) else {
            return Ok(());
        };
        let mut properties: Map<String, Value> = Map::new();
        let mut required: Option<Vec<Value>> = None;
        let mut objects = 0;
        for (i, branch) in branches.iter().enumerate() {
            let place = Place { path: step(&path, &i.to_string()), ..Place::default() };
            let Value::Object(branch) = branch else {
                continue;
            };
            let mut flat = self.flatten(branch, &place).schema;
            if as_object(&mut flat).is_err() {
                continue;
            }
            objects += 1;
            collect(&mut properties, flat.get("properties"));
            let listed = flat.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            match &mut required {
                None => required = Some(listed),
                Some(common) => common.retain(|name| listed.contains(name)),
            }
        }
        if objects == 0 && !root.contains_key("properties") {
            return Err(not_expressible(&path, "none of the alternatives is an object"));
        }
        self.lose(
            &path,
            "the alternatives are offered as one object: which properties go together is left out",
        );
        add_alternatives(root, properties);
        let listed = required.unwrap_or_default();
        if !listed.is_empty() {
            let own = root.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(own) = own {
                own.extend(listed);
            }
        }
        Ok(())
    }

    fn within_totals(&self) -> Result<(), Unrepresentable> {
        let Some(totals) = &self.rules.totals else {
            return Ok(());
        };
        let checks = [
            (self.properties, totals.properties, "properties"),
            (self.enum_values, totals.enum_values, "listed values"),
            (self.text_bytes, totals.text_bytes, "bytes of names and listed values"),
        ];
        match checks.into_iter().find(|(count, limit, _)| count > limit) {
            Some((count, limit, what)) => {
                Err(not_expressible("", &format!("it has {count} {what}; at most {limit} are accepted")))
            }
            None => Ok(()),
        }
    }
}

/// A required property that is nowhere described could not be given.
fn name_required(root: &mut Map<String, Value>) {
    let listed = root.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    root.insert("type".to_owned(), json!("object"));
    if !root.get("properties").is_some_and(Value::is_object) {
        root.insert("properties".to_owned(), json!({}));
    }
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        for name in listed.iter().filter_map(Value::as_str) {
            properties.entry(name).or_insert_with(|| json!({}));
        }
    }
}

/// Narrows a schema to objects, if it allows any.
fn as_object(schema: &mut Map<String, Value>) -> Result<(), Unrepresentable> {
    let types = named_types(schema);
    if !types.is_empty() && !types.contains(&"object") {
        return Err(not_expressible(
            "/type",
            &format!("arguments are an object, and this wants {}", types.join(" or ")),
        ));
    }
    schema.insert("type".to_owned(), json!("object"));
    Ok(())
}

/// Gathers what each property may be in any of the alternatives.
fn collect(all: &mut Map<String, Value>, properties: Option<&Value>) {
    for (name, schema) in properties.and_then(Value::as_object).into_iter().flatten() {
        match all.get_mut(name) {
            None => {
                all.insert(name.clone(), json!([schema]));
            }
            Some(Value::Array(schemas)) if !schemas.contains(schema) => schemas.push(schema.clone()),
            Some(_) => {}
        }
    }
}

fn add_alternatives(root: &mut Map<String, Value>, alternatives: Map<String, Value>) {
    let own = root.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(own) = own else {
        return;
    };
    for (name, schemas) in alternatives {
        let schema = match schemas {
            Value::Array(mut schemas) if schemas.len() == 1 => schemas.remove(0),
            schemas => json!({"anyOf": schemas}),
        };
        match own.get_mut(&name) {
            None => {
                own.insert(name, schema);
            }
            // Beside a property of its own, an alternative mostly repeats or narrows it.
            Some(same) if *same == schema || schema == json!({}) => {}
            Some(differs) => *differs = json!({"allOf": [&*differs, schema]}),
        }
    }
}

fn not_expressible(path: &str, reason: &str) -> Unrepresentable {
    Unrepresentable { path: path.to_owned(), reason: reason.to_owned() }
}
