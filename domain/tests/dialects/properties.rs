//! Random schemas, sensible and senseless.

use crate::checker;
use domain::dialect::{Dialect, project, restore};
use domain::schema::Schema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(Dialect::ALL.to_vec())
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "$d", "e[f]"]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2..4_i64).prop_map(Value::from),
        Just(json!(1.5)),
        prop::sample::select(vec!["", "a", "b", "5"]).prop_map(Value::from),
    ]
}

/// A value for arguments: near enough to the schemas below to meet some of them.
fn instance() -> impl Strategy<Value = Value> {
    let any = scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::hash_map(name(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    });
    prop::collection::hash_map(name(), any, 0..4).prop_map(|map| map.into_iter().collect())
}

/// One keyword and a value for it: the right kind, mostly.
fn keyword(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = (String, Value)> {
    let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array);
    let properties = prop::collection::hash_map(name(), inner.clone(), 0..4)
        .prop_map(|map| map.into_iter().collect::<Value>())
        .boxed();
    let types = vec!["object", "array", "string", "integer", "number", "boolean", "null"];
    let one_type = prop::sample::select(types);
    let put = |keyword: &'static str| move |value: Value| (keyword.to_owned(), value);
    let reference = prop::sample::select(vec![
        "#/$defs/x",
        "#/$defs/y",
        "#",
        "#/$defs/none",
        "other.json",
        "#/properties/a",
    ]);
    prop_oneof![
        6 => one_type.clone().prop_map(Value::from).prop_map(put("type")),
        1 => prop::collection::vec(one_type, 0..4).prop_map(Value::from).prop_map(put("type")),
        4 => properties.clone().prop_map(put("properties")),
        2 => prop::collection::vec(name(), 0..3).prop_map(Value::from).prop_map(put("required")),
        2 => prop_oneof![inner.clone(), any::<bool>().prop_map(Value::from)].prop_map(put("additionalProperties")),
        3 => inner.clone().prop_map(put("items")),
        1 => list.clone().prop_map(put("items")),
        1 => list.clone().prop_map(put("prefixItems")),
        2 => list.clone().prop_map(put("anyOf")),
        1 => list.clone().prop_map(put("oneOf")),
        2 => list.prop_map(put("allOf")),
        1 => inner.clone().prop_map(put("not")),
        1 => inner.prop_map(put("if")),
        1 => properties.prop_map(put("patternProperties")),
        2 => prop::collection::vec(scalar(), 0..4).prop_map(Value::from).prop_map(put("enum")),
        1 => scalar().prop_map(put("const")),
        2 => (0..4_u64).prop_map(Value::from).prop_map(put("minimum")),
        1 => scalar().prop_map(put("exclusiveMinimum")),
        1 => scalar().prop_map(put("maxLength")),
        1 => scalar().prop_map(put("default")),
        1 => any::<bool>().prop_map(Value::from).prop_map(put("nullable")),
        1 => prop::sample::select(vec!["date-time", "uri", "int64"]).prop_map(Value::from).prop_map(put("format")),
        2 => reference.prop_map(Value::from).prop_map(put("$ref")),
        1 => Just(("description".to_owned(), json!("said"))),
        1 => scalar().prop_map(put("x-vendor")),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![8 => Just(json!({})), 1 => any::<bool>().prop_map(Value::from), 1 => scalar()];
    let nested = leaf.prop_recursive(4, 48, 5, |inner| {
        prop::collection::vec(keyword(inner), 0..5)
            .prop_map(|keywords| Value::Object(keywords.into_iter().collect()))
    });
    (nested.clone(), nested.clone(), nested).prop_map(|(root, x, y)| {
        let mut root = root.as_object().cloned().unwrap_or_default();
        root.insert("$defs".to_owned(), json!({"x": x, "y": y}));
        Value::Object(root)
    })
}

/// Schemas that every dialect can say without loss, so that nothing may change.
fn plain_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "enum": ["a", "b"]})),
        Just(json!({"type": "string", "pattern": "^[ab]?$"})),
        Just(json!({"type": "integer", "minimum": 0})),
        Just(json!({"type": "number", "maximum": 2})),
        Just(json!({"type": "boolean"})),
        Just(json!({"$ref": "#/$defs/x"})),
    ];
    let nested = leaf.prop_recursive(3, 24, 4, |inner| {
        let properties = prop::collection::hash_map(name(), inner.clone(), 1..4);
        let object = (properties, any::<bool>()).prop_map(|(properties, all)| {
            let required: Vec<_> = properties.keys().filter(|_| all).cloned().collect();
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
        });
        prop_oneof![
            object,
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({"anyOf": branches})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"allOf": [a, {"anyOf": [b, {"type": "boolean"}]}]})),
        ]
    });
    prop::collection::hash_map(name(), nested, 0..4).prop_map(|properties| {
        json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "$defs": {"x": {"type": "array", "items": {"type": "integer"}}}
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_projection_obeys_its_dialect(schema in schema(), dialect in dialect()) {
        if let Ok(projection) = project(&schema, dialect) {
            let problems = checker::problems(dialect, &projection.schema);
            prop_assert!(problems.is_empty(), "{problems:#?} in {}", projection.schema);
            // What has been projected is accepted, so projecting it again is no surprise.
            prop_assert!(project(&projection.schema, dialect).is_ok());
        }
    }

    #[test]
    fn restoring_never_breaks(schema in schema(), dialect in dialect(), mut args in instance()) {
        restore(&mut args, &schema, dialect);
        prop_assert!(args.is_object());
    }

    #[test]
    fn without_losses_nothing_changes(schema in plain_schema(), dialect in dialect(), seed: u64) {
        let projection = project(&schema, dialect).unwrap();
        let renames = matches!(dialect, Dialect::Anthropic | Dialect::Bedrock);
        if projection.losses.iter().any(|loss| !(renames && loss.what.starts_with("the name"))) {
            return Ok(());
        }
        // What a model writes, having read the projection; sometimes it makes a mistake.
        let written = Writer { root: &projection.schema, entropy: seed }.value(&projection.schema, 0);
        let accepted = Schema::new(projection.schema.clone()).is_valid(&written).unwrap();
        let original = Schema::new(schema.clone());
        if !renames && dialect != Dialect::OpenAiStrict {
            let same = original.is_valid(&written).unwrap() == accepted;
            prop_assert!(same, "{written} meets only one of the two, the other being {}", projection.schema);
        }
        let mut args = written.clone();
        restore(&mut args, &schema, dialect);
        if accepted {
            prop_assert!(original.is_valid(&args).unwrap(), "{written} was accepted by {}", projection.schema);
        }
    }
}

/// How often each property is tried.
const CASES: u32 = 512;

/// Writes values that mostly meet a schema, from a seed.
struct Writer<'a> {
    root: &'a Value,
    entropy: u64,
}

impl Writer<'_> {
    fn pick(&mut self, below: usize) -> usize {
        self.entropy =
            self.entropy.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.entropy >> 40).unwrap() % below.max(1)
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > 0 && self.pick(20) == 0 {
            return [json!(null), json!("zz"), json!(-7), json!({}), json!([true])][self.pick(5)].clone();
        }
        if let Some(pointer) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            return self.value(&self.root.pointer(pointer).unwrap().clone(), depth);
        }
        if let Some(part) = schema["allOf"].get(0) {
            return self.value(part, depth);
        }
        for choice in ["anyOf", "enum"] {
            if let Some(choices) = schema[choice].as_array() {
                let one = &choices[self.pick(choices.len())];
                return if choice == "enum" { one.clone() } else { self.value(one, depth) };
            }
        }
        let name = match &schema["type"] {
            Value::Array(names) => names[self.pick(names.len())].clone(),
            name => name.clone(),
        };
        match name.as_str().unwrap_or_default() {
            "object" => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let properties = schema["properties"].as_object().into_iter().flatten();
                let mut object = Map::new();
                for (name, property) in properties {
                    if required.contains(&json!(name)) || self.pick(2) == 0 {
                        object.insert(name.clone(), self.value(property, depth + 1));
                    }
                }
                Value::Object(object)
            }
            "array" => (0..self.pick(3)).map(|_| self.value(&schema["items"], depth + 1)).collect(),
            "string" => json!("a"),
            "integer" => json!(self.pick(3)),
            "number" => json!(1.5),
            "boolean" => json!(true),
            _ => json!(null),
        }
    }
}
