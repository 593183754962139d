//! Small documents, each with the traps of one kind, and what becomes of them.

use source_api::{
    compile::{Compiled, Options, compile},
    report::Outcome,
};
use std::{fs, path::Path};

fn fixture(name: &str) -> Compiled {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    compile(&fs::read_to_string(path).unwrap(), &Options::default()).unwrap()
}

/// The normal form and the report of a fixture; every schema can be used.
fn check(name: &str) {
    let compiled = fixture(name);
    for operation in &compiled.document.operations {
        operation.args_schema.check().unwrap_or_else(|e| panic!("{name} {}: {e}", operation.name));
    }
    let stem = name.split('.').next().unwrap();
    insta::assert_json_snapshot!(format!("{stem}-document"), compiled.document);
    insta::assert_json_snapshot!(format!("{stem}-report"), compiled.report);
}

#[test]
fn swagger_2() {
    check("v2.yaml");
}

#[test]
fn parameters_of_all_places_and_styles() {
    check("parameters.yaml");
}

#[test]
fn bodies_of_all_kinds() {
    check("bodies.yaml");
}

#[test]
fn schemas_of_3_0() {
    check("schemas.yaml");
}

#[test]
fn openapi_3_1() {
    check("v31.json");
}

#[test]
fn a_bad_spot_costs_at_most_its_operation() {
    check("broken.yaml");
}

#[test]
fn yaml_as_people_write_it() {
    check("yaml.yaml");
}

#[test]
fn the_report_reads_well() {
    insta::assert_snapshot!(fixture("broken.yaml").report.render(100));
}

#[test]
fn every_fixture_has_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let tested = include_str!("fixtures.rs");
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(tested.contains(&format!("check(\"{name}\")")), "{name}");
    }
}

#[test]
fn a_selection_takes_a_part_and_says_so() {
    let text = include_str!("../fixtures/bodies.yaml");
    let options = Options { select: "method:post id:*e* !id:none id:nothing".parse().unwrap() };
    let Compiled { document, report } = compile(text, &options).unwrap();
    let names: Vec<_> = document.operations.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["spread", "allOfIsPutTogether", "openObject", "text", "lines"]);
    assert_eq!(report.totals.tools + report.totals.not_selected, report.totals.operations);
    assert!(report.operations.iter().any(|o| o.name == "none" && o.outcome == Outcome::NotSelected));
    assert!(report.notes.iter().any(|n| n.message.contains("`id:nothing`")));
}

#[test]
fn wrong_arguments_are_refused_by_the_schema() {
    let compiled = fixture("bodies.yaml");
    let schema = |name: &str| {
        let operation = compiled.document.operations.iter().find(|o| o.name == name);
        operation.unwrap().args_schema.clone()
    };
    let table = [
        ("spread", r#"{"name":"Rex"}"#, true),
        ("spread", r#"{"name":7}"#, false),
        ("spread", r#"{"password":"x"}"#, false),
        ("spread", r#"{"name":"Rex","id":1}"#, false),
        ("collides", r#"{"name":"a","body":{"name":"b"}}"#, true),
        ("collides", r#"{"name":"a","body":{}}"#, false),
        ("allOfIsPutTogether", r#"{"name":"a","size":1}"#, true),
        ("allOfIsPutTogether", r#"{"name":"a"}"#, false),
        ("list", r#"{"body":[{"name":"a"}]}"#, true),
        ("list", r#"{"body":[{"name":1}]}"#, false),
        ("form", r#"{"a":"x","list":["y"]}"#, true),
        ("form", r#"{"a":"x","list":"y"}"#, false),
    ];
    for (name, args, expected) in table {
        let args = serde_json::from_str(args).unwrap();
        assert_eq!(schema(name).is_valid(&args).unwrap(), expected, "{name} {args}");
    }
}
