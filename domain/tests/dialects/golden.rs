//! Each sample in every dialect, as a snapshot. The samples have the shapes of real tools.

use crate::checker;
use domain::dialect::{Dialect, project};
use serde_json::{Map, Value, json};

const SAMPLES: &[(&str, &str)] = &[
    ("mcp_zod_draft7", include_str!("samples/mcp_zod_draft7.json")),
    ("mcp_root_any_of", include_str!("samples/mcp_root_any_of.json")),
    ("mcp_required_only", include_str!("samples/mcp_required_only.json")),
    ("pydantic_union", include_str!("samples/pydantic_union.json")),
    ("recursive_filter", include_str!("samples/recursive_filter.json")),
    ("openapi_30", include_str!("samples/openapi_30.json")),
    ("conditionals", include_str!("samples/conditionals.json")),
    ("tangled", include_str!("samples/tangled.json")),
    ("broken", include_str!("samples/broken.json")),
    ("empty", include_str!("samples/empty.json")),
];

#[test]
fn samples_are_projected_as_before_and_by_the_rules() {
    let mut problems = Vec::new();
    for (name, text) in SAMPLES {
        let schema: Value = serde_json::from_str(text).unwrap();
        let mut all = Map::new();
        for dialect in Dialect::ALL {
            let projection = project(&schema, dialect).unwrap();
            for problem in checker::problems(dialect, &projection.schema) {
                problems.push(format!("{name} {dialect}: {problem}"));
            }
            let losses = projection.losses.iter();
            let losses: Vec<_> = losses.map(|loss| format!("{}: {}", loss.path, loss.what)).collect();
            all.insert(dialect.to_string(), json!({"schema": projection.schema, "losses": losses}));
        }
        insta::assert_json_snapshot!(*name, Value::Object(all));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn what_is_no_object_is_named() {
    for (schema, path) in [
        (json!({"type": "string"}), "/type"),
        (json!({"type": ["array", "null"]}), "/type"),
        (json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), "/anyOf"),
        (json!(false), ""),
        (json!("object"), ""),
    ] {
        for dialect in Dialect::ALL {
            let refused = project(&schema, dialect).unwrap_err();
            assert_eq!(refused.path, path, "{schema} {refused}");
        }
    }
}

#[test]
fn limits_are_kept() {
    let large: Map<String, Value> = (0..6000).map(|i| (format!("p{i}"), json!({"type": "string"}))).collect();
    let large = json!({"type": "object", "properties": large});
    let refused = project(&large, Dialect::OpenAiStrict).unwrap_err();
    assert!(refused.reason.contains("6000 properties"), "{refused}");
    assert!(project(&large, Dialect::OpenAi).is_ok());

    // Each level refers to the next one twice: inlined whole it would have 2^40 properties.
    let mut levels: Map<String, Value> = (0..40)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/l{}", i + 1)});
            (format!("l{i}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
        })
        .collect();
    levels.insert("l40".to_owned(), json!({"type": "string"}));
    let doubling = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/l0"}}, "$defs": levels});
    for dialect in Dialect::ALL {
        let projection = project(&doubling, dialect).unwrap();
        assert_eq!(checker::problems(dialect, &projection.schema), Vec::<String>::new());
        let size = projection.schema.to_string().len();
        assert!(size < 200_000, "{dialect}: {size}");
    }
}

#[test]
fn dialects_have_names() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.as_str().parse(), Ok(dialect));
        assert_eq!(json!(dialect), json!(dialect.as_str()));
    }
    assert!("gpt".parse::<Dialect>().is_err());
}
