//! Every tool of the registry on the road of the product, without being listed: what must be so for all of them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::ToolError;
use egress::{Client, Policy, Resolve, Resolving};
use providers::ToolDeps;
use providers::catalogue;
use serde_json::{Map, Value, json};

use crate::examples;
use crate::support::{context, context_for, deps, deps_with, invoke};

/// Every tool with its example.
fn each() -> impl Iterator<Item = (String, &'static domain::ToolSpec, examples::Example)> {
    catalogue::specs().map(|(provider, spec)| {
        let path = format!("{provider}/{}", spec.name);
        let example = examples::of(&path);
        (path, spec, example)
    })
}

/// The tools that reach outside, with an account that has stored everything.
fn keys() -> Value {
    let providers = catalogue::providers().map(|provider| {
        let value =
            |name: &str| if name == "webhook_url" { "https://hook.example/canary" } else { "canary-key" };
        let fields: Map<_, _> = provider
            .credentials
            .iter()
            .map(|field| (field.name.to_owned(), json!(value(field.name))))
            .collect();
        (provider.name.to_owned(), Value::Object(fields))
    });
    providers.collect()
}

/// A name server that is down, and counts who asks.
#[derive(Default)]
struct NoNames(AtomicUsize);

impl Resolve for Counting {
    fn resolve(&self, _: &str) -> Resolving {
        self.0.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Err(io::Error::other("the name server is down"))))
    }
}

struct Counting(Arc<NoNames>);

fn cut_off(credentials: &Value) -> (ToolDeps, Arc<NoNames>) {
    let names = Arc::new(NoNames::default());
    let mut deps = deps_with(credentials);
    deps.http = Client::builder(Policy::strict()).resolver(Counting(Arc::clone(&names))).build();
    (deps, names)
}

fn told(error: &ToolError) -> String {
    format!("{} {} {error:?}", error.for_model(), error.for_operator())
}

#[tokio::test]
async fn every_tool_has_an_example_that_meets_its_schema() {
    for (path, spec, example) in each() {
        assert!(spec.args_schema.is_valid(&example.args).unwrap(), "{path}: {}", example.args);
    }
    assert_eq!(examples::all().len(), catalogue::specs().count(), "no example without its tool");
}

#[tokio::test]
async fn every_tool_of_this_machine_answers_its_example() {
    for (path, _, example) in each().filter(|(_, spec, _)| !spec.annotations.open_world) {
        let output = invoke(deps(), &path, example.params, example.args, &context()).await.unwrap();
        assert!(
            !output.is_error && !output.text().is_empty() && output.structured.is_some(),
            "{path}: {output:?}"
        );
    }
}

#[tokio::test]
async fn wrong_arguments_are_refused_before_anything_is_sent() {
    for (path, spec, example) in each() {
        let wrong = wrong_arguments(spec.args_schema.value(), &example.args);
        for args in wrong {
            let (deps, names) = cut_off(&keys());
            let error =
                invoke(deps, &path, example.params.clone(), args.clone(), &context()).await.unwrap_err();
            assert_eq!(error.code(), "invalid_args", "{path}: {args}: {error:?}");
            assert_eq!(names.0.load(Ordering::Relaxed), 0, "{path}: {args}");
        }
    }
}

/// The example with one thing wrong at a time.
fn wrong_arguments(schema: &Value, good: &Value) -> Vec<Value> {
    let with = |name: &str, value: Value| {
        let mut args = good.clone();
        args[name] = value;
        args
    };
    let mut wrong = vec![json!([]), json!("text"), with("no_such_argument", json!(1))];
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str) {
        let mut args = good.clone();
        args.as_object_mut().unwrap().remove(name);
        wrong.push(args);
    }
    for (name, property) in schema["properties"].as_object().unwrap() {
        if property.get("type").is_some_and(|kind| kind == "string" || kind == "array") {
            wrong.push(with(name, json!({"an": "object"})));
        }
        if let Some(most) = property["maxLength"].as_u64().filter(|_| property["type"] == "string") {
            wrong.push(with(name, json!("x".repeat(usize::try_from(most).unwrap() + 1))));
        }
        if let Some(most) = property["maximum"].as_f64() {
            wrong.push(with(name, json!(most * 2.0 + 1.0)));
        }
    }
    wrong
}

#[tokio::test]
async fn without_credentials_the_account_is_told_which_and_nothing_is_sent() {
    let needy =
        catalogue::providers().filter(|provider| provider.credentials.iter().any(|field| field.required));
    let needy: Vec<_> = needy.map(|provider| provider.name).collect();
    assert!(needy.len() >= 12, "{needy:?}");
    for (path, _, example) in each() {
        let provider = path.split('/').next().unwrap();
        if !needy.contains(&provider) {
            continue;
        }
        let (deps, names) = cut_off(&Value::Null);
        let error = invoke(deps, &path, example.params, example.args, &context()).await.unwrap_err();
        assert_eq!(error.code(), "missing_credential", "{path}: {error:?}");
        assert!(error.for_model().contains(&format!("`{provider}`")), "{path}: {}", error.for_model());
        assert_eq!(names.0.load(Ordering::Relaxed), 0, "{path}");
    }
}

#[tokio::test]
async fn past_the_deadline_nothing_is_sent() {
    for (path, spec, example) in each() {
        let (deps, names) = cut_off(&keys());
        let result = invoke(deps, &path, example.params, example.args, &context_for(Duration::ZERO)).await;
        let code = result.as_ref().map_or_else(ToolError::code, |_| "ok");
        // What needs no time is done by the time that the deadline is looked at.
        let expected: &[&str] = if spec.annotations.open_world { &["timeout"] } else { &["timeout", "ok"] };
        assert!(expected.contains(&code), "{path}: {result:?}");
        assert_eq!(names.0.load(Ordering::Relaxed), 0, "{path}");
    }
}

#[tokio::test]
async fn a_service_that_is_down_is_told_as_unreachable_and_no_secret_with_it() {
    let mut reached = 0;
    for (path, _, example) in each().filter(|(_, spec, _)| spec.annotations.open_world) {
        let (deps, names) = cut_off(&keys());
        let error = invoke(deps, &path, example.params, example.args, &context()).await.unwrap_err();
        assert_eq!(error.code(), "unreachable", "{path}: {error:?}");
        assert!(!told(&error).contains("canary"), "{path}: {}", told(&error));
        assert_eq!(names.0.load(Ordering::Relaxed), 1, "{path}");
        reached += 1;
    }
    assert!(reached >= 20, "{reached}");
}

#[tokio::test]
async fn a_guard_that_allows_nothing_inside_blocks_every_tool_that_is_led_inside() {
    for (path, _, example) in each() {
        let (provider, tool) = path.split_once('/').unwrap();
        let params = catalogue::tool(provider, tool).unwrap().tool.params;
        if !params.iter().any(|param| param.name == "url") {
            continue;
        }
        let mut set = example.params.clone();
        for name in ["url", "geocoding_url"] {
            if params.iter().any(|param| param.name == name) {
                set[name] = json!("http://127.0.0.1:9/x");
            }
        }
        let mut deps = deps_with(&keys());
        deps.http = Client::new(Policy::strict());
        let error = invoke(deps, &path, set, example.args, &context()).await.unwrap_err();
        assert_eq!(error.code(), "blocked", "{path}: {error:?}");
    }
}
