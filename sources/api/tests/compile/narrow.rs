//! The narrow protocol, rule by rule, and what it compiles to.

use serde_json::{Value, json};
use source_api::{
    compile::{Compiled, DocumentError, Options, compile},
    narrow::{NarrowCode, NarrowError},
    normal::{BodyArgs, Location, Method},
};

fn good() -> Value {
    json!({
        "server": "https://api.example.com/v1",
        "description": "Weather",
        "paths": {
            "/weather/{city}": {
                "get": {
                    "description": "Reads the weather",
                    "operationId": "getWeather",
                    "parameters": [
                        {"name": "city", "in": "path", "description": "City", "required": true, "type": "str"},
                        {"name": "days", "in": "query", "description": "Days", "required": false, "type": "int"}
                    ]
                },
                "post": {
                    "description": "Reports the weather",
                    "operationId": "postWeather",
                    "parameters": [
                        {"name": "city", "in": "path", "description": "City", "required": true, "type": "str"},
                        {"name": "degrees", "in": "request_body", "description": "", "required": true, "type": "float"},
                        {"name": "sunny", "in": "request_body", "description": "Sun", "required": false, "type": "bool"},
                        {"name": "X-Station", "in": "header", "description": "Id", "required": true, "type": "str"}
                    ],
                    "excess": 1
                }
            }
        },
        "excess": true
    })
}

fn compiled(document: &Value) -> Compiled {
    compile(&document.to_string(), &Options::default()).unwrap()
}

fn errors(document: &Value) -> Vec<NarrowError> {
    match compile(&document.to_string(), &Options::default()) {
        Err(DocumentError::Narrow(errors)) => errors.0,
        other => panic!("{document}: {other:?}"),
    }
}

#[test]
fn a_good_document_becomes_tools() {
    let compiled = compiled(&good());
    assert!(compiled.report.is_lossless());
    insta::assert_json_snapshot!(compiled.document);
}

#[test]
fn get_and_post_of_one_path_both_survive() {
    let operations = compiled(&good()).document.operations;
    let found: Vec<_> = operations.iter().map(|o| (o.method, o.name.as_str())).collect();
    assert_eq!(found, [(Method::Get, "getWeather"), (Method::Post, "postWeather")]);
}

#[test]
fn each_rule_is_checked_and_names_its_place() {
    let get = "/paths/~1weather~1{city}/get";
    let first = format!("{get}/parameters/0");
    // What to change, to what (nothing: removed), the code, the place.
    let table: Vec<(String, Option<Value>, NarrowCode, String)> = vec![
        ("/server".into(), None, NarrowCode::Server, "/server".into()),
        ("/server".into(), Some(json!("")), NarrowCode::Server, "/server".into()),
        ("/description".into(), Some(json!(null)), NarrowCode::Description, "/description".into()),
        ("/paths".into(), Some(json!({})), NarrowCode::Paths, "/paths".into()),
        ("/paths".into(), Some(json!([])), NarrowCode::Paths, "/paths".into()),
        (
            "/paths/~1weather~1{city}".into(),
            Some(json!(1)),
            NarrowCode::NotAnObject,
            "/paths/~1weather~1{city}".into(),
        ),
        (get.into(), Some(json!([])), NarrowCode::NotAnObject, get.into()),
        (
            format!("{get}/description"),
            Some(json!(1)),
            NarrowCode::OperationDescription,
            format!("{get}/description"),
        ),
        (format!("{get}/operationId"), None, NarrowCode::OperationId, format!("{get}/operationId")),
        (format!("{get}/parameters"), Some(json!({})), NarrowCode::Parameters, format!("{get}/parameters")),
        (first.clone(), Some(json!("x")), NarrowCode::Parameter, first.clone()),
        (format!("{first}/name"), Some(json!(7)), NarrowCode::ParameterName, format!("{first}/name")),
        (
            format!("{first}/description"),
            None,
            NarrowCode::ParameterDescription,
            format!("{first}/description"),
        ),
        (format!("{first}/required"), None, NarrowCode::ParameterRequired, format!("{first}/required")),
        (
            format!("{first}/required"),
            Some(json!("yes")),
            NarrowCode::ParameterRequired,
            format!("{first}/required"),
        ),
        (format!("{first}/in"), Some(json!("body")), NarrowCode::ParameterIn, format!("{first}/in")),
        (format!("{first}/type"), Some(json!("string")), NarrowCode::ParameterType, format!("{first}/type")),
    ];
    for (change, to, code, place) in table {
        let mut document = good();
        let (parent, key) = change.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/");
        match (document.pointer_mut(parent).unwrap(), to) {
            (Value::Object(map), Some(to)) => drop(map.insert(key, to)),
            (Value::Object(map), None) => drop(map.shift_remove(&key)),
            (Value::Array(list), Some(to)) => list[key.parse::<usize>().unwrap()] = to,
            _ => panic!("{change}"),
        }
        let found = errors(&document);
        let found: Vec<_> = found.iter().map(|e| (e.code, e.pointer.clone())).collect();
        assert_eq!(found, [(code, place)], "{change}");
    }
}

#[test]
fn all_violations_are_told_in_the_order_of_the_rules_with_their_interface() {
    let mut document = good();
    document["server"] = json!("");
    document["paths"]["/weather/{city}"]["post"]["operationId"] = json!("getWeather");
    document["paths"]["/weather/{city}"]["get"]["parameters"][1]["type"] = json!("number");
    let found = errors(&document);
    let codes: Vec<_> = found.iter().map(|e| e.code).collect();
    assert_eq!(codes, [NarrowCode::Server, NarrowCode::ParameterType, NarrowCode::DuplicateOperationId]);
    assert_eq!(found[1].interface.as_deref(), Some("GET /weather/{city}"));
    assert_eq!(
        found[2].to_string(),
        "POST /weather/{city}: `operationId` must be unique in the document; `getWeather` stands there twice."
    );
}

#[test]
fn what_the_protocol_allows_is_allowed() {
    let mut document = good();
    document["paths"]["/plain"] = json!({"get": {"description": "", "operationId": "plain"}, "summary": "x"});
    document["paths"]["/open/{x}"] =
        json!({"post": {"description": "d", "operationId": "open", "parameters": []}});
    let operations = compiled(&document).document.operations;
    let open = operations.iter().find(|o| o.name == "open").unwrap();
    // A placeholder without a parameter is text; a post always has a JSON object.
    assert_eq!(serde_json::to_value(&open.path[1]).unwrap(), json!([{"literal": "%7Bx%7D"}]));
    let body = open.body.as_ref().unwrap();
    assert!(body.required && body.args == BodyArgs::Spread { fields: vec![] });
    assert!(operations.iter().find(|o| o.name == "plain").unwrap().body.is_none());
}

#[test]
fn other_methods_are_reported_not_dropped_in_silence() {
    let mut document = good();
    document["paths"]["/weather/{city}"]["delete"] = json!({});
    document["paths"]["/weather/{city}"]["GET"] = json!({});
    let report = compiled(&document).report;
    assert_eq!((report.totals.tools, report.totals.lost), (2, 2));
    assert!(!report.is_lossless());
}

#[test]
fn a_credential_is_no_argument_and_doubles_stay_apart() {
    let mut document = good();
    let list = &mut document["paths"]["/weather/{city}"]["get"]["parameters"];
    let parameter =
        |name, place| json!({"name": name, "in": place, "description": "", "required": true, "type": "str"});
    *list = json!([
        parameter("Authorization", "header"),
        parameter("city", "query"),
        parameter("city", "path"),
        parameter("city", "request_body"),
    ]);
    let operation = compiled(&document).document.operations.remove(0);
    let args: Vec<_> =
        operation.args_schema.value()["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(args, ["city_query", "city", "body"]);
    assert_eq!(operation.withheld[0].name, "Authorization");
    assert_eq!(operation.withheld[0].location, Location::Header);
    assert_eq!(operation.args_schema.value()["properties"]["body"]["required"], json!(["city"]));
}

#[test]
fn what_is_no_document_says_why() {
    let error = |text: &str| compile(text, &Options::default()).unwrap_err();
    assert_eq!(error(" \u{feff}"), DocumentError::Empty);
    assert!(matches!(error("[]"), DocumentError::NotAnObject("a list")));
    assert_eq!(error("{}"), DocumentError::Unrecognised);
    let DocumentError::Syntax { format, line, column, .. } = error("{\n \"server\": }") else { panic!() };
    assert_eq!((format, line, column), ("JSON", 2, 12));
    let DocumentError::Syntax { format, line, .. } = error("a: b\n  c: [\n") else { panic!() };
    assert_eq!((format, line), ("YAML", 2));
    let yaml = "server: https://x.example\ndescription: d\npaths: {/a: {}}\n";
    assert!(matches!(error(yaml), DocumentError::Narrow(e) if e.0[0].code == NarrowCode::NotJson));
}
