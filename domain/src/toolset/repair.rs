//! Repairs what models commonly get wrong in arguments, and nothing else: a text where the schema wants
//! another type and that parses as it ("5" for 5, a JSON text for an object, "" for {}).

use crate::schema::Schema;
use jsonschema::Validator;
use serde_json::{Map, Value};

/// How often the arguments are looked at again; each round repairs every place that can be.
const MAX_ROUNDS: usize = 8;
/// How many places one round looks at.
const MAX_PLACES: usize = 64;

/// Repairs `args` in place as far as that makes them meet the schema better. What is valid is left as it is.
///
/// Returns whether they are valid now.
pub fn repair(args: &mut Value, schema: &Schema) -> Result<bool, crate::schema::SchemaError> {
    let validator = schema.validator().map_err(Clone::clone)?;
    if validator.is_valid(args) {
        return Ok(true);
    }
    if args.is_null() {
        *args = Value::Object(Map::new());
    }
    for _ in 0..MAX_ROUNDS {
        if !repair_once(args, validator) {
            break;
        }
    }
    Ok(validator.is_valid(args))
}

/// One round; says whether anything changed.
fn repair_once(args: &mut Value, validator: &Validator) -> bool {
    let mut changed = false;
    for pointer in text_places(args, validator) {
        let Some(Value::String(text)) = args.pointer(&pointer) else {
            continue;
        };
        let before = text.clone();
        for candidate in readings(&before) {
            set(args, &pointer, candidate);
            if !text_places_and_below(args, validator, &pointer) {
                changed = true;
                break;
            }
            set(args, &pointer, Value::String(before.clone()));
        }
    }
    changed
}

/// The places of texts that the schema refuses.
fn text_places(args: &Value, validator: &Validator) -> Vec<String> {
    let mut places: Vec<String> = validator
        .iter_errors(args)
        .take(MAX_PLACES)
        .map(|e| e.instance_path().to_string())
        .filter(|pointer| args.pointer(pointer).is_some_and(Value::is_string))
        .collect();
    places.dedup();
    places
}

/// Whether the schema still refuses the value at the very place; what is below it may need another round.
fn text_places_and_below(args: &Value, validator: &Validator, pointer: &str) -> bool {
    validator.iter_errors(args).take(MAX_PLACES).any(|e| {
        let at = e.instance_path().to_string();
        at == pointer && !is_about_members(&e)
    })
}

/// An object or array that is of the right type but has a wrong or missing member is nearer than a text.
fn is_about_members(error: &jsonschema::ValidationError<'_>) -> bool {
    use jsonschema::error::ValidationErrorKind as Kind;
    matches!(error.kind(), Kind::Required { .. } | Kind::AdditionalProperties { .. })
}

/// What else a text can be read as, in the order they are tried.
fn readings(text: &str) -> Vec<Value> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return vec![Value::Object(Map::new())];
    }
    match trimmed {
        "True" => return vec![Value::Bool(true)],
        "False" => return vec![Value::Bool(false)],
        "None" => return vec![Value::Null],
        _ => {}
    }
    match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::String(_)) | Err(_) => Vec::new(),
        Ok(value) => vec![value],
    }
}

fn set(root: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = root.pointer_mut(pointer) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::new(json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1},
                "b": {"type": "boolean"},
                "o": {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false},
                "a": {"type": "array", "items": {"type": "number"}},
                "s": {"type": "string"},
                "u": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "r": {"$ref": "#/$defs/node"}
            },
            "additionalProperties": false,
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
        }))
    }

    #[test]
    fn texts_that_parse_as_the_wanted_type_are_repaired() {
        let cases = [
            (json!({"n": "5"}), json!({"n": 5})),
            (json!({"b": "true"}), json!({"b": true})),
            (json!({"b": "True"}), json!({"b": true})),
            (json!({"o": "{\"n\": \"7\"}"}), json!({"o": {"n": 7}})),
            (json!({"o": ""}), json!({"o": {}})),
            (json!({"a": "[1, 2]"}), json!({"a": [1, 2]})),
            (json!({"a": ["1", "2.5"]}), json!({"a": [1, 2.5]})),
            (json!({"u": "3"}), json!({"u": 3})),
            (json!({"r": {"next": "{}"}}), json!({"r": {"next": {}}})),
            (json!("{\"n\": \"5\"}"), json!({"n": 5})),
            (json!(""), json!({})),
            (json!(null), json!({})),
            (json!({"s": "5"}), json!({"s": "5"})),
        ];
        for (given, wanted) in cases {
            let mut args = given.clone();
            assert!(repair(&mut args, &schema()).unwrap(), "{given} stays invalid as {args}");
            assert_eq!(args, wanted, "from {given}");
        }
    }

    #[test]
    fn nothing_else_is_guessed() {
        for given in
            [json!({"n": "five"}), json!({"n": "0"}), json!({"n": 1.5}), json!({"s": 5}), json!({"b": "yes"})]
        {
            let mut args = given.clone();
            assert!(!repair(&mut args, &schema()).unwrap(), "{given}");
            assert_eq!(args, given);
        }
    }

    proptest! {
        #[test]
        fn what_is_valid_is_never_changed(n in 1_i64.., b: bool, s in "\\PC{0,20}", a in prop::collection::vec(-1e9..1e9_f64, 0..5)) {
            let given = json!({"n": n, "b": b, "s": s, "a": a});
            let mut args = given.clone();
            prop_assert!(repair(&mut args, &schema()).unwrap());
            prop_assert_eq!(args, given);
        }
    }
}
