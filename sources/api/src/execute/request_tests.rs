use super::*;
use crate::normal::{Part, Segment, Style};
use serde_json::{Map, Value, json};

fn operation(parameters: Vec<Parameter>) -> Operation {
    Operation {
        path: vec![Segment(vec![Part::Literal("things".into())])],
        fixed_query: vec![("v".into(), "1".into())],
        parameters,
        ..crate::testing::operation()
    }
}

fn parameter(location: Location, name: &str) -> Parameter {
    Parameter {
        arg: name.to_owned(),
        name: name.to_owned(),
        location,
        required: false,
        style: if location == Location::Header { Style::Simple } else { Style::Form },
        explode: location != Location::Header,
        allow_reserved: false,
        content: None,
    }
}

async fn prepared(
    operation: &Operation,
    base: &str,
    args: Value,
    additions: &Additions,
) -> Result<Prepared, ToolError> {
    let args: Map<String, Value> = args.as_object().unwrap().clone();
    prepare(operation, &Url::parse(base).unwrap(), &args, additions).await
}

fn header_text(prepared: &Prepared, name: &str) -> Option<String> {
    let value = prepared.headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

#[tokio::test]
async fn each_parameter_goes_to_its_place() {
    let mut content = parameter(Location::Query, "filter");
    content.content = Some("application/json".into());
    let mut reserved = parameter(Location::Query, "path");
    reserved.allow_reserved = true;
    let operation = operation(vec![
        content,
        reserved,
        parameter(Location::Query, "q[]"),
        parameter(Location::Query, "absent"),
        parameter(Location::Header, "X-Ids"),
        parameter(Location::Cookie, "theme"),
    ]);
    let args = json!({
        "filter": {"a": [1]}, "path": "a/b&c", "q[]": ["x y", "z"], "absent": null,
        "X-Ids": [1, 2], "theme": "dark blue",
    });
    let found = prepared(&operation, "https://h.example/api/", args, &Additions::default()).await.unwrap();
    assert_eq!(
        found.url.as_str(),
        "https://h.example/api/things?v=1&filter=%7B%22a%22%3A%5B1%5D%7D&path=a/b%26c&q%5B%5D=x%20y&q%5B%5D=z"
    );
    assert_eq!(header_text(&found, "x-ids").as_deref(), Some("1,2"));
    assert_eq!(header_text(&found, "cookie").as_deref(), Some("theme=dark%20blue"));
}

#[tokio::test]
async fn a_base_address_keeps_its_path_and_query() {
    let table = [
        ("https://h.example", "https://h.example/things?v=1"),
        ("https://h.example/a/b", "https://h.example/a/b/things?v=1"),
        ("https://h.example/a/?key=x", "https://h.example/a/things?key=x&v=1"),
    ];
    for (base, wanted) in table {
        let found = prepared(&operation(vec![]), base, json!({}), &Additions::default()).await.unwrap();
        assert_eq!(found.url.as_str(), wanted);
    }
}

#[tokio::test]
async fn headers_that_no_argument_may_fill_are_refused() {
    for name in ["Authorization", "HOST", "transfer-encoding", "Connection", "Cookie", "X-Api-Key"] {
        let operation = operation(vec![parameter(Location::Header, name)]);
        let args = Value::Object(Map::from_iter([(name.to_owned(), json!("x"))]));
        let refused = prepared(&operation, "https://h.example", args, &Additions::default()).await;
        assert_eq!(refused.err().map(|e| e.code()), Some("blocked"), "{name}");
    }
}

#[tokio::test]
async fn what_a_scheme_names_is_guarded_at_its_place_alone() {
    let operation = operation(vec![
        parameter(Location::Query, "key"),
        parameter(Location::Cookie, "sid"),
        parameter(Location::Header, "x-tenant"),
    ]);
    let guarded = vec![
        (Location::Query, "key".to_owned()),
        (Location::Cookie, "sid".to_owned()),
        (Location::Header, "X-Tenant".to_owned()),
    ];
    let additions = Additions { guarded, ..Additions::default() };
    for name in ["key", "sid", "x-tenant"] {
        let args = Value::Object(Map::from_iter([(name.to_owned(), json!("x"))]));
        let refused = prepared(&operation, "https://h.example", args, &additions).await;
        assert_eq!(refused.err().map(|e| e.code()), Some("blocked"), "{name}");
    }
}

#[tokio::test]
async fn a_header_value_with_a_line_break_is_pointed_at() {
    let operation = operation(vec![parameter(Location::Header, "X-Note")]);
    let args = json!({"X-Note": "a\r\nX-Other: b"});
    let error = prepared(&operation, "https://h.example", args, &Additions::default()).await.err().unwrap();
    let ToolError::InvalidArgs { violations } = error else { panic!("{error}") };
    assert_eq!(violations[0].path, "/X-Note");
}

#[tokio::test]
async fn the_provider_and_its_credentials_win_over_arguments() {
    let name = |text: &'static str| HeaderName::from_static(text);
    let additions = Additions {
        headers: vec![
            (name("x-plain"), "provider".into()),
            (name("x-my-token"), "provider".into()),
            (name("cookie"), "own=1".into()),
        ],
        credential_headers: vec![(header::AUTHORIZATION, "Bearer canary".into())],
        query: vec![("api key".into(), "s&1".into())],
        cookies: vec![("sid".into(), "s;2".into())],
        guarded: vec![],
    };
    let operation = operation(vec![
        parameter(Location::Header, "X-Plain"),
        parameter(Location::Header, "X-My-Token"),
        parameter(Location::Cookie, "theme"),
    ]);
    let args = json!({"X-Plain": "model", "X-My-Token": "model", "theme": "dark"});
    let found = prepared(&operation, "https://h.example", args, &additions).await.unwrap();
    assert_eq!(header_text(&found, "x-plain").as_deref(), Some("model"));
    assert_eq!(header_text(&found, "x-my-token").as_deref(), Some("provider"));
    assert_eq!(header_text(&found, "authorization").as_deref(), Some("Bearer canary"));
    assert_eq!(header_text(&found, "cookie").as_deref(), Some("own=1; theme=dark; sid=s%3B2"));
    assert_eq!(found.url.query(), Some("v=1&api%20key=s%261"));
    for secret in ["x-my-token", "authorization", "cookie"] {
        assert!(found.headers[secret].is_sensitive(), "{secret}");
    }
}

#[test]
fn json_is_asked_for_first() {
    let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    let table: [(&[&str], &str); 4] = [
        (&[], "application/json, */*;q=0.1"),
        (&["text/csv"], "text/csv, */*;q=0.1"),
        (&["text/xml", "application/json"], "application/json, text/xml;q=0.9, */*;q=0.1"),
        (&["*/*", "application/hal+json"], "application/hal+json, */*;q=0.1"),
    ];
    for (listed, wanted) in table {
        assert_eq!(accept(&texts(listed)), wanted);
    }
}
