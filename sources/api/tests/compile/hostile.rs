//! Documents made to hurt, and real ones with damage: no panic, and an end within the budgets.

use proptest::prelude::*;
use serde_json::{Value, json};
use source_api::{
    compile::{Compiled, DocumentError, Options, compile},
    report::{Outcome, ReasonCode, WarningCode},
};
use std::{fmt::Write as _, fs, path::Path};

fn compiled(document: &Value) -> Compiled {
    compile(&document.to_string(), &Options::default()).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "the values are written where the function is called")]
fn with_schemas(body: Value, schemas: Value) -> Value {
    json!({
        "openapi": "3.0.0",
        "paths": {"/a": {"post": {"operationId": "a", "requestBody": {"content": {"application/json": {"schema": body}}}}}},
        "components": {"schemas": schemas}
    })
}

/// All schemas can be used and stay within what is stored.
fn check_tools(compiled: &Compiled) {
    for operation in &compiled.document.operations {
        operation.args_schema.check().unwrap_or_else(|e| panic!("{}: {e}", operation.name));
        let text = serde_json::to_string(operation).unwrap();
        assert!(text.len() < 350 * 1024, "{} has {} bytes", operation.name, text.len());
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{} nests too deep", operation.name);
    }
    assert_eq!(compiled.report.totals.tools, compiled.document.operations.len());
}

#[test]
fn references_that_double_at_every_level_stay_small() {
    // Written out, the first of these would hold 2^200 leaves.
    let level = |i: usize| {
        let next = json!({"$ref": format!("#/components/schemas/L{}", i + 1)});
        let text = "long enough not to be small ".repeat(8);
        json!({"type": "object", "description": text, "properties": {"a": next, "b": next}})
    };
    let mut schemas: serde_json::Map<String, Value> = (0..200).map(|i| (format!("L{i}"), level(i))).collect();
    schemas.insert("L200".into(), json!({"type": "string"}));
    let compiled = compiled(&with_schemas(json!({"$ref": "#/components/schemas/L0"}), schemas.into()));
    check_tools(&compiled);
    assert_eq!(compiled.report.totals.tools, 1);
}

#[test]
fn small_references_that_double_stay_small_too() {
    let level = |i: usize| {
        let next = json!({"$ref": format!("#/components/schemas/L{}", i + 1)});
        json!({"allOf": [next, {"properties": {"a": next, "b": next}}]})
    };
    let mut schemas: serde_json::Map<String, Value> = (0..100).map(|i| (format!("L{i}"), level(i))).collect();
    schemas.insert("L100".into(), json!({"type": "string"}));
    check_tools(&compiled(&with_schemas(json!({"$ref": "#/components/schemas/L0"}), schemas.into())));
}

#[test]
fn wide_all_of_trees_are_not_walked_without_end() {
    let level = |i: usize| {
        let next = json!({"$ref": format!("#/components/schemas/L{}", i + 1)});
        json!({"type": "object", "allOf": vec![next; 12], "properties": {format!("p{i}"): {"type": "string"}}})
    };
    let mut schemas: serde_json::Map<String, Value> = (0..30).map(|i| (format!("L{i}"), level(i))).collect();
    schemas.insert("L30".into(), json!({"type": "object"}));
    check_tools(&compiled(&with_schemas(json!({"$ref": "#/components/schemas/L0"}), schemas.into())));
}

#[test]
fn mutual_recursion_is_kept_and_chains_are_cut_to_what_a_reader_can_nest() {
    let chain: serde_json::Map<String, Value> = (0..1_500)
        .map(|i| (format!("C{i}"), json!({"type": "array", "items": {"$ref": format!("#/components/schemas/C{}", (i + 1) % 1_500)}})))
        .collect();
    let compiled = compiled(&with_schemas(json!({"$ref": "#/components/schemas/C0"}), chain.into()));
    check_tools(&compiled);
    let warnings = &compiled.report.operations[0].warnings;
    assert!(warnings.iter().any(|w| w.code == WarningCode::ProviderRecursion), "{warnings:?}");
}

#[test]
fn what_is_too_large_is_cut_and_said() {
    let part = |i: usize| {
        let properties: serde_json::Map<String, Value> = (0..60)
            .map(|p| (format!("property_{i}_{p}"), json!({"type": "string", "maxLength": p + 1})))
            .collect();
        let mut part = json!({"type": "object", "properties": properties});
        part["properties"]["next"] = json!({"$ref": format!("#/components/schemas/P{}", i + 1)});
        part
    };
    let schemas: serde_json::Map<String, Value> = (0..300).map(|i| (format!("P{i}"), part(i))).collect();
    let compiled = compiled(&with_schemas(json!({"$ref": "#/components/schemas/P0"}), schemas.into()));
    check_tools(&compiled);
    assert!(compiled.report.operations[0].warnings.iter().any(|w| w.code == WarningCode::SchemaCut));
    assert!(!compiled.report.is_lossless());
}

#[test]
fn a_schema_without_references_that_is_too_large_is_a_reason() {
    let properties: serde_json::Map<String, Value> =
        (0..9_000).map(|i| (format!("property_{i}"), json!({"type": "string", "maxLength": 12}))).collect();
    let compiled = compiled(&with_schemas(json!({"type": "object", "properties": properties}), json!({})));
    let Outcome::Lost { reason } = &compiled.report.operations[0].outcome else { panic!() };
    assert_eq!(reason.code, ReasonCode::SchemaTooLarge);
}

#[test]
fn colliding_names_are_told_apart_quickly() {
    let paths: serde_json::Map<String, Value> = (0..9_000)
        .map(|i| (format!("/{}", "é".repeat(i % 90 + 1) + &"ü".repeat(i / 90)), json!({"get": {}})))
        .collect();
    let count = paths.len();
    let compiled = compiled(&json!({"swagger": "2.0", "paths": paths}));
    assert_eq!(compiled.report.totals.tools, count);
}

#[test]
fn more_operations_than_can_be_kept_are_a_reason() {
    let paths: serde_json::Map<String, Value> =
        (0..10_050).map(|i| (format!("/{i}"), json!({"get": {}}))).collect();
    let report = compiled(&json!({"openapi": "3.1.0", "paths": paths})).report;
    assert_eq!((report.totals.tools, report.totals.lost), (10_000, 1));
    assert!(!report.is_lossless());
}

#[test]
fn yaml_bombs_are_refused() {
    let mut aliases = String::from("openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let ten = vec![format!("*a{}", i - 1); 10].join(", ");
        writeln!(aliases, "a{i}: &a{i} [{ten}]").unwrap();
    }
    let deep = format!("openapi: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    let deep_json = format!("{{\"openapi\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let nested = (0..3_000).map(|i| " ".repeat(i) + "a:\n").collect();
    for text in [aliases, deep, deep_json, nested] {
        let error = compile(&text, &Options::default()).unwrap_err();
        assert!(matches!(error, DocumentError::Syntax { .. }), "{error}");
    }
    let large = " ".repeat(source_api::compile::MAX_DOCUMENT_BYTES + 1);
    assert!(matches!(compile(&large, &Options::default()), Err(DocumentError::TooLarge(_))));
}

#[test]
fn data_that_looks_like_our_own_references_does_no_harm() {
    let data = json!({"$ref": 999_999});
    let body = json!({
        "type": "object", "default": data, "example": data, "enum": [data], "const": data,
        "properties": {"$ref": {"type": "string"}, "a": {"const": data}, "b": {"enum": [[data]]}},
        "dependentRequired": data, "discriminator": data, "x": data
    });
    check_tools(&compiled(&with_schemas(body, json!({}))));
}

/// The fixtures: between them they hold everything the compiler looks at.
fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|p| fs::read_to_string(p).unwrap()).collect()
}

/// Every place of a value, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                places(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                places(value, &format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}

/// What is put in place of something.
fn intruder() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!("")),
        Just(json!("a\u{0}b{c}/%")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[{}], null, 3])),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/components/schemas/Tree"})),
        Just(json!({"$ref": "x.yaml#/a"})),
        Just(json!({"$ref": 3})),
        Just(
            json!({"type": ["object", 3], "properties": {"a": {"$ref": "#/definitions/Item"}}, "required": {}})
        ),
        Just(json!({"allOf": [{"anyOf": [{}, {"not": {}}]}, 1], "discriminator": "x", "nullable": "yes"})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_values_never_panic(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), intruder(), any::<bool>()), 1..6),
    ) {
        let texts = fixtures();
        let text = &texts[which.index(texts.len())];
        let mut document: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) => serde_saphyr::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(Value::Null),
        };
        for (place, intruder, moves) in damage {
            let mut all = Vec::new();
            places(&document, "", &mut all);
            let to = all[place.index(all.len())].clone();
            // Either something strange, or a part of the document at a place where it does not belong.
            let from = all[place.index(all.len() * 7 + 3) % all.len()].clone();
            let what = if moves { document.pointer(&from).cloned().unwrap_or(Value::Null) } else { intruder };
            if let Some(spot) = document.pointer_mut(&to) {
                *spot = what;
            }
        }
        if let Ok(compiled) = compile(&document.to_string(), &Options::default()) {
            check_tools(&compiled);
        }
    }

    #[test]
    fn damaged_texts_never_panic(
        which in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, "[ -~\t\n{}\\[\\]:&*!|>]{0,8}"), 1..5),
    ) {
        let texts = fixtures();
        let mut text: Vec<char> = texts[which.index(texts.len())].chars().collect();
        for (at, length, put) in cuts {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(compiled) = compile(&text, &Options::default()) {
            check_tools(&compiled);
        }
    }
}
