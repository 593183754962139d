use super::*;
use crate::normal::{Location, Style};
use proptest::prelude::*;
use serde_json::{Map, json};

/// `/v1/{id}/x-{id2}` below a server; `style` and `allow_reserved` are of both.
fn operation(style: Style, allow_reserved: bool) -> Operation {
    let parameter = |name: &str| Parameter {
        arg: name.to_owned(),
        name: name.to_owned(),
        location: Location::Path,
        required: true,
        style,
        explode: false,
        allow_reserved,
        content: None,
    };
    let value = |name: &str| Part::Parameter(name.to_owned());
    let literal = |text: &str| Part::Literal(text.to_owned());
    Operation {
        path: vec![
            Segment(vec![literal("v1")]),
            Segment(vec![value("id")]),
            Segment(vec![literal("x-"), value("id2")]),
        ],
        parameters: vec![parameter("id"), parameter("id2")],
        ..crate::testing::operation()
    }
}

fn args(id: Value, id2: Value) -> Map<String, Value> {
    Map::from_iter([("id".to_owned(), id), ("id2".to_owned(), id2)])
}

fn expanded(id: Value) -> Result<String, ToolError> {
    expand(&operation(Style::Simple, false), &args(id, json!("b")))
}

#[test]
fn values_stay_in_their_segment() {
    let table = [
        (json!("a"), "v1/a/x-b"),
        (json!(5), "v1/5/x-b"),
        (json!("a/b"), "v1/a%2Fb/x-b"),
        (json!("a b?c#d%2e"), "v1/a%20b%3Fc%23d%252e/x-b"),
        (json!("..."), "v1/.../x-b"),
        (json!("a..b"), "v1/a..b/x-b"),
        (json!("天"), "v1/%E5%A4%A9/x-b"),
        (json!(["a", "b/c"]), "v1/a,b%2Fc/x-b"),
        (json!("\u{0}\r\n"), "v1/%00%0D%0A/x-b"),
    ];
    for (id, wanted) in table {
        assert_eq!(expanded(id).unwrap(), wanted);
    }
}

#[test]
fn values_that_climb_are_refused() {
    let refused = [
        json!("."),
        json!(".."),
        json!("../admin"),
        json!("a/../../b"),
        json!("a\\..\\b"),
        json!(["ok", ".."]),
        json!({"k": "../x"}),
        json!(""),
        json!(null),
        json!([]),
    ];
    for id in refused {
        let error = expanded(id.clone()).unwrap_err();
        let ToolError::InvalidArgs { violations } = error else { panic!("{id}: {error}") };
        assert_eq!(violations[0].path, "/id", "{id}");
    }
}

#[test]
fn a_prefix_cannot_be_used_to_climb() {
    // The label style's own dot and a value of one dot would make two.
    let error = expand(&operation(Style::Label, false), &args(json!("."), json!("b"))).unwrap_err();
    assert!(matches!(error, ToolError::InvalidArgs { .. }));
    assert_eq!(
        expand(&operation(Style::Label, false), &args(json!("a"), json!(".."))).map_err(|e| e.code()),
        Err("invalid_args")
    );
}

#[test]
fn a_value_that_may_span_segments_still_cannot_climb() {
    let spanning = operation(Style::Simple, true);
    assert_eq!(expand(&spanning, &args(json!("a/b?c#d"), json!("b"))).unwrap(), "v1/a/b%3Fc%23d/x-b");
    for id in ["a/../b", "..", "a/./b", "./a"] {
        assert!(expand(&spanning, &args(json!(id), json!("b"))).is_err(), "{id}");
    }
}

proptest! {
    #[test]
    fn the_number_of_segments_never_changes(id in "(\\PC|[./\\\\%?#;]){0,12}", id2 in "(\\PC|[./\\\\%]){0,12}") {
        for style in [Style::Simple, Style::Label, Style::Matrix] {
            let Ok(path) = expand(&operation(style, false), &args(json!(id), json!(id2))) else { continue };
            prop_assert_eq!(path.split('/').count(), 3);
            let mut url = url::Url::parse("https://host.example/base").unwrap();
            url.set_path(&format!("/base/{path}"));
            prop_assert_eq!(url.path(), format!("/base/{path}"));
            prop_assert_eq!(url.path_segments().unwrap().count(), 4);
            prop_assert!(url.query().is_none() && url.fragment().is_none());
        }
    }

    #[test]
    fn what_is_accepted_comes_back(id in "\\PC{1,12}") {
        if let Ok(path) = expanded(json!(id)) {
            let segment = path.split('/').nth(1).unwrap();
            prop_assert_eq!(percent_decode_str(segment).decode_utf8().unwrap(), id);
        }
    }
}
