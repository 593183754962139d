//! What services that call themselves compatible really send. One test each.

use crate::support::turn;
use domain::ports::{ChatError, ChatEvent, ToolCall, Usage};
use model_server::{ModelServer, Reply, call, calls, finish, json as delta, text, usage};
use serde_json::{Value, json};

/// Answers and what is made of them: the text, the calls as (name, arguments), the figures.
struct Wanted<'a> {
    text: &'a str,
    calls: Vec<(&'a str, Value)>,
    usage: Option<(u64, u64)>,
}

fn said(text: &str) -> Wanted<'_> {
    Wanted { text, calls: vec![], usage: None }
}

fn called<'a>(calls: &[(&'a str, Value)]) -> Wanted<'a> {
    Wanted { text: "", calls: calls.to_vec(), usage: None }
}

async fn check(reply: Reply, wanted: Wanted<'_>) -> Vec<ToolCall> {
    let server = ModelServer::start([reply]).await;
    let events = turn(&server).await.unwrap();
    let mut text = String::new();
    let mut calls = Vec::new();
    for (i, event) in events.iter().enumerate() {
        match event {
            ChatEvent::Text(more) => text.push_str(more),
            ChatEvent::Reasoning(_) => {}
            ChatEvent::ToolCall(call) => calls.push(call.clone()),
            ChatEvent::End { usage } => {
                assert_eq!(i, events.len() - 1, "nothing follows the end");
                let wanted =
                    wanted.usage.map(|(input_tokens, output_tokens)| Usage { input_tokens, output_tokens });
                assert_eq!(*usage, wanted);
            }
        }
    }
    assert!(matches!(events.last(), Some(ChatEvent::End { .. })), "{events:?}");
    assert_eq!(text, wanted.text);
    let got: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect();
    assert_eq!(got, wanted.calls);
    let ids: std::collections::HashSet<_> = calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), calls.len(), "ids are unique: {calls:?}");
    assert!(calls.iter().all(|call| !call.id.is_empty()));
    calls
}

async fn fails(reply: Reply) -> ChatError {
    turn(&ModelServer::start([reply]).await).await.unwrap_err()
}

#[tokio::test]
async fn a_plain_answer() {
    let reply = Reply::stream(&[text("Hel"), text("lo"), finish("stop"), usage(7, 2)]);
    check(reply, Wanted { usage: Some((7, 2)), ..said("Hello") }).await;
}

#[tokio::test]
async fn a_call_in_pieces() {
    let reply = Reply::stream(&[
        calls(
            &json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "now", "arguments": ""}}]),
        ),
        calls(&json!([{"index": 0, "function": {"arguments": "{\"tz\":"}}])),
        calls(&json!([{"index": 0, "function": {"arguments": "\"UTC\"}"}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("now", json!({"tz": "UTC"}))])).await;
}

#[tokio::test]
async fn calls_side_by_side() {
    let reply = Reply::stream(&[
        calls(&json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\""}},
                      {"index": 1, "id": "b", "function": {"name": "y", "arguments": "{\"n\""}}])),
        calls(&json!([{"index": 1, "function": {"arguments": ":2}"}}])),
        calls(&json!([{"index": 0, "function": {"arguments": ":1}"}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({"n": 1})), ("y", json!({"n": 2}))])).await;
}

#[tokio::test]
async fn calls_without_index() {
    let reply = Reply::stream(&[
        calls(&json!([{"id": "a", "function": {"name": "x", "arguments": "{\"n\":1}"}}])),
        calls(&json!([{"id": "b", "function": {"name": "y", "arguments": "{\"n\":"}}])),
        calls(&json!([{"function": {"arguments": "2}"}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({"n": 1})), ("y", json!({"n": 2}))])).await;
}

#[tokio::test]
async fn index_zero_for_every_call() {
    let reply = Reply::stream(&[
        call(0, "a", "x", "{\"n\":1}"),
        call(0, "b", "y", "{\"n\":"),
        calls(&json!([{"index": 0, "function": {"arguments": "2}"}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({"n": 1})), ("y", json!({"n": 2}))])).await;
}

#[tokio::test]
async fn whole_calls_without_index_or_id() {
    let reply = Reply::stream(&[
        calls(
            &json!([{"function": {"name": "x", "arguments": "{\"n\":1}"}}, {"function": {"name": "x", "arguments": "{\"n\":2}"}}]),
        ),
        finish("stop"),
    ]);
    check(reply, called(&[("x", json!({"n": 1})), ("x", json!({"n": 2}))])).await;
}

#[tokio::test]
async fn one_id_for_two_calls() {
    let reply = Reply::stream(&[call(0, "a", "x", "{}"), call(1, "a", "y", "{}"), finish("tool_calls")]);
    check(reply, called(&[("x", json!({})), ("y", json!({}))])).await;
}

#[tokio::test]
async fn the_same_id_in_every_piece() {
    let reply = Reply::stream(&[call(0, "a", "x", "{\"n\""), call(0, "a", "x", ":1}"), finish("tool_calls")]);
    check(reply, called(&[("x", json!({"n": 1}))])).await;
}

#[tokio::test]
async fn empty_id_and_name_in_later_pieces() {
    let reply = Reply::stream(&[
        call(0, "a", "x", "{\"n\""),
        calls(&json!([{"index": 0, "id": "", "type": "", "function": {"name": "", "arguments": ":1}"}}])),
        finish("tool_calls"),
    ]);
    let made = check(reply, called(&[("x", json!({"n": 1}))])).await;
    assert_eq!(made[0].id, "a");
}

#[tokio::test]
async fn null_id_and_name_in_later_pieces() {
    let reply = Reply::stream(&[
        call(0, "a", "x", "{\"n\""),
        calls(&json!([{"index": 0, "id": null, "function": {"name": null, "arguments": ":1}"}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({"n": 1}))])).await;
}

#[tokio::test]
async fn arguments_as_an_object() {
    let reply = Reply::stream(&[
        calls(&json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": {"n": 1}}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({"n": 1}))])).await;
}

#[tokio::test]
async fn empty_arguments() {
    check(Reply::stream(&[call(0, "a", "x", ""), finish("tool_calls")]), called(&[("x", json!({}))])).await;
}

#[tokio::test]
async fn null_arguments() {
    let reply = Reply::stream(&[
        calls(&json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": null}}])),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({}))])).await;
}

#[tokio::test]
async fn arguments_that_are_no_json() {
    let reply = Reply::stream(&[call(0, "a", "x", "{\"n\": 1"), finish("tool_calls")]);
    check(reply, called(&[("x", json!("{\"n\": 1"))])).await;
}

#[tokio::test]
async fn calls_as_one_object() {
    let reply = Reply::stream(&[
        delta(&json!({"tool_calls": {"id": "a", "function": {"name": "x", "arguments": "{}"}}})),
        finish("tool_calls"),
    ]);
    check(reply, called(&[("x", json!({}))])).await;
}

#[tokio::test]
async fn the_form_before_tools() {
    let reply = Reply::stream(&[
        delta(&json!({"function_call": {"name": "x", "arguments": "{\"n\""}})),
        delta(&json!({"function_call": {"arguments": ":1}"}})),
        finish("function_call"),
    ]);
    check(reply, called(&[("x", json!({"n": 1}))])).await;
}

#[tokio::test]
async fn finish_stop_with_calls() {
    check(Reply::stream(&[call(0, "a", "x", "{}"), finish("stop")]), called(&[("x", json!({}))])).await;
}

#[tokio::test]
async fn text_before_calls() {
    let reply = Reply::stream(&[text("Let me see."), call(0, "a", "x", "{}"), finish("tool_calls")]);
    check(reply, Wanted { calls: vec![("x", json!({}))], ..said("Let me see.") }).await;
}

#[tokio::test]
async fn an_unknown_finish_reason() {
    check(Reply::stream(&[text("Hi"), finish("insufficient_system_resource")]), said("Hi")).await;
}

#[tokio::test]
async fn an_unknown_finish_reason_without_an_answer_is_an_error() {
    let error = fails(Reply::stream(&[finish("insufficient_system_resource")])).await;
    assert!(error.to_string().contains("insufficient_system_resource"), "{error}");
}

#[tokio::test]
async fn an_empty_finish_reason_in_every_chunk() {
    let chunk = |text| json!({"choices": [{"delta": {"content": text}, "finish_reason": ""}]});
    check(Reply::stream(&[chunk("H"), chunk("i"), finish("stop")]), said("Hi")).await;
}

#[tokio::test]
async fn no_finish_reason_but_an_end_mark() {
    check(Reply::stream(&[text("Hi")]), said("Hi")).await;
}

#[tokio::test]
async fn missing_id_and_a_broken_created() {
    let chunk = json!({"created": 1.5, "choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]});
    check(Reply::stream(&[chunk]), said("Hi")).await;
}

#[tokio::test]
async fn null_delta_and_no_choices() {
    let reply = Reply::stream(&[
        json!({"choices": []}),
        json!({"choices": null}),
        json!({"choices": [{"delta": null}]}),
        json!({}),
        text("Hi"),
        finish("stop"),
    ]);
    check(reply, said("Hi")).await;
}

#[tokio::test]
async fn content_in_parts() {
    let parts = json!({"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]});
    check(Reply::stream(&[delta(&parts), finish("stop")]), said("Hi")).await;
}

#[tokio::test]
async fn a_message_in_the_place_of_a_delta() {
    let chunk =
        json!({"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]});
    check(Reply::stream(&[chunk]), said("Hi")).await;
}

#[tokio::test]
async fn thoughts_beside_the_answer() {
    for field in ["reasoning_content", "reasoning"] {
        let reply = Reply::stream(&[delta(&json!({field: "hm"})), text("Hi"), finish("stop")]);
        let events = turn(&ModelServer::start([reply]).await).await.unwrap();
        assert_eq!(events[0], ChatEvent::Reasoning("hm".into()));
        assert_eq!(events[1], ChatEvent::Text("Hi".into()));
    }
}

#[tokio::test]
async fn figures_within_a_choice() {
    let last = json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}]});
    check(Reply::stream(&[text("Hi"), last]), Wanted { usage: Some((3, 1)), ..said("Hi") }).await;
}

#[tokio::test]
async fn figures_that_grow_with_every_chunk() {
    let chunk = |text, n| json!({"choices": [{"delta": {"content": text}}], "usage": {"prompt_tokens": 3, "completion_tokens": n}});
    let reply = Reply::stream(&[chunk("H", 1), chunk("i", 2), finish("stop")]);
    check(reply, Wanted { usage: Some((3, 2)), ..said("Hi") }).await;
}

#[tokio::test]
async fn no_end_mark() {
    check(Reply::open_stream(&[text("Hi"), finish("stop")]), said("Hi")).await;
}

#[tokio::test]
async fn no_end_mark_and_a_connection_that_stays_open() {
    let never = std::sync::Arc::new(tokio::sync::Notify::new());
    check(Reply::open_stream(&[text("Hi"), finish("stop")]).wait(&never), said("Hi")).await;
}

#[tokio::test]
async fn an_end_mark_without_a_blank_line() {
    let reply = Reply::open_stream(&[text("Hi")]).raw("data: [DONE]");
    check(reply, said("Hi")).await;
}

#[tokio::test]
async fn an_end_in_the_middle_is_an_error() {
    let error = fails(Reply::open_stream(&[text("Hi")])).await;
    assert!(matches!(error, ChatError::Broken(_)), "{error}");
}

#[tokio::test]
async fn keep_alives_between_events() {
    let reply = Reply::raw_stream(": keep-alive\n\n")
        .raw("event: ping\ndata: {}\n\n")
        .chunk(&text("Hi"))
        .raw(":\n\n: OPENROUTER PROCESSING\n\n")
        .chunk(&finish("stop"))
        .raw("data: [DONE]\n\n");
    check(reply, said("Hi")).await;
}

#[tokio::test]
async fn lines_that_end_in_every_way_and_no_space_after_the_colon() {
    let one = text("H").to_string();
    let two = text("i").to_string();
    let reply = Reply::raw_stream(&format!("data:{one}\r\n\r\ndata:{two}\n\n"))
        .chunk(&finish("stop"))
        .raw("data:[DONE]\r\n\r\n");
    check(reply, said("Hi")).await;
}

#[tokio::test]
async fn characters_cut_in_the_middle() {
    let body = format!("data: {}\n\n", text("春"));
    let cut = body.find('春').unwrap() + 1;
    let (head, tail) = body.as_bytes().split_at(cut);
    let reply =
        Reply::open_stream(&[]).bytes(head).bytes(tail).chunk(&finish("stop")).raw("data: [DONE]\n\n");
    check(reply, said("春")).await;
}

#[tokio::test]
async fn a_json_document_in_the_place_of_a_stream() {
    let body = json!({
        "choices": [{"message": {"content": "Hi", "tool_calls": [
            {"id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"id": "b", "function": {"name": "y", "arguments": {"n": 1}}}
        ]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1}
    });
    let wanted =
        || Wanted { text: "Hi", calls: vec![("x", json!({})), ("y", json!({"n": 1}))], usage: Some((3, 1)) };
    check(Reply::document(200, &body), wanted()).await;
    check(Reply::body(200, "text/plain", &format!("\n {body}")), wanted()).await;
}

#[tokio::test]
async fn a_stream_with_another_media_type() {
    let stream = format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", text("Hi"), finish("stop"));
    check(Reply::body(200, "text/plain", &stream), said("Hi")).await;
}

#[tokio::test]
async fn an_error_with_status_200() {
    let error =
        fails(Reply::document(200, &json!({"error": {"message": "no such model", "code": 404}}))).await;
    assert!(
        matches!(&error, ChatError::Refused { status: 404, message } if message == "no such model"),
        "{error}"
    );
}

#[tokio::test]
async fn an_error_in_mid_stream() {
    let reply =
        Reply::stream(&[text("Hi"), json!({"error": {"message": "overloaded", "type": "server_error"}})]);
    let error = fails(reply).await;
    assert!(error.to_string().contains("overloaded"), "{error}");
}

#[tokio::test]
async fn an_error_event_by_name() {
    let reply = Reply::open_stream(&[text("Hi")]).raw("event: error\ndata: {\"message\":\"overloaded\"}\n\n");
    assert!(fails(reply).await.to_string().contains("overloaded"));
}

#[tokio::test]
async fn garbage_in_mid_stream() {
    let error = fails(Reply::open_stream(&[text("Hi")]).raw("data: <html>\n\n")).await;
    assert!(matches!(&error, ChatError::Broken(why) if why.contains("<html>")), "{error}");
}

#[tokio::test]
async fn a_page_of_html() {
    let error = fails(Reply::body(200, "text/html", "<html><body>sign in</body></html>")).await;
    assert!(matches!(error, ChatError::Broken(_)), "{error}");
}

#[tokio::test]
async fn an_empty_body() {
    assert!(matches!(fails(Reply::body(200, "text/event-stream", "")).await, ChatError::Broken(_)));
}

#[tokio::test]
async fn a_refusal_of_the_model_is_its_answer() {
    let reply = Reply::stream(&[delta(&json!({"content": null, "refusal": "I cannot."})), finish("stop")]);
    check(reply, said("I cannot.")).await;
}

#[tokio::test]
async fn calls_without_end_are_cut_off() {
    let many: Vec<Value> = (0..300).map(|n| call(n, &format!("c{n}"), "x", "{}")).collect();
    let error = fails(Reply::stream(&many)).await;
    assert!(matches!(&error, ChatError::Broken(why) if why.contains("256")), "{error}");
}
