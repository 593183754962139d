//! Models: what is stored of them, and what is never told.

use crate::support::World;
use apps::models::{ModelStoreError, NewModel};
use domain::{Dialect, secret::MASK};
use serde_json::{Value, json};

#[expect(clippy::needless_pass_by_value, reason = "fields are written where the function is called")]
fn model(fields: Value) -> NewModel {
    let mut body =
        json!({"name": "M", "base_url": "https://api.example.com/v1", "model": "m", "api_key": "sk-canary"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(body).unwrap()
}

#[tokio::test]
async fn a_key_is_sealed_masked_and_kept() {
    let world = World::new([]).await;
    let made = world.models.create(&world.account, model(json!({}))).await.unwrap();
    assert_eq!(made.api_key.as_deref(), Some(MASK));
    assert_eq!(made.features, ["tool_call"]);
    let changed =
        world.models.update(&world.account, &made.id, model(json!({"name": "N", "api_key": MASK}))).await;
    assert_eq!(changed.unwrap().api_key.as_deref(), Some(MASK));
    let (listed, _) = world.models.list(&world.account, 10, None).await.unwrap();
    assert_eq!((listed.len(), listed[0].name.as_str()), (1, "N"));
    let keyless =
        world.models.update(&world.account, &made.id, model(json!({"api_key": null}))).await.unwrap();
    assert_eq!(keyless.api_key, None);
}

#[tokio::test]
async fn a_masked_key_is_not_sent_to_another_host() {
    let world = World::new([]).await;
    let made = world.models.create(&world.account, model(json!({}))).await.unwrap();
    let moved = json!({"base_url": "https://evil.example.com/v1", "api_key": MASK});
    let refused = world.models.update(&world.account, &made.id, model(moved)).await.unwrap_err();
    assert!(matches!(refused, ModelStoreError::Invalid { field: "api_key", .. }), "{refused}");
    let deeper = json!({"base_url": "https://api.example.com/v2", "api_key": MASK});
    assert!(world.models.update(&world.account, &made.id, model(deeper)).await.is_ok());
}

#[tokio::test]
async fn the_dialect_is_known_by_the_address() {
    let world = World::new([]).await;
    for (url, dialect) in [
        ("https://api.openai.com/v1", Dialect::OpenAi),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", Dialect::Qwen),
        ("https://api.moonshot.cn/v1", Dialect::Moonshot),
        ("https://api.deepseek.com", Dialect::OpenAi),
        ("https://generativelanguage.googleapis.com/v1beta/openai", Dialect::Gemini),
    ] {
        let made = world.models.create(&world.account, model(json!({"base_url": url}))).await.unwrap();
        assert_eq!(made.dialect, dialect, "{url}");
    }
}

#[tokio::test]
async fn what_cannot_be_a_model_is_refused_by_its_field() {
    let world = World::new([]).await;
    for (fields, wrong) in [
        (json!({"name": " "}), "name"),
        (json!({"model": ""}), "model"),
        (json!({"base_url": "api.example.com"}), "base_url"),
        (json!({"base_url": "http://169.254.169.254/v1"}), "base_url"),
        (json!({"features": ["telepathy"]}), "features"),
        (json!({"timeout_s": 0}), "timeout_s"),
        (json!({"price": {"input": -1.0, "output": 0.0}}), "price"),
        (json!({"api_key": MASK}), "api_key"),
    ] {
        let refused = world.models.create(&world.account, model(fields)).await.unwrap_err();
        assert!(matches!(&refused, ModelStoreError::Invalid { field, .. } if *field == wrong), "{refused}");
    }
}
