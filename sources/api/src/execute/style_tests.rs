use super::*;
use crate::normal::Style::{self, *};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::{Map, json};

fn styled(style: Style, explode: bool) -> Styled<'static> {
    Styled { style, explode, name: "color", escape: Escape::Component }
}

fn query(style: Style, explode: bool, value: &Value) -> String {
    let pairs = styled(style, explode).pairs(value);
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// The style table of the OpenAPI specification (3.1.1, 4.8.12), line by line: empty text, text, array, object.
#[test]
fn the_table_of_the_specification_holds() {
    let array = json!(["blue", "black", "brown"]);
    let object = json!({"R": 100, "G": 200, "B": 150});
    let in_path: [(Style, bool, [&str; 4]); 6] = [
        (Matrix, false, [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]),
        (
            Matrix,
            true,
            [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
        ),
        (Label, false, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
        (Label, true, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
        (Simple, false, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
        (Simple, true, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
    ];
    for (style, explode, wanted) in in_path {
        let values = [&json!(""), &json!("blue"), &array, &object];
        let found = values.map(|value| styled(style, explode).joined(value).unwrap());
        assert_eq!(found, wanted, "{style:?} {explode}");
    }
    let in_query: [(Style, bool, [&str; 4]); 7] = [
        (Form, false, ["color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"]),
        (Form, true, ["color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"]),
        (
            SpaceDelimited,
            false,
            ["color=", "color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"],
        ),
        (
            PipeDelimited,
            false,
            ["color=", "color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"],
        ),
        (
            TabDelimited,
            false,
            ["color=", "color=blue", "color=blue%09black%09brown", "color=R%09100%09G%09200%09B%09150"],
        ),
        (
            PipeDelimited,
            true,
            ["color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
        ),
        (
            DeepObject,
            true,
            [
                "color=",
                "color=blue",
                "color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown",
                "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
            ],
        ),
    ];
    for (style, explode, wanted) in in_query {
        let values = [&json!(""), &json!("blue"), &array, &object];
        let found = values.map(|value| query(style, explode, value));
        assert_eq!(found, wanted, "{style:?} {explode}");
    }
}

#[test]
fn deep_objects_go_as_deep_as_the_value() {
    let value = json!({"a": {"b": [1, {"c": "x y"}]}, "none": null, "q[": true});
    assert_eq!(
        query(DeepObject, true, &value),
        "color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=x%20y&color%5Bq%5B%5D=true"
    );
}

#[test]
fn scalars_are_written_as_json_writes_them() {
    let table = [
        (json!(5), "5"),
        (json!(5.0), "5"),
        (json!(-0.25), "-0.25"),
        (json!(1e300), "1e+300"),
        (json!(9_007_199_254_740_993_u64), "9007199254740993"),
        (json!(true), "true"),
        (json!("a\"b"), "a\"b"),
        (json!({"a": [1]}), "{\"a\":[1]}"),
    ];
    for (value, wanted) in table {
        assert_eq!(text_of(&value), wanted);
    }
}

#[test]
fn nothing_is_written_for_nothing() {
    for value in [json!(null), json!([]), json!({}), json!([null]), json!({"a": null})] {
        for style in [Form, SpaceDelimited, DeepObject] {
            assert!(styled(style, true).pairs(&value).is_empty(), "{value} {style:?}");
        }
        assert!(styled(Simple, false).joined(&value).is_none(), "{value}");
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

/// Reads a query as servers do: split at `&` and `=`, then unescaped.
fn parsed(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

fn member(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

proptest! {
    #[test]
    fn lists_come_back(items in prop::collection::vec("\\PC{0,12}", 1..6)) {
        let value = json!(items);
        let exploded = parsed(&query(Form, true, &value));
        prop_assert!(exploded.iter().all(|(name, _)| name == "color"));
        prop_assert_eq!(exploded.into_iter().map(|(_, v)| v).collect::<Vec<_>>(), items.clone());

        // Where items are joined, they are split before they are unescaped.
        let joined = query(Form, false, &value);
        let back: Vec<_> = joined.strip_prefix("color=").unwrap().split(',').map(decoded).collect();
        prop_assert_eq!(back, items.clone());
        let simple = styled(Simple, false).joined(&value).unwrap();
        prop_assert_eq!(simple.split(',').map(decoded).collect::<Vec<_>>(), items.clone());
        let matrix = styled(Matrix, true).joined(&value).unwrap();
        let back: Vec<_> = matrix[1..]
            .split(';')
            .map(|part| part.strip_prefix("color").unwrap())
            .map(|part| decoded(part.strip_prefix('=').unwrap_or_default()))
            .collect();
        prop_assert_eq!(back, items);
    }

    #[test]
    fn lists_come_back_where_their_delimiter_is_not_in_them(items in prop::collection::vec("[^ |\t\\p{C}]{1,9}", 1..6)) {
        for (style, delimiter) in [(SpaceDelimited, ' '), (PipeDelimited, '|'), (TabDelimited, '\t')] {
            let pairs = parsed(&query(style, false, &json!(items)));
            let back: Vec<String> = pairs[0].1.split(delimiter).map(str::to_owned).collect();
            prop_assert_eq!(back, items.clone());
        }
    }

    #[test]
    fn objects_come_back(members in prop::collection::btree_map("\\PC{1,8}", "\\PC{0,8}", 1..5)) {
        let value: Value = members.iter().map(|(k, v)| (k.clone(), member(v))).collect::<Map<_, _>>().into();
        let given: Vec<_> = value.as_object().unwrap().iter()
            .map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned()))
            .collect();
        prop_assert_eq!(parsed(&query(Form, true, &value)), given.clone());
        let deep = parsed(&query(DeepObject, true, &value)).into_iter()
            .map(|(name, v)| (name.strip_prefix("color[").unwrap().strip_suffix(']').unwrap().to_owned(), v))
            .collect::<Vec<_>>();
        prop_assert_eq!(deep, given.clone());
        let simple = styled(Simple, true).joined(&value).unwrap();
        let back: Vec<_> = simple.split(',')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(k, v)| (decoded(k), decoded(v)))
            .collect();
        prop_assert_eq!(back, given);
    }
}
