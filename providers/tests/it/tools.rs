//! Every tool of the registry through `Tool::call`: good arguments, and wrong ones.

use domain::{ToolError, ToolOutput, ToolSource as _};
use providers::catalogue;
use serde_json::{Value, json};

use crate::support::{account_context, context, reference, source};

/// What is expected of a call.
enum Expect {
    /// A result whose text contains this, and whose data has these values at these places.
    Result(&'static str, Vec<(&'static str, Value)>),
    /// A failure that the tool reports in words that contain this.
    Failed(&'static str),
    /// Arguments refused at this place, in words that contain this.
    Refused(&'static str, &'static str),
}
use Expect::{Failed, Refused, Result as Ok_};

#[tokio::test]
async fn every_tool_answers_good_and_wrong_arguments() {
    for (path, args, expected) in table() {
        let tool = source()
            .resolve(&[reference(path, json!({}))], &account_context("alice"))
            .await
            .remove(0)
            .unwrap();
        let result = tool.call(args.clone(), &context()).await;
        check(&format!("{path} {args}"), &result, &expected);
        let is_valid = tool.spec().args_schema.is_valid(&args).unwrap();
        assert!(
            is_valid || matches!(expected, Refused(..)),
            "{path}: good arguments meet the schema: {args}"
        );
    }
}

/// Also those that have no row in the table yet.
#[tokio::test]
async fn every_tool_answers_the_least_arguments_that_its_schema_takes() {
    for (provider, spec) in catalogue::specs().filter(|(_, spec)| !spec.annotations.open_world) {
        let path = format!("{provider}/{}", spec.name);
        let args = least(spec.args_schema.value());
        assert!(spec.args_schema.is_valid(&args).unwrap(), "{path}: {args}");
        let resolved =
            source().resolve(&[reference(&path, json!({}))], &account_context("alice")).await.remove(0);
        // A tool that cannot be built without params has nothing to call.
        let Ok(tool) = resolved else { continue };
        let code = tool.call(args, &context()).await.map_or_else(|error| error.code(), |_| "ok");
        assert!(["ok", "invalid_args"].contains(&code), "{path}: {code}");
    }
}

/// The least value that a schema takes: the required properties, the fewest items, the shortest texts.
fn least(schema: &Value) -> Value {
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    let size = |key: &str, else_: u64| usize::try_from(schema[key].as_u64().unwrap_or(else_)).unwrap();
    match schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str()) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!(vec![least(&schema["items"]); size("minItems", 0)]),
        Some("object") => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let names = required.iter().map(|name| name.as_str().unwrap());
            names.map(|name| (name.to_owned(), least(&schema["properties"][name]))).collect()
        }
        _ => json!("x".repeat(size("minLength", 1))),
    }
}

#[tokio::test]
async fn every_tool_refuses_arguments_that_it_does_not_know() {
    for (provider, spec) in catalogue::specs() {
        let path = format!("{provider}/{}", spec.name);
        let tool = source()
            .resolve(&[reference(&path, crate::examples::of(&path).params)], &account_context("alice"))
            .await
            .remove(0)
            .unwrap();
        for args in [json!({"no_such_argument": 1}), json!([]), json!("text"), Value::Null] {
            assert!(!spec.args_schema.is_valid(&args).unwrap(), "{path}: {args}");
            let error = tool.call(args.clone(), &context()).await.unwrap_err();
            assert_eq!(error.code(), "invalid_args", "{path}: {args}");
        }
    }
}

fn check(case: &str, result: &Result<ToolOutput, ToolError>, expected: &Expect) {
    match (result, expected) {
        (Ok(output), Ok_(text, values)) => {
            assert!(!output.is_error && output.text().contains(text), "{case}: {}", output.text());
            let data = output.structured.clone().unwrap();
            for (pointer, value) in values {
                assert_eq!(data.pointer(pointer), Some(value), "{case}: {pointer} in {data}");
            }
        }
        (Ok(output), Failed(part)) => {
            assert!(output.is_error && output.text().contains(part), "{case}: {}", output.text());
        }
        (Err(ToolError::InvalidArgs { violations }), Refused(place, part)) => {
            let found = violations.iter().any(|v| v.path == *place && v.message.contains(part));
            assert!(found, "{case}: {violations:?}");
        }
        (result, _) => panic!("{case}: {result:?}"),
    }
}

fn table() -> Vec<(&'static str, Value, Expect)> {
    let mut table = time();
    table.extend(calculator());
    table.extend(query());
    table.extend(extract());
    table.extend(texts());
    table.extend(data());
    table.extend(statistics());
    table
}

fn time() -> Vec<(&'static str, Value, Expect)> {
    let (now, convert) = ("time/current_time", "time/convert_time");
    vec![
        (
            now,
            json!({"timezone": "Asia/Shanghai"}),
            Ok_(
                "2026-12-01 22:44:29 CST",
                vec![
                    ("/datetime", json!("2026-12-01T22:44:29+08:00")),
                    ("/timezone", json!("Asia/Shanghai")),
                    ("/utc_offset", json!("+08:00")),
                    ("/unix", json!(crate::support::NOW)),
                ],
            ),
        ),
        (now, json!({}), Ok_("2026-12-01 14:44:29 UTC", vec![("/timezone", json!("UTC"))])),
        (now, json!({"timezone": "america/new_york"}), Ok_("09:44:29 EST", vec![])),
        (now, json!({"format": "%A %-d %B %Y, week %V"}), Ok_("Tuesday 1 December 2026, week 49", vec![])),
        (now, json!({"timezone": "Shanghai"}), Refused("/timezone", "did you mean `Asia/Shanghai`?")),
        (now, json!({"timezone": "Mars/Olympus"}), Refused("/timezone", "use an IANA name")),
        (now, json!({"format": "%"}), Refused("/format", "strftime")),
        (now, json!({"timezone": 8}), Refused("/timezone", "invalid type")),
        (
            convert,
            json!({"time": "2026-12-01 22:44", "from": "Asia/Shanghai", "to": "Europe/Berlin"}),
            Ok_(
                "2026-12-01 22:44:00 CST = 2026-12-01 15:44:00 CET",
                vec![("/to/datetime", json!("2026-12-01T15:44:00+01:00")), ("/note", Value::Null)],
            ),
        ),
        (
            convert,
            json!({"time": "22:44", "from": "Asia/Shanghai", "to": "UTC"}),
            Ok_("14:44:00 UTC", vec![]),
        ),
        (
            convert,
            json!({"time": "2026-07-01T12:00:00Z", "to": "Europe/London"}),
            Ok_("13:00:00 BST", vec![]),
        ),
        (
            convert,
            json!({"time": "2026-03-29 02:30", "from": "Europe/Berlin", "to": "UTC"}),
            Ok_(
                "Note: this local time does not exist",
                vec![("/to/datetime", json!("2026-03-29T01:30:00+00:00"))],
            ),
        ),
        (
            convert,
            json!({"time": "2026-10-25 02:30", "from": "Europe/Berlin", "to": "UTC"}),
            Ok_("happens twice", vec![("/to/datetime", json!("2026-10-25T00:30:00+00:00"))]),
        ),
        (convert, json!({"time": "2026-12-01 22:44", "to": "UTC"}), Refused("/from", "is needed")),
        (convert, json!({"time": "soon", "from": "UTC", "to": "UTC"}), Refused("/time", "write it as")),
        (convert, json!({"time": "22:44", "from": "UTC", "to": "Berlin"}), Refused("/to", "`Europe/Berlin`")),
    ]
}

fn calculator() -> Vec<(&'static str, Value, Expect)> {
    let path = "calculator/evaluate";
    let call = |expression: &str, expected| (path, json!({"expression": expression}), expected);
    vec![
        call("0.1 + 0.2", Ok_("0.3", vec![("/result", json!("0.3")), ("/approximate", json!(false))])),
        call("sqrt(2)", Ok_("approx. 1.41421356", vec![("/approximate", json!(true))])),
        call("5 km + 3 miles to m", Ok_("9828.032 m", vec![])),
        call("1 / 0", Failed("division by zero")),
        call("5 kg + 3 m", Failed("cannot be calculated")),
        call("2 +", Failed("cannot be calculated")),
        call("5 USD to EUR", Failed("cannot be calculated")),
        call(" ", Refused("/expression", "is empty")),
        call(&"(".repeat(60), Refused("/expression", "nests deeper")),
        call(&"1+".repeat(600), Refused("/expression", "longer than")),
    ]
}

fn query() -> Vec<(&'static str, Value, Expect)> {
    let path = "json/query";
    let data = json!({"items": [{"id": 1, "price": 5}, {"id": 2, "price": 20, "name": "鱼"}]});
    let call = |expression: &str, expected| (path, json!({"data": data, "expression": expression}), expected);
    vec![
        call(
            "items[?price > `10`].{id: id, n: name}",
            Ok_("鱼", vec![("/result", json!([{"id": 2, "n": "鱼"}]))]),
        ),
        call("length(items)", Ok_("2", vec![("/result", json!(2))])),
        call("nothing.here", Ok_("null", vec![("/result", Value::Null)])),
        (path, json!({"data": "[1, 2]", "expression": "[1]"}), Ok_("2", vec![("/result", json!(2))])),
        (path, json!({"data": "word", "expression": "@"}), Ok_("word", vec![])),
        (path, json!({"data": "[1, ", "expression": "@"}), Refused("/data", "not of JSON")),
        call("items[", Refused("/expression", "not a JMESPath expression")),
        call("no_such_function(@)", Failed("does not fit the data")),
        call("sum(items)", Failed("does not fit the data")),
        call(&["[@,@][]"; 20].join(" | "), Refused("/expression", "multiplies the data")),
        call(&"[".repeat(40), Refused("/expression", "nests deeper")),
        (path, json!({"expression": "@"}), Refused("", "missing field `data`")),
    ]
}

fn extract() -> Vec<(&'static str, Value, Expect)> {
    let path = "text/extract";
    let first = json!({"text": "ada@example.com", "start": 3, "groups": ["ada", "example.com"],
        "named": {"user": "ada", "host": "example.com"}});
    vec![
        (
            path,
            json!({"text": "致：ada@example.com, bob@example.org", "pattern": r"(?P<user>\w+)@(?P<host>[\w.]+)", "limit": 1}),
            Ok_(
                "there are more",
                vec![
                    ("/matches/0", {
                        let mut first = first;
                        first["start"] = json!(2);
                        first
                    }),
                    ("/count", json!(1)),
                    ("/truncated", json!(true)),
                ],
            ),
        ),
        (path, json!({"text": "a1 b22", "pattern": r"\d+"}), Ok_("1\n22", vec![("/count", json!(2))])),
        (
            path,
            json!({"text": "A\nb", "pattern": "^B", "ignore_case": true, "multi_line": true}),
            Ok_("b", vec![]),
        ),
        (path, json!({"text": "a\nb", "pattern": "a.b", "dot_matches_newline": true}), Ok_("a\nb", vec![])),
        (path, json!({"text": "abc", "pattern": "x"}), Ok_("No match.", vec![("/count", json!(0))])),
        (path, json!({"text": "abc", "pattern": "(a"}), Refused("/pattern", "unclosed group")),
        (path, json!({"text": "abc", "pattern": "(?<=a)b"}), Refused("/pattern", "look-around")),
        (path, json!({"text": "abc", "pattern": r"\w{1000}{1000}"}), Refused("/pattern", "too large")),
        (path, json!({"text": "abc", "pattern": "b", "limit": "many"}), Refused("/limit", "invalid type")),
        (path, json!({"text": "a".repeat(400_000), "pattern": ".*[^A-Z]|[A-Z]"}), Ok_("aaa", vec![])),
    ]
}

fn texts() -> Vec<(&'static str, Value, Expect)> {
    let (replace, count, compare, encode) = ("text/replace", "text/count", "text/compare", "text/encode");
    let coded = |text: &str, encoding: &str, decode: bool| json!({"text": text, "encoding": encoding, "decode": decode});
    vec![
        (
            replace,
            json!({"text": "2026-12-01, 2027-01-02", "pattern": r"(\d+)-(\d+)-(?P<day>\d+)", "replacement": "${day}.$2.$1"}),
            Ok_("01.12.2026, 02.01.2027", vec![("/count", json!(2))]),
        ),
        (
            replace,
            json!({"text": "a.b.c", "pattern": ".", "replacement": "$1", "plain": true}),
            Ok_("a$1b$1c", vec![]),
        ),
        (replace, json!({"text": "abc", "pattern": "x*", "replacement": "-"}), Ok_("-a-b-c-", vec![])),
        (
            replace,
            json!({"text": "abc", "pattern": "(", "replacement": ""}),
            Refused("/pattern", "unclosed group"),
        ),
        (
            count,
            json!({"text": "你好，world! It's\na well-known fact.", "occurrences_of": "l"}),
            Ok_(
                "`l` occurs 3 times",
                vec![
                    ("/characters", json!(33)),
                    ("/words", json!(7)),
                    ("/chinese_characters", json!(2)),
                    ("/lines", json!(2)),
                    ("/bytes", json!(39)),
                ],
            ),
        ),
        (
            count,
            json!({"text": ""}),
            Ok_("0 characters", vec![("/words", json!(0)), ("/occurrences", Value::Null)]),
        ),
        (
            compare,
            json!({"before": "a\nb\nc\n", "after": "a\nB\nc\nd\n"}),
            Ok_("-b\n+B\n c\n+d", vec![("/added", json!(2)), ("/removed", json!(1))]),
        ),
        (compare, json!({"before": "x", "after": "x"}), Ok_("the same", vec![("/diff", json!(""))])),
        (encode, coded("鱼 & chips", "url", false), Ok_("%E9%B1%BC%20%26%20chips", vec![])),
        (encode, coded("%E9%B1%BC%20%26%20chips", "url", true), Ok_("鱼 & chips", vec![])),
        (encode, coded("鱼", "base64", false), Ok_("6bG8", vec![])),
        (encode, coded("6b\nG8", "base64", true), Ok_("鱼", vec![])),
        (encode, coded("_-8", "base64url", true), Failed("is no text")),
        (encode, coded("a?>", "base64url", false), Ok_("YT8-", vec![])),
        (encode, coded("鱼", "hex", false), Ok_("e9b1bc", vec![])),
        (encode, coded("e9b1b", "hex", true), Failed("cannot be decoded")),
        (
            encode,
            coded("<a href=\"x\">'&'</a>", "html", false),
            Ok_("&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;", vec![]),
        ),
        (encode, coded("&lt;&#x9c7c;&#39;&nope; &amp", "html", true), Ok_("<鱼'&nope; &amp", vec![])),
        (
            encode,
            coded("abc", "sha256", false),
            Ok_("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", vec![]),
        ),
        (encode, coded("x", "sha256", true), Failed("a digest keeps nothing")),
        (encode, coded("x", "rot13", false), Refused("/encoding", "unknown variant")),
    ]
}

fn data() -> Vec<(&'static str, Value, Expect)> {
    let (validate, convert) = ("json/validate", "json/convert");
    let schema = json!({"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}});
    let change = |text: &str, from: &str, to: &str| json!({"text": text, "from": from, "to": to});
    vec![
        (
            validate,
            json!({"data": {"age": 3}, "schema": schema}),
            Ok_("meets the schema", vec![("/valid", json!(true))]),
        ),
        (
            validate,
            json!({"data": "{\"age\": \"x\"}", "schema": schema}),
            Ok_("- /age: ", vec![("/valid", json!(false)), ("/violations/0/path", json!("/age"))]),
        ),
        (validate, json!({"data": 1, "schema": {"type": "nothing"}}), Refused("/schema", "cannot be used")),
        (
            validate,
            json!({"data": 1, "schema": {"$ref": "https://example.com/s"}}),
            Refused("/schema", "cannot be used"),
        ),
        (validate, json!({"data": 1, "schema": 5}), Refused("/schema", "must be an object")),
        (convert, change("a: [1, x]\n", "yaml", "json"), Ok_("[\n    1,\n    \"x\"\n  ]", vec![])),
        (
            convert,
            change("[{\"b\": 1, \"a\": \"x,y\"}, {\"c\": {\"d\": null}}]", "json", "csv"),
            Ok_("b,a,c\n1,\"x,y\",\n,,\"{\"\"d\"\":null}\"\n", vec![]),
        ),
        (convert, change("\u{feff}名,数\n鱼,2\n", "csv", "json"), Ok_("\"名\": \"鱼\"", vec![])),
        (convert, change("a,b\n1\n", "csv", "json"), Refused("/text", "is not CSV")),
        (convert, change("a: &x [*x]\n", "yaml", "json"), Refused("/text", "is not YAML")),
        (convert, change("{", "json", "yaml"), Refused("/text", "is not JSON")),
        (convert, change("[1]", "json", "csv"), Failed("something in this list is none")),
        (convert, change("{\"a\": {\"b\": [1]}}", "json", "yaml"), Ok_("a:\n  b:\n", vec![])),
    ]
}

fn statistics() -> Vec<(&'static str, Value, Expect)> {
    let path = "calculator/statistics";
    vec![
        (
            path,
            json!({"numbers": [2, 4, 4, 4, 5, 5, 7, 9]}),
            Ok_(
                "mean: 5.0",
                vec![
                    ("/count", json!(8)),
                    ("/population_deviation", json!(2.0)),
                    ("/median", json!(4.5)),
                    ("/lower_quartile", json!(4.0)),
                    ("/upper_quartile", json!(5.5)),
                    ("/sum", json!(40.0)),
                ],
            ),
        ),
        (
            path,
            json!({"numbers": [1, 2, 3], "other": [5, 7, 9]}),
            Ok_(
                "together",
                vec![
                    ("/together/slope", json!(2.0)),
                    ("/together/intercept", json!(3.0)),
                    ("/together/correlation", json!(1.0)),
                ],
            ),
        ),
        (
            path,
            json!({"numbers": [1e9, 1_000_000_001.0]}),
            Ok_("count: 2", vec![("/population_deviation", json!(0.5))]),
        ),
        (
            path,
            json!({"numbers": [5]}),
            Ok_("count: 1", vec![("/sample_deviation", Value::Null), ("/median", json!(5.0))]),
        ),
        (
            path,
            json!({"numbers": [5, 5], "other": [1, 2]}),
            Ok_("together", vec![("/together/slope", Value::Null)]),
        ),
        (path, json!({"numbers": []}), Refused("/numbers", "is empty")),
        (path, json!({"numbers": [1, 2], "other": [1]}), Refused("/other", "as many")),
    ]
}
