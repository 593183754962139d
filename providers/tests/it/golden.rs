//! The golden registries of `codegen` as real code: they compile, their own tests run, and their tools are
//! built and called.

/// Scaffolded tools, untouched.
#[allow(
    unreachable_pub,
    dead_code,
    reason = "a registry is the public face of its crate; here that is a test"
)]
mod scaffold {
    include!("../../../codegen/golden/scaffold/generated.rs");
}

/// A registry that uses everything a registry can have.
#[allow(
    unreachable_pub,
    dead_code,
    reason = "a registry is the public face of its crate; here that is a test"
)]
mod small {
    include!("../../../codegen/golden/small/generated.rs");
}

use domain::{ProblemCode, ToolSource as _};
use serde_json::{Map, Value, json};

use crate::runtime::{BuildError, ToolEntry};
use crate::support::{account_context, context, deps, reference, source};

async fn call(entry: &'static ToolEntry, params: Value, args: Value) -> String {
    let tool = entry.build(&object(params), &deps()).unwrap();
    tool.call(args, &context()).await.unwrap().text()
}

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn what_is_scaffolded_works_as_it_is() {
    for (provider, tool) in
        [("weather", "forecast"), ("weather", "past_days"), ("other_place", "look_around")]
    {
        let entry = scaffold::PROVIDERS[provider].tools[tool];
        assert_eq!(call(entry, json!({}), json!({"name": "Ada"})).await, "Hello, Ada!");
        assert_eq!(call(entry, json!({"greeting": "Moin"}), json!({"name": "Ada"})).await, "Moin, Ada!");
    }
}

#[tokio::test]
async fn tools_of_a_provider_share_code() {
    let tools = &small::PROVIDERS["greet"].tools;
    assert_eq!(tools.keys().copied().collect::<Vec<_>>(), ["hello", "bye"], "in the order of the positions");
    assert_eq!(call(tools["bye"], json!({}), json!({"name": "Ada"})).await, "Bye, Ada!");
}

#[tokio::test]
async fn parameters_of_every_type_arrive_typed_and_with_defaults() {
    let entry = small::PROVIDERS["paint"].tools["picture"];
    let least =
        call(entry, json!({"api_key": "12345", "prefix": "", "count": null}), json!({"prompt": "cat"})).await;
    assert_eq!(least, "a cat 1664*928 0.5 1 false 5-letter key");
    let all = json!({
        "api_key": "123", "prefix": "the", "count": 4.0, "watermark": true, "strength": -1, "style": "vivid",
        "size": "928*1664"
    });
    assert_eq!(call(entry, all, json!({"prompt": "cat"})).await, "the cat vivid -1 4 true 3-letter key");
}

#[test]
fn wrong_parameters_are_all_named_and_never_their_values() {
    let entry = small::PROVIDERS["paint"].tools["picture"];
    let wrong = json!({
        "api_key": "********", "prefix": 7, "count": 2.5, "watermark": "s3cret", "strength": 1.5, "style": "vivit",
        "siez": "s3cret"
    });
    let error = entry.build(&object(wrong), &deps()).err().unwrap();
    let text = error.to_string();
    let expected = [
        "`api_key` is masked",
        "`prefix` must be a text",
        "`count` must be a whole number",
        "`watermark` must be true or false",
        "`strength` must be at most 1",
        "`style` is not one of its options: did you mean `vivid`?",
        "`siez` is not a parameter of this tool: did you mean `size`",
    ];
    for part in expected {
        assert!(text.contains(part), "{part} in: {text}");
    }
    assert!(!text.contains("s3cret"));
    let missing = entry.build(&Map::new(), &deps()).err().unwrap();
    assert!(matches!(&missing, BuildError::InvalidParams(problems) if problems.len() == 1));
    assert!(missing.to_string().contains("`api_key` is required"), "{missing}");
}

#[tokio::test]
async fn a_hidden_provider_is_refused_and_not_offered() {
    let source = source().with_registry(&small::PROVIDERS);
    let refs = [reference("paint/picture", json!({"api_key": "1"})), reference("greet/hello", json!({}))];
    let mut resolved = source.resolve(&refs, &account_context("alice")).await.into_iter();
    let problem = resolved.next().unwrap().err().unwrap();
    assert_eq!(problem.code, ProblemCode::Unavailable);
    assert!(resolved.next().unwrap().is_ok(), "the other reference is not affected");
    let unknown =
        source.resolve(&[reference("pain/picture", json!({}))], &account_context("alice")).await.remove(0);
    let message = unknown.err().unwrap().message;
    assert!(!message.contains("`paint`"), "hidden providers are not suggested: {message}");
}
