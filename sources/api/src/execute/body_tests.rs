use super::*;
use crate::normal::BodyField;
use serde_json::json;

fn body(kind: BodyKind, media_type: &str) -> Body {
    let args = BodyArgs::Whole { arg: "body".into() };
    Body { required: true, media_type: media_type.into(), kind, args }
}

async fn encoded(body: &Body, args: Value) -> Result<Option<(String, String)>, ToolError> {
    let encoded = encode(body, args.as_object().unwrap()).await?;
    Ok(encoded.map(|e| (e.content_type, String::from_utf8_lossy(&e.bytes).into_owned())))
}

async fn text_of_whole(kind: BodyKind, value: Value) -> String {
    encoded(&body(kind, "x/y"), json!({ "body": value })).await.unwrap().unwrap().1
}

fn form(fields: &[(&str, FieldEncoding)]) -> BodyKind {
    let fields = fields.iter().map(|(name, e)| ((*name).to_owned(), e.clone())).collect();
    BodyKind::UrlEncoded { fields }
}

#[tokio::test]
async fn json_is_sent_as_it_is_with_its_own_type() {
    let body = body(BodyKind::Json, "application/vnd.api+json");
    let found = encoded(&body, json!({"body": {"a": [1.5, null, "é"]}})).await.unwrap().unwrap();
    assert_eq!(found, ("application/vnd.api+json".to_owned(), r#"{"a":[1.5,null,"é"]}"#.to_owned()));
    assert_eq!(text_of_whole(BodyKind::JsonLines, json!([{"a": 1}, 2])).await, "{\"a\":1}\n2\n");
}

#[tokio::test]
async fn fields_of_a_spread_body_are_gathered() {
    let field = |arg: &str, name: &str| BodyField { arg: arg.into(), name: name.into() };
    let fields = vec![field("id_body", "id"), field("name", "name")];
    let mut body = Body {
        required: false,
        media_type: "application/json".into(),
        kind: BodyKind::Json,
        args: BodyArgs::Spread { fields },
    };
    let found = encoded(&body, json!({"id": 1, "id_body": 2, "name": null})).await.unwrap().unwrap();
    assert_eq!(found.1, r#"{"id":2,"name":null}"#);
    assert_eq!(encoded(&body, json!({"id": 1})).await.unwrap(), None);
    body.required = true;
    assert_eq!(encoded(&body, json!({"id": 1})).await.unwrap().unwrap().1, "{}");
}

#[tokio::test]
async fn a_whole_body_that_is_absent_is_not_sent_unless_it_must_be() {
    let mut body = body(BodyKind::Json, "application/json");
    assert!(matches!(encoded(&body, json!({})).await, Err(ToolError::InvalidArgs { .. })));
    body.required = false;
    assert_eq!(encoded(&body, json!({})).await.unwrap(), None);
}

#[tokio::test]
async fn forms_are_written_by_their_encodings() {
    let styled = |style, explode| FieldEncoding::Styled { style, explode, allow_reserved: false };
    let fields = form(&[
        ("deep", styled(Style::DeepObject, true)),
        ("csv", styled(Style::Form, false)),
        ("json", FieldEncoding::Json),
    ]);
    let value = json!({
        "plain": "a b&c=d+é",
        "n": 1.0,
        "list": [1, "x"],
        "object": {"a": 1},
        "deep": {"a": {"b": [true]}},
        "csv": ["x", "y,z"],
        "json": [1],
    });
    assert_eq!(
        text_of_whole(fields, value).await,
        "plain=a%20b%26c%3Dd%2B%C3%A9&n=1&list=1&list=x&object=%7B%22a%22%3A1%7D&deep%5Ba%5D%5Bb%5D%5B0%5D=true\
         &csv=x,y%2Cz&json=%5B1%5D"
    );
    assert_eq!(text_of_whole(form(&[]), json!("ready=made")).await, "ready=made");
    let refused = encoded(&body(form(&[]), "x/y"), json!({"body": [1]})).await;
    assert!(matches!(refused, Err(ToolError::InvalidArgs { .. })));
}

#[tokio::test]
async fn bytes_are_decoded_and_say_what_they_are() {
    let table = [
        ("image/png", "aGk=", "image/png"),
        ("image/*", "data:image/gif;base64,aGk=", "image/gif"),
        ("*/*", "aGk=", "application/octet-stream"),
        ("application/pdf", "data:image/gif;base64,aGk=", "application/pdf"),
    ];
    for (declared, text, wanted) in table {
        let found = encoded(&body(BodyKind::Binary, declared), json!({"body": text})).await.unwrap().unwrap();
        assert_eq!(found, (wanted.to_owned(), "hi".to_owned()));
    }
    let refused = encoded(&body(BodyKind::Binary, "image/png"), json!({"body": "no!"})).await;
    assert!(matches!(refused, Err(ToolError::InvalidArgs { .. })));
}

#[tokio::test]
async fn parts_are_written_by_their_kinds() {
    let kinds = [
        ("file", PartKind::File { content_type: None }),
        ("files", PartKind::File { content_type: Some("text/csv".into()) }),
        ("meta", PartKind::Json { content_type: None }),
        ("note", PartKind::Text { content_type: Some("text/markdown".into()) }),
    ];
    let parts = kinds.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
    let body = body(BodyKind::Multipart { parts }, "multipart/form-data");
    let value = json!({"body": {
        "file": "data:image/png;base64,aGk=",
        "files": ["YQ==", "data:text/plain;name=b.txt,b"],
        "meta": [1],
        "note": "x",
        "n": 5,
        "tags": ["a", "b"],
        "bad\"\r\nX-Injected: yes": "v",
    }});
    let (content_type, text) = encoded(&body, value).await.unwrap().unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    insta::assert_snapshot!(text.replace(boundary, "BOUNDARY").replace("\r\n", "\n"));
}

#[tokio::test]
async fn a_file_that_is_none_is_pointed_at() {
    let parts = [("file".to_owned(), PartKind::File { content_type: None })].into_iter().collect();
    let body = body(BodyKind::Multipart { parts }, "multipart/form-data");
    let error = encoded(&body, json!({"body": {"file": "not base64!"}})).await.unwrap_err();
    let ToolError::InvalidArgs { violations } = error else { panic!("{error}") };
    assert_eq!(violations[0].path, "/body/file");
}
