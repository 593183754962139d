//! The published contract: `docs/openapi.json` is what the code says, and is whole.

use e2e::Haft;
use serde_json::Value;
use std::path::Path;

#[tokio::test]
async fn the_committed_description_is_the_one_that_is_served() {
    let haft = Haft::start().await;
    let served = haft.nobody().get("/openapi.json").await;
    let served = String::from_utf8(served.bytes).unwrap();
    haft.stop().await;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &served).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let first = committed.lines().zip(served.lines()).position(|(a, b)| a != b);
    assert!(
        committed == served,
        "docs/openapi.json differs from line {:?}; run this test with UPDATE=1 and look at the change",
        first.map(|line| line + 1)
    );
}

#[tokio::test]
async fn every_reference_in_the_description_leads_somewhere() {
    let haft = Haft::start().await;
    let document = haft.nobody().get("/openapi.json").await.expect(200);
    haft.stop().await;
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 10);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
