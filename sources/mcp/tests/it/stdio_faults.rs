//! What can go wrong with a command, each against a real process.

use crate::harness::{House, faulty, process, text, until};
use domain::{CallContext, ToolError, tool::Progress};
use serde_json::{Value, json};
use source_mcp::{ServerInput, StdioPolicy, stdio::LocalStdio};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

#[tokio::test]
async fn killed_in_the_middle_of_a_call() {
    let house = House::new().await;
    let counter = house.file("calls");
    let mut input = faulty(&["--counter", &counter]);
    input.env.insert("KEY".into(), "s3cret-value".into());
    let server = house.servers.create(&house.account, input).await.unwrap();
    let error = house.call(&server.id, "die", json!({})).await.unwrap_err();
    let said = format!("{error} {}", error.for_operator());
    assert!(matches!(error, ToolError::Unreachable { .. }), "{error}");
    assert!(said.contains("exit status: 3") && said.contains("about to die of ********"), "{said}");
    assert_eq!(house.counted("calls"), ["die"], "a call that may have had effects is not repeated");
    // The next call starts another process.
    let output = house.call(&server.id, "echo", json!({"text": "again"})).await.unwrap();
    assert_eq!(text(&output), "again");
}

#[tokio::test]
async fn a_process_that_died_while_idle_is_replaced_without_anyone_noticing() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let pid = text(&house.call(&server.id, "pid", json!({})).await.unwrap()).to_owned();
    kill(&pid, "-KILL");
    until("the process is reaped", async || process(&pid).is_none()).await;
    let other = text(&house.call(&server.id, "pid", json!({})).await.unwrap()).to_owned();
    assert_ne!(pid, other);
}

#[tokio::test]
async fn a_hung_call_ends_with_its_patience_and_the_server_is_told() {
    let house = House::new().await;
    let input = ServerInput { timeout_s: Some(1), ..faulty(&[]) };
    let server = house.servers.create(&house.account, input).await.unwrap();
    let error = house.call(&server.id, "hang", json!({})).await.unwrap_err();
    assert!(matches!(error, ToolError::Timeout { .. }), "{error}");
    let told = house.call(&server.id, "was_cancelled", json!({})).await.unwrap();
    assert_eq!(told.structured.unwrap()["cancelled"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_the_call_at_the_server() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let cx = house.cx(Duration::from_secs(20));
    let stop = cx.cancel.clone();
    let called = house.call_within(&server.id, "hang", json!({}), cx);
    let (error, ()) = tokio::join!(called, async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    });
    assert!(matches!(error, Err(ToolError::Cancelled)));
    let told = house.call(&server.id, "was_cancelled", json!({})).await.unwrap();
    assert_eq!(told.structured.unwrap()["cancelled"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn garbage_between_messages_is_skipped_and_a_broken_answer_is_told() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let output = house.call(&server.id, "garbage", json!({})).await.unwrap();
    assert_eq!(text(&output), "after garbage");
    let error = house.call(&server.id, "broken_json", json!({})).await.unwrap_err();
    assert!(
        matches!(&error, ToolError::Upstream { status: 0, body } if body.contains("not JSON"))
            || matches!(error, ToolError::Unreachable { .. }),
        "{error}"
    );
    house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
}

#[tokio::test]
async fn large_answers_arrive_and_too_large_ones_are_refused_at_once() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let toolset = house.toolset(&server.id, &["big"]).await;
    let tool = &toolset.entries()[0].tool;
    let cx = house.cx(Duration::from_mins(1));
    let output = tool.call(json!({"bytes": 10_000_000}), &cx).await.unwrap();
    assert_eq!(text(&output).len(), 10_000_000);
    let started = Instant::now();
    for bytes in [40_000_000, 33_554_432] {
        let error = tool.call(json!({"bytes": bytes}), &cx).await.unwrap_err();
        assert!(matches!(error, ToolError::TooLarge { .. }), "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(25), "it was not waited for until a timeout");
    house.call(&server.id, "echo", json!({"text": "still there"})).await.unwrap();
}

#[tokio::test]
async fn a_closed_output_ends_the_process_and_the_call() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let error = house.call(&server.id, "close_output", json!({})).await.unwrap_err();
    assert!(matches!(error, ToolError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn stopping_takes_the_whole_family_along() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let parent = text(&house.call(&server.id, "pid", json!({})).await.unwrap()).to_owned();
    let child = text(&house.call(&server.id, "children", json!({})).await.unwrap()).to_owned();
    assert!(process(&parent).is_some() && process(&child).is_some());
    house.servers.delete(&house.account, &server.id).await.unwrap();
    assert_eq!(process(&parent), None, "ended and reaped");
    until("the grandchild is gone", async || !matches!(process(&child), Some('R' | 'S' | 'D'))).await;
}

#[tokio::test]
async fn an_idle_server_is_stopped() {
    let stdio = LocalStdio::with_limits(StdioPolicy::Admin, 4, Duration::from_millis(200));
    let house = House::with(stdio, StdioPolicy::Admin).await;
    let server = house.faulty(&[]).await;
    let pid = text(&house.call(&server.id, "pid", json!({})).await.unwrap()).to_owned();
    until("the idle process is gone", async || process(&pid).is_none()).await;
    house.call(&server.id, "echo", json!({"text": "back"})).await.unwrap();
    house.stdio.shutdown().await;
}

#[tokio::test]
async fn progress_is_passed_on_and_keeps_a_long_call_alive() {
    struct Heard(Mutex<Vec<String>>);
    impl Progress for Heard {
        fn report(&self, done: f64, total: Option<f64>, message: Option<&str>) {
            let text = format!("{done}/{} {}", total.unwrap_or(0.0), message.unwrap_or(""));
            self.0.lock().unwrap().push(text);
        }
    }
    let house = House::new().await;
    let input = ServerInput { timeout_s: Some(1), ..faulty(&[]) };
    let server = house.servers.create(&house.account, input).await.unwrap();
    let heard = Arc::new(Heard(Mutex::default()));
    let cx = CallContext { progress: Some(heard.clone()), ..house.cx(Duration::from_secs(20)) };
    let args = json!({"steps": 4, "pause": 0.5});
    let output = house.call_within(&server.id, "progress", args, cx).await.unwrap();
    assert_eq!(text(&output), "done");
    assert_eq!(*heard.0.lock().unwrap(), ["1/4 step 1", "2/4 step 2", "3/4 step 3", "4/4 step 4"]);
}

#[tokio::test]
async fn what_the_server_asks_is_declined_and_every_block_passes() {
    let house = House::new().await;
    let server = house.faulty(&[]).await;
    let output = house.call(&server.id, "ask", json!({})).await.unwrap();
    assert_eq!(output.structured.unwrap()["result"], json!({"action": "decline"}));
    let output = house.call(&server.id, "blocks", json!({})).await.unwrap();
    let blocks = serde_json::to_value(&output.content).unwrap();
    let kinds: Vec<&str> = blocks.as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource", "resource_link", "hologram"]);
    assert_eq!((&blocks[5]["rays"], &blocks[3]["resource"]["odd"]), (&json!([1, 2]), &json!(1)));
    let output = house.call(&server.id, "fails", json!({})).await.unwrap();
    assert!(output.is_error && text(&output) == "it did not work");
}

#[tokio::test]
async fn calls_run_side_by_side_up_to_the_servers_limit() {
    let house = House::new().await;
    let input = ServerInput { max_concurrency: Some(2), ..faulty(&[]) };
    let server = house.servers.create(&house.account, input).await.unwrap();
    let started = Instant::now();
    let call = || house.call(&server.id, "sleep", json!({"seconds": 0.3}));
    let (a, b, c, d) = tokio::join!(call(), call(), call(), call());
    for output in [a, b, c, d] {
        output.unwrap();
    }
    assert!(started.elapsed() >= Duration::from_millis(590), "two at a time");
}

#[tokio::test]
async fn a_listed_change_refreshes_the_catalog() {
    for era in ["legacy", "modern"] {
        let house = House::new().await;
        let server = house.faulty(&["--era", era]).await;
        house.call(&server.id, "change", json!({})).await.unwrap();
        until("the new tool is listed", async || {
            house.descriptions(&server.id).await.iter().any(|(name, _)| name == "added_later")
        })
        .await;
        house.call(&server.id, "added_later", json!({})).await.unwrap();
    }
}

#[tokio::test]
async fn one_malformed_tool_loses_no_other() {
    let house = House::new().await;
    let server = house.faulty(&["--malformed"]).await;
    let skipped: Vec<&str> = server.skipped.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(skipped[..3], ["no_schema", "null_schema", "true_schema"]);
    assert_eq!(skipped.len(), 5);
    house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
    let names: Vec<_> = house.descriptions(&server.id).await.into_iter().map(|(n, _)| n).collect();
    assert!(names.contains(&"odd_output".to_owned()) && names.contains(&"odd_hints".to_owned()));
}

#[tokio::test]
async fn pages_are_read_to_the_end_and_a_repeating_cursor_is_not() {
    let house = House::new().await;
    let whole = house.faulty(&[]).await;
    house.servers.delete(&house.account, &whole.id).await.unwrap();
    let paged = house.faulty(&["--pages", "5"]).await;
    assert_eq!((paged.tools, paged.notes.len()), (whole.tools, 0));
    house.servers.delete(&house.account, &paged.id).await.unwrap();
    let repeating = house.faulty(&["--repeat-cursor"]).await;
    assert_eq!(repeating.tools, whole.tools);
    assert!(repeating.notes[0].contains("same paging cursor"), "{:?}", repeating.notes);
}

#[tokio::test]
async fn a_dead_command_costs_nothing_once_it_is_known_to_be_dead() {
    let house = House::new().await;
    let marker = house.file("alive");
    std::fs::write(&marker, "").unwrap();
    let script = format!("test -e {marker} || exit 1; exec python3 \"$0\"");
    let fine = faulty(&[]);
    let args = vec!["-c".into(), script, fine.args[0].clone()];
    let server = house.servers.create(&house.account, ServerInput::stdio("s", "sh", args)).await.unwrap();
    std::fs::remove_file(&marker).unwrap();
    let pid = text(&house.call(&server.id, "pid", json!({})).await.unwrap()).to_owned();
    kill(&pid, "-KILL");
    until("the process is gone", async || process(&pid).is_none()).await;
    let mut last = Value::Null;
    for _ in 0..4 {
        last = json!(house.call(&server.id, "echo", json!({})).await.unwrap_err().to_string());
    }
    assert!(last.to_string().contains("next try"), "{last}");
    let started = Instant::now();
    for _ in 0..100 {
        house.call(&server.id, "echo", json!({})).await.unwrap_err();
    }
    assert!(started.elapsed() < Duration::from_secs(1), "a hundred refusals start no process");
    let view = house.servers.get(&house.account, &server.id).await.unwrap();
    assert_eq!(view.status, source_mcp::ServerStatus::Failing);
    // A refresh that works closes the breaker.
    std::fs::write(&marker, "").unwrap();
    house.servers.refresh(&house.account, &server.id).await.unwrap();
    house.call(&server.id, "echo", json!({})).await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "kills a process of the test's own")]
fn kill(pid: &str, signal: &str) {
    assert!(std::process::Command::new("kill").args([signal, pid]).status().unwrap().success());
}
