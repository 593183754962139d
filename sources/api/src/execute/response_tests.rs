use super::*;
use bytes::Bytes;
use http::HeaderValue;

fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
    list.iter()
        .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

fn read_body(
    content_type: &'static str,
    bytes: &'static [u8],
    truncated: bool,
) -> Result<ToolOutput, ToolError> {
    let body = Capped { bytes: Bytes::from_static(bytes), truncated };
    let headers = headers(&[("content-type", content_type)]);
    output(StatusCode::OK, &headers, "https://h.example/x", &body, 4)
}

#[test]
fn json_is_text_and_data() {
    let found = read_body("application/json; charset=utf-8", b"{\"a\": 1}", false).unwrap();
    assert_eq!(found, ToolOutput::structured("{\"a\": 1}", json!({"a": 1})));
    let broken = read_body("application/json", b"{\"a\"", false).unwrap();
    assert_eq!(broken, ToolOutput::text_of("{\"a\""));
}

#[test]
fn bytes_are_a_resource() {
    let found = read_body("image/png; x=y", b"\x89PNG", false).unwrap();
    let block = serde_json::to_value(&found.content[0]).unwrap();
    assert_eq!(
        block,
        json!({"type": "resource", "resource":
            {"uri": "https://h.example/x", "mimeType": "image/png", "blob": "iVBORw=="}})
    );
}

#[test]
fn what_was_cut_says_so() {
    let found = read_body("text/plain", b"abcd", true).unwrap();
    assert!(found.text().starts_with("abcd\n\n[The answer is longer: it was cut after 4 bytes."));
    assert!(read_body("application/json", b"[1,2", true).unwrap().structured.is_none());
    let error = read_body("image/png", b"\x89PNG", true).unwrap_err();
    assert_eq!(error.code(), "too_large");
}

#[test]
fn an_empty_answer_says_so() {
    let body = Capped { bytes: Bytes::new(), truncated: false };
    let headers = headers(&[("location", "/things/7")]);
    let found = output(StatusCode::CREATED, &headers, "", &body, 4).unwrap();
    assert_eq!(found.text(), "201 Created: the answer has no content; location: /things/7");
}

#[test]
fn a_head_answer_is_its_headers() {
    let found = head(StatusCode::OK, &headers(&[("content-length", "5"), ("set-cookie", "a=b")]));
    assert_eq!(found.structured, Some(json!({"status": 200, "headers": {"content-length": "5"}})));
}

fn refused(status: u16, list: &[(&'static str, &'static str)], text: &str) -> String {
    let body = Capped { bytes: Bytes::from(text.to_owned()), truncated: false };
    match refusal(StatusCode::from_u16(status).unwrap(), &headers(list), &body) {
        ToolError::Upstream { status: told, body } => {
            assert_eq!(told, status);
            body
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_refusal_tells_what_the_service_said() {
    let plain = &[("content-type", "text/plain")];
    assert_eq!(refused(400, plain, "  bad `id`\n"), "bad `id`");
    assert_eq!(refused(500, &[("content-type", "image/png")], "xx"), "(image/png of 2 bytes)");
    assert_eq!(
        refused(429, &[("content-type", "text/plain"), ("retry-after", "7")], "slow"),
        "try again after 7 s. slow"
    );
    let moved = refused(301, &[("location", "/new")], "");
    assert!(moved.starts_with("redirects to /new"), "{moved}");
    let long = refused(400, plain, &"é".repeat(5000));
    assert!(long.len() < MAX_ERROR_BYTES + 10 && long.ends_with(" [cut]"));
}
