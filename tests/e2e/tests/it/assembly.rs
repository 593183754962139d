//! Assembly: what could not be taken is named, and the rest is there.

use e2e::Haft;
use serde_json::{Value, json};

fn builtin(provider: &str, tool: &str) -> Value {
    json!({"type": "builtin_tool", "provider_id": provider, "tool_id": tool, "params": {}})
}

#[tokio::test]
async fn one_bad_reference_fails_no_other() {
    let haft = Haft::start().await;
    let refs = json!([
        builtin("time", "current_time"),
        builtin("time", "nonsense"),
        builtin("nonsense", "current_time"),
        {"type": "api_tool", "provider_id": "absent", "tool_id": "x", "params": {}},
        {"type": "mcp_tool", "provider_id": "absent", "tool_id": "x", "params": {}},
        {"type": "workflow_tool", "provider_id": "absent", "tool_id": "x", "params": {}},
        {"type": "api_tool", "provider_id": "absent", "tool_id": "x", "params": {"a": 1}},
        {"type": "builtin_tool", "provider_id": "time", "tool_id": "convert_time", "params": {"a": 1}},
        builtin("time", "current_time"),
        builtin("calculator", "evaluate"),
    ]);
    let answer = haft.admin().post("/tools/assemble", &json!({"refs": refs})).await.expect(200);
    let tools: Vec<_> = answer["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(tools, ["current_time", "evaluate"]);
    let problems: Vec<_> = answer["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["index"].as_u64().unwrap(), p["code"].as_str().unwrap()))
        .collect();
    let wanted = [
        (1, "tool_not_found"),
        (2, "provider_not_found"),
        (3, "provider_not_found"),
        (4, "provider_not_found"),
        (5, "provider_not_found"),
        (6, "invalid_params"),
        (7, "invalid_params"),
        (8, "duplicate"),
    ];
    assert_eq!(problems, wanted);
    for problem in answer["problems"].as_array().unwrap() {
        let index = usize::try_from(problem["index"].as_u64().unwrap()).unwrap();
        assert_eq!(problem["ref"]["tool_id"], refs[index]["tool_id"]);
        assert!(problem["message"].as_str().is_some_and(|message| message.len() > 10), "{problem}");
    }
    haft.stop().await;
}

#[tokio::test]
async fn an_assembled_tool_has_what_a_model_is_told() {
    let haft = Haft::start().await;
    let body = json!({"refs": [builtin("time", "current_time")]});
    let answer = haft.admin().post("/tools/assemble", &body).await.expect(200);
    let tool = &answer["tools"][0];
    assert_eq!(tool["ref"], builtin("time", "current_time"));
    assert_eq!(tool["args_schema"]["type"], "object");
    assert_eq!(tool["annotations"]["read_only"], true);
    for field in ["name", "title", "description"] {
        assert!(tool[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    haft.stop().await;
}

#[tokio::test]
async fn a_dialect_changes_what_a_model_reads_and_names_what_it_loses() {
    let haft = Haft::start().await;
    let body = json!({"refs": [builtin("time", "current_time")], "dialect": "openai_strict"});
    let answer = haft.admin().post("/tools/assemble", &body).await.expect(200);
    let schema = &answer["tools"][0]["args_schema"];
    let properties: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    let required: Vec<_> =
        schema["required"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(properties, required, "a strict schema requires every property");
    let unknown = json!({"refs": [], "dialect": "klingon"});
    let refused = haft.admin().post("/tools/assemble", &unknown).await;
    assert_eq!(refused.problem(422), "invalid_body");
    assert_eq!(refused.json()["violations"][0]["path"], "/dialect");
    haft.stop().await;
}

#[tokio::test]
async fn references_with_unknown_keys_and_too_many_references_are_refused() {
    let haft = Haft::start().await;
    let mut odd = builtin("time", "current_time");
    odd["label"] = json!("x");
    let answer = haft.admin().post("/tools/assemble", &json!({"refs": [odd]})).await;
    assert_eq!(answer.problem(422), "invalid_body");
    assert_eq!(answer.json()["violations"][0]["path"], "/refs/0/label");
    let many = vec![builtin("time", "current_time"); 1001];
    let answer = haft.admin().post("/tools/assemble", &json!({"refs": many})).await;
    assert_eq!(answer.problem(422), "invalid_body");
    haft.stop().await;
}

#[tokio::test]
async fn lists_of_all_kinds_are_paged_without_loss_and_searched() {
    let haft = Haft::start().await;
    let all = haft.admin().get("/tools").await.expect(200)["items"].as_array().unwrap().clone();
    assert!(all.len() >= 6);
    let (mut paged, mut path) = (Vec::new(), "/tools?limit=2".to_owned());
    loop {
        let page = haft.admin().get(&path).await.expect(200);
        paged.extend(page["items"].as_array().unwrap().clone());
        assert!(page["items"].as_array().unwrap().len() <= 2);
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/tools?limit=2&cursor={cursor}");
    }
    assert_eq!(paged, all);
    let found = haft.admin().get("/tools?q=TIME+ZONE&kind=builtin_tool").await.expect(200);
    let names: Vec<_> = found["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["current_time", "convert_time"]);
    assert_eq!(haft.admin().get("/tools?cursor=nonsense").await.problem(400), "invalid_request");
    assert_eq!(haft.admin().get("/tools?kind=nonsense").await.problem(400), "invalid_request");
    haft.stop().await;
}
