//! Faults around a run: one terminal event, a record that has an end, and nothing lost that was shown.

use crate::support::World;
use apps::{chat::ChatEvent, conversations::MessageStatus};
use domain::ports::AgentEventKind as Kind;
use futures::StreamExt as _;
use model_server::{Reply, call, finish, text};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Notify;

fn tool(name: &str) -> serde_json::Value {
    json!({"tools": [{"type": "mcp_tool", "provider_id": "srv", "tool_id": name, "params": {}}]})
}

fn terminal(events: &[ChatEvent]) -> Vec<Kind> {
    events.iter().map(|e| e.event.event).filter(|kind| kind.is_terminal()).collect()
}

#[tokio::test]
async fn a_model_that_dies_leaves_what_it_said() {
    let world = World::new([Reply::open_stream(&[text("Hel"), text("lo")]).die()]).await;
    let app = world.app(json!({})).await;
    let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
    let id = run.message_id.clone();
    let events: Vec<_> = run.events().collect().await;
    assert_eq!(terminal(&events), [Kind::Error]);
    let (_, stored) = world.chat.conversations().message(&world.account, &id).await.unwrap();
    assert_eq!((stored.answer.as_str(), stored.status), ("Hello", MessageStatus::Error));
    assert!(!stored.error.is_empty() && !stored.error.contains("sk-canary"), "{}", stored.error);
}

#[tokio::test]
async fn a_store_that_fails_for_a_moment_costs_nothing() {
    for after in 0..4 {
        let reply = Reply::stream(&[call(0, "c", "look", "{}"), finish("tool_calls")]);
        let world = World::new([reply, Reply::stream(&[text("Hi"), finish("stop")])]).await;
        let app = world.app(tool("look")).await;
        let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
        let id = run.message_id.clone();
        let mut events = Box::pin(run.events());
        let first = events.next().await.unwrap();
        world.table.fail_after(after, true);
        let mut all = vec![first];
        all.extend(events.collect::<Vec<_>>().await);
        assert_eq!(terminal(&all), [Kind::AgentEnd], "after {after} writes");
        let (_, stored) = world.chat.conversations().message(&world.account, &id).await.unwrap();
        assert_eq!((stored.answer.as_str(), stored.status), ("Hi", MessageStatus::Normal));
    }
}

#[tokio::test]
async fn a_store_that_stays_broken_ends_the_run_and_says_so() {
    let more = Arc::new(Notify::new());
    let reply = Reply::open_stream(&[text("Hel")])
        .wait(&more)
        .chunk(&text("lo"))
        .chunk(&finish("stop"))
        .raw("data: [DONE]\n\n");
    let world = World::new([reply]).await;
    let app = world.app(json!({})).await;
    let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
    let id = run.message_id.clone();
    let mut events = Box::pin(run.events());
    assert_eq!(events.next().await.unwrap().event.answer, "Hel");
    world.table.fail_after(0, false);
    more.notify_one();
    let rest: Vec<_> = events.collect().await;
    assert_eq!(terminal(&rest), [Kind::Error]);
    assert!(rest.last().unwrap().event.observation.contains("could not be stored"));
    world.table.fail_after(i64::MAX, false);
    world.clock.advance(std::time::Duration::from_secs(700));
    let (_, stored) = world.chat.conversations().message(&world.account, &id).await.unwrap();
    assert_eq!(stored.status, MessageStatus::Error, "the record has an end all the same");
}

#[tokio::test]
async fn a_run_whose_first_write_fails_shows_nothing_but_its_end() {
    let world = World::new([Reply::stream(&[text("Hi"), finish("stop")])]).await;
    let app = world.app(json!({})).await;
    world.table.fail_after(0, false);
    let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
    let events: Vec<_> = run.events().collect().await;
    assert_eq!(events.len(), 1);
    assert_eq!(terminal(&events), [Kind::Error]);
}

#[tokio::test]
async fn a_client_that_goes_away_stops_the_run() {
    let never = Arc::new(Notify::new());
    let silent = World::new([Reply::open_stream(&[text("Hel")]).wait(&never)]).await;
    let app = silent.app(json!({})).await;
    let run = silent.chat.start(silent.ask(&app, "a")).await.unwrap();
    let id = run.message_id.clone();
    let mut events = Box::pin(run.events());
    events.next().await.unwrap();
    drop(events);
    assert_eq!(ended(&silent, &id).await.status, MessageStatus::Stop, "also where no event comes any more");
    let world = World::new([Reply::open_stream(&[text("Hel")])
        .chunk(&call(0, "c", "hang", "{}"))
        .chunk(&finish("tool_calls"))
        .raw("data: [DONE]\n\n")])
    .await;
    let app = world.app(tool("hang")).await;
    let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
    let id = run.message_id.clone();
    let mut events = Box::pin(run.events());
    assert_eq!(events.next().await.unwrap().event.answer, "Hel");
    drop(events);
    let stored = ended(&world, &id).await;
    assert_eq!((stored.answer.as_str(), stored.status), ("Hel", MessageStatus::Stop));
}

#[tokio::test]
async fn a_tool_that_panics_ends_its_call_and_not_the_run() {
    let reply = Reply::stream(&[call(0, "c", "panic", "{}"), finish("tool_calls")]);
    let world = World::new([reply, Reply::stream(&[text("Sorry"), finish("stop")])]).await;
    let app = world.app(tool("panic")).await;
    let answer = world.chat.start(world.ask(&app, "a")).await.unwrap().answer().await;
    assert_eq!((answer.answer.as_str(), answer.end.event), ("Sorry", Kind::AgentEnd));
}

/// The message once its run has ended.
async fn ended(world: &World, id: &str) -> apps::conversations::Message {
    for _ in 0..2000 {
        let (_, stored) = world.chat.conversations().message(&world.account, id).await.unwrap();
        if stored.status != MessageStatus::Running {
            return stored;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the run did not end");
}
