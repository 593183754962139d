//! References to tools: what resolves, and what is said of what does not.

use domain::{ProblemCode, ToolKind, ToolSource as _};
use serde_json::json;

use crate::support::{account_context, reference, source};

#[tokio::test]
async fn each_reference_is_answered_for_itself() {
    let source = source();
    assert_eq!(source.kind(), ToolKind::BuiltinTool);
    let table = [
        ("time/current_time", json!({}), None),
        ("time/current_time", json!({"timezone": "Asia/Shanghai"}), None),
        ("tyme/current_time", json!({}), Some((ProblemCode::ProviderNotFound, "did you mean `time`?"))),
        (
            "nothing_like_it/x",
            json!({}),
            Some((ProblemCode::ProviderNotFound, "the builtin providers are `time`")),
        ),
        ("time/curent_time", json!({}), Some((ProblemCode::ToolNotFound, "did you mean `current_time`?"))),
        (
            "time/current_time",
            json!({"zone": 1}),
            Some((ProblemCode::InvalidParams, "`zone` is not a parameter")),
        ),
        (
            "time/current_time",
            json!({"timezone": "Asia/Shangai"}),
            Some((ProblemCode::InvalidParams, "did you mean `Asia/Shanghai`")),
        ),
        (
            "web/fetch_page",
            json!({"timeout_s": 61}),
            Some((ProblemCode::InvalidParams, "`timeout_s` must be at most 60")),
        ),
        ("calculator/evaluate", json!({}), None),
    ];
    let refs: Vec<_> = table.iter().map(|(path, params, _)| reference(path, params.clone())).collect();
    let resolved = source.resolve(&refs, &account_context("alice")).await;
    assert_eq!(resolved.len(), refs.len());
    for ((path, _, expected), result) in table.iter().zip(resolved) {
        match (result, expected) {
            (Ok(tool), None) => assert!(path.ends_with(&format!("/{}", tool.spec().name))),
            (Err(problem), Some((code, part))) => {
                assert_eq!(problem.code, *code, "{path}: {problem}");
                assert!(problem.message.contains(part), "{path}: {problem}");
            }
            (Ok(_), Some(_)) => panic!("{path} resolved"),
            (Err(problem), None) => panic!("{path}: {problem}"),
        }
    }
}

#[tokio::test]
async fn a_spec_is_made_once_and_shared() {
    let refs = [reference("json/query", json!({})), reference("json/query", json!({}))];
    let resolved = source().resolve(&refs, &account_context("alice")).await;
    let specs: Vec<_> =
        resolved.iter().map(|tool| std::ptr::from_ref(tool.as_ref().unwrap().spec())).collect();
    assert_eq!(specs[0], specs[1]);
}

#[tokio::test]
async fn sealing_refuses_what_would_not_resolve() {
    let source = source();
    let good = reference("time/current_time", json!({"timezone": "UTC"}));
    assert_eq!(source.seal(&good, None, &account_context("alice")).await.unwrap(), good);
    let bad = reference("time/current_time", json!({"timezone": 1}));
    let problem = source.seal(&bad, None, &account_context("alice")).await.unwrap_err();
    assert_eq!(problem.code, ProblemCode::InvalidParams);
}

#[test]
fn a_masked_reference_to_an_unknown_tool_shows_no_params() {
    let masked = providers::source::mask(&reference("gone/tool", json!({"api_key": "s3cret"})));
    assert!(masked.params.is_empty());
}
