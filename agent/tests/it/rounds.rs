//! The loop: what is shown, what the model reads, and how far it goes.

use crate::support::{Counted, Kept, request, run, toolset};
use agent::{AgentRunner, runner::search::ToolSearch};
use domain::{
    Toolset,
    ports::{Agent as _, AgentEventKind as Kind, AgentLimits, ChatMessage, ChatRole, Price, Review},
};
use model_server::{ModelServer, Reply, call, calls, finish, json as delta, text, usage};
use serde_json::{Value, json};
use std::sync::{Arc, atomic::Ordering};

fn says(words: &str) -> Reply {
    Reply::stream(&[text(words), finish("stop"), usage(10, 5)])
}

fn asks(name: &str, args: &str) -> Reply {
    Reply::stream(&[call(0, "c1", name, args), finish("tool_calls"), usage(10, 5)])
}

#[tokio::test]
async fn an_answer_is_shown_in_pieces_and_closed_with_its_figures() {
    let server =
        ModelServer::start([Reply::stream(&[text("Hel"), text("lo"), finish("stop"), usage(1000, 500)])])
            .await;
    let mut request = request(&server, toolset(&[]));
    request.model.info.price = Some(Price { input: 1.0, output: 2.0 });
    let kept = run(request).await;
    assert_eq!(kept.kinds(), [Kind::AgentMessage, Kind::AgentMessage, Kind::AgentMessage, Kind::AgentEnd]);
    assert_eq!(kept.answer(), "Hello");
    let pieces = kept.of(Kind::AgentMessage);
    assert!(pieces.iter().all(|piece| piece.id == pieces[0].id));
    assert_eq!((pieces[2].answer.as_str(), pieces[2].total_token_count), ("", 1500));
    assert!((pieces[2].total_price - 0.002).abs() < 1e-12);
}

#[tokio::test]
async fn calls_run_side_by_side_and_their_results_stay_in_order() {
    let two = json!([
        {"index": 0, "id": "a", "function": {"name": "slow", "arguments": "{\"n\":\"1\"}"}},
        {"index": 1, "id": "b", "function": {"name": "quick", "arguments": "{}"}}
    ]);
    let thought = delta(&json!({"reasoning_content": "hm"}));
    let server =
        ModelServer::start([Reply::stream(&[thought, calls(&two), finish("tool_calls")]), says("Done")])
            .await;
    let kept = run(request(&server, toolset(&[Counted::new("slow"), Counted::new("quick")]))).await;
    assert_eq!(
        kept.kinds()[..3],
        [Kind::AgentThought, Kind::AgentAction, Kind::AgentAction],
        "{:?}",
        kept.kinds()
    );
    let wanted: Value = serde_json::from_str(&kept.events[0].thought).unwrap();
    assert_eq!(wanted[1]["name"], "quick");
    let actions = kept.of(Kind::AgentAction);
    assert_eq!((actions[0].tool.as_str(), actions[0].observation.as_str()), ("slow", "slow:{\"n\":1}"));
    assert_eq!(actions[0].tool_input["n"], "1", "the event tells what the model wrote");
    assert_eq!(kept.end().event, Kind::AgentEnd);
    let asked = server.asked();
    let messages = asked[1].body["messages"].as_array().unwrap();
    assert_eq!(messages[2]["reasoning_content"], "hm");
    assert!(messages[2].get("content").is_none());
    assert_eq!(
        (&messages[3]["tool_call_id"], &messages[3]["content"]),
        (&json!("a"), &json!("slow:{\"n\":1}"))
    );
    assert_eq!(messages[4]["tool_call_id"], "b");
}

#[tokio::test]
async fn faults_of_tools_go_back_to_the_model_as_words() {
    let cases = [
        ("fail", "{}", "it does not work"),
        ("unreachable", "{}", "could not be reached"),
        ("nowhere", "{}", "was not found"),
        ("echo", "{\"n\": \"x\"}", "Correct these"),
        ("echo", "{\"n\": ", "not a JSON object"),
    ];
    for (name, args, told) in cases {
        let server = ModelServer::start([asks(name, args), says("Sorry")]).await;
        let tools = [Counted::new("fail"), Counted::new("unreachable"), Counted::new("echo")];
        let kept = run(request(&server, toolset(&tools))).await;
        let action = kept.of(Kind::AgentAction)[0];
        assert!(action.is_error && action.observation.contains(told), "{name}: {}", action.observation);
        assert_eq!((kept.answer().as_str(), kept.end().event), ("Sorry", Kind::AgentEnd));
    }
}

#[tokio::test]
async fn a_model_that_asks_for_tools_forever_is_ended() {
    let server = ModelServer::start([asks("echo", "{}")]).await;
    let echo = Counted::new("echo");
    let kept = run(request(&server, toolset(std::slice::from_ref(&echo)))).await;
    assert_eq!(echo.calls.load(Ordering::SeqCst), 5);
    assert_eq!(server.asked().len(), 6);
    assert_eq!(kept.answer(), "当前Agent迭代次数已超过限制，请重试");
    assert_eq!(kept.end().event, Kind::AgentEnd);
}

#[tokio::test]
async fn a_call_that_failed_twice_is_not_made_again() {
    let server = ModelServer::start([asks("fail", "{\"n\": 1}")]).await;
    let fail = Counted::new("fail");
    let kept = run(request(&server, toolset(std::slice::from_ref(&fail)))).await;
    assert_eq!(fail.calls.load(Ordering::SeqCst), 2);
    let last = kept.of(Kind::AgentAction).pop().unwrap().observation.clone();
    assert!(last.starts_with("Not called: this very call has failed 2 times"), "{last}");
}

#[tokio::test]
async fn fifty_calls_at_once_are_made_and_more_than_that_answered() {
    let chunks: Vec<Value> = (0..70).map(|n| call(n, &format!("c{n}"), "echo", "{}")).collect();
    let server = ModelServer::start([Reply::stream(&chunks), says("Done")]).await;
    let echo = Counted::new("echo");
    let kept = run(request(&server, toolset(std::slice::from_ref(&echo)))).await;
    assert_eq!(echo.calls.load(Ordering::SeqCst), 64);
    assert_eq!(kept.of(Kind::AgentAction).len(), 70);
    assert_eq!(server.asked()[1].body["messages"].as_array().unwrap().len(), 3 + 70);
}

#[tokio::test]
async fn tokens_are_a_budget() {
    let server = ModelServer::start([asks("echo", "{}")]).await;
    let mut request = request(&server, toolset(&[Counted::new("echo")]));
    request.limits = AgentLimits { max_iterations: 50, max_tokens: Some(30) };
    let kept = run(request).await;
    assert_eq!(server.asked().len(), 2, "15 tokens a turn");
    assert_eq!(kept.end().event, Kind::AgentEnd);
}

#[tokio::test]
async fn the_model_reads_instructions_history_and_pictures() {
    let server = ModelServer::start([says("Hi")]).await;
    let mut request = request(&server, toolset(&[]));
    request.history =
        vec![ChatMessage::text(ChatRole::User, "before"), ChatMessage::text(ChatRole::Assistant, "yes")];
    request.image_urls = vec!["https://example.com/a.png".into()];
    request.parameters.insert("temperature".into(), json!(0.5));
    run(request).await;
    let body = &server.asked()[0].body;
    let roles: Vec<_> =
        body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(body["messages"][3]["content"][1]["image_url"]["url"], "https://example.com/a.png");
    assert_eq!(body["temperature"], 0.5);
}

#[tokio::test]
async fn words_are_reviewed_on_both_sides() {
    let server =
        ModelServer::start([Reply::stream(&[text("a se"), text("cr"), text("et b"), finish("stop")])]).await;
    let review =
        Review { keywords: vec!["Secret".into()], preset_response: Some("No.".into()), outputs: true };
    let mut asked = request(&server, toolset(&[]));
    asked.review = review.clone();
    assert_eq!(run(asked).await.answer(), "a ** b");
    let mut asked = request(&server, toolset(&[]));
    asked.query = "tell me the sEcReT".into();
    asked.review = review;
    let kept = run(asked).await;
    assert_eq!((kept.answer().as_str(), kept.kinds()), ("No.", vec![Kind::AgentMessage, Kind::AgentEnd]));
    assert_eq!(server.asked().len(), 1, "the model is not asked");
}

#[tokio::test]
async fn a_model_that_calls_no_tools_writes_calls_down() {
    let written = "```json\n{\"name\": \"echo\", \"args\": {\"n\": 1}}\n```";
    let server = ModelServer::start([
        Reply::stream(&[text("```"), text(&written[3..]), finish("stop")]),
        says("Done"),
    ])
    .await;
    let mut request = request(&server, toolset(&[Counted::new("echo")]));
    request.model.info.calls_tools = false;
    let kept = run(request).await;
    assert_eq!(kept.kinds()[..2], [Kind::AgentThought, Kind::AgentAction]);
    assert_eq!((kept.answer().as_str(), kept.end().event), ("Done", Kind::AgentEnd));
    let asked = server.asked();
    assert!(asked[0].body.get("tools").is_none());
    assert!(asked[0].body["messages"][0]["content"].as_str().unwrap().contains("- echo: The tool echo"));
    let messages = asked[1].body["messages"].as_array().unwrap();
    assert_eq!(messages[2]["content"], written);
    assert!(messages[3]["content"].as_str().unwrap().contains("echo:{\"n\":1}"));
}

#[tokio::test]
async fn a_service_that_takes_no_tools_is_asked_in_words() {
    let refusal = json!({"error": {"message": "registry/tiny does not support tools"}});
    let server = ModelServer::start([Reply::document(400, &refusal), says("Hi")]).await;
    let kept = run(request(&server, toolset(&[Counted::new("echo")]))).await;
    assert_eq!((kept.answer().as_str(), kept.end().event), ("Hi", Kind::AgentEnd));
}

/// Finds tools whose name has the query in it.
struct ByName;

impl ToolSearch for ByName {
    fn threshold(&self) -> usize {
        3
    }

    fn search(&self, toolset: &Toolset, query: &str, limit: usize) -> Vec<String> {
        let names = toolset.entries().iter().map(|entry| entry.name.clone());
        names.filter(|name| name.contains(query)).take(limit).collect()
    }
}

#[tokio::test]
async fn a_large_set_is_searched() {
    let server =
        ModelServer::start([asks("tool_search", "{\"query\": \"two\"}"), asks("two", "{}"), says("Done")])
            .await;
    let tools = [Counted::new("one"), Counted::new("two"), Counted::new("three")];
    let mut kept = Kept::default();
    let runner = AgentRunner::new().with_search(Arc::new(ByName));
    runner.run(request(&server, toolset(&tools)), &mut kept).await;
    let asked = server.asked();
    let bound = |i: usize| {
        let tools = asked[i].body["tools"].as_array().unwrap();
        tools.iter().map(|t| t["function"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(bound(0), ["tool_search"]);
    assert_eq!(bound(1), ["two", "tool_search"]);
    assert_eq!(kept.of(Kind::AgentAction)[1].observation, "two:{}");
}
