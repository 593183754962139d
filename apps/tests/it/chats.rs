//! The chat service: what is answered, what is stored, and what is refused.

use crate::support::World;
use apps::{
    app::AppError,
    chat::{ChatEvent, ChatRefusal, ConfigChoice, ConversationChoice},
    conversations::{Audience, MessageStatus},
};
use domain::{
    Entry,
    ports::{AgentEventKind as Kind, Clock as _},
};
use futures::StreamExt as _;
use model_server::{Reply, call, finish, text, usage};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

fn says(words: &str) -> Reply {
    Reply::stream(&[text(words), finish("stop"), usage(10, 5)])
}

fn asks(name: &str) -> Reply {
    Reply::stream(&[call(0, "c1", name, "{}"), finish("tool_calls"), usage(10, 5)])
}

fn remote(tool: &str) -> Value {
    json!({"type": "mcp_tool", "provider_id": "srv", "tool_id": tool, "params": {}})
}

#[tokio::test]
async fn a_run_is_shown_and_stored_step_by_step() {
    let world = World::new([asks("look"), says("All is well.")]).await;
    let app = world.app(json!({"tools": [remote("look")]})).await;
    let run = world.chat.start(world.ask(&app, "How is it?")).await.unwrap();
    let (conversation, message) = (run.conversation_id.clone(), run.message_id.clone());
    let events: Vec<ChatEvent> = run.events().collect().await;
    let kinds: Vec<_> = events.iter().map(|e| e.event.event).collect();
    assert_eq!(
        kinds,
        [Kind::AgentThought, Kind::AgentAction, Kind::AgentMessage, Kind::AgentMessage, Kind::AgentEnd]
    );
    assert!(events.iter().all(|e| e.conversation_id == conversation && e.message_id == message));
    let (_, stored) = world.chat.conversations().message(&world.account, &message).await.unwrap();
    assert_eq!((stored.answer.as_str(), stored.status), ("All is well.", MessageStatus::Normal));
    assert_eq!(stored.total_token_count, 30);
    let steps = world.chat.conversations().steps(&world.account, &message).await.unwrap();
    let kept: Vec<_> = steps.iter().map(|s| (s.position, s.event.event)).collect();
    assert_eq!(kept, [(0, Kind::AgentThought), (1, Kind::AgentAction), (2, Kind::AgentMessage)]);
    assert_eq!(steps[1].event.observation, "remote result");
    assert_eq!(steps[2].event.answer, "All is well.");
}

#[tokio::test]
async fn events_have_the_names_and_fields_that_clients_know() {
    let world = World::new([says("Hi")]).await;
    let app = world.app(json!({})).await;
    let run = world.chat.start(world.ask(&app, "hello")).await.unwrap();
    let frames: Vec<String> = run.events().map(|event| event.to_sse()).collect().await;
    assert!(frames[0].starts_with("event: agent_message\ndata: {") && frames[0].ends_with("}\n\n"));
    assert!(frames.last().unwrap().starts_with("event: agent_end\n"));
    let data: Value =
        serde_json::from_str(frames[0].lines().nth(1).unwrap().strip_prefix("data: ").unwrap()).unwrap();
    for field in [
        "id",
        "conversation_id",
        "message_id",
        "task_id",
        "event",
        "thought",
        "observation",
        "tool",
        "tool_input",
        "answer",
        "total_token_count",
        "total_price",
        "latency",
    ] {
        assert!(data.get(field).is_some(), "{field} is missing");
    }
}

#[tokio::test]
async fn the_next_question_knows_the_rounds_before() {
    let world = World::new([says("one"), says("two"), says("three")]).await;
    let app = world.app(json!({"dialog_round": 1})).await;
    for query in ["a", "b", "c"] {
        world.chat.start(world.ask(&app, query)).await.unwrap().answer().await;
    }
    let contents = |i: usize| {
        let messages = world.server.asked()[i].body["messages"].as_array().unwrap().clone();
        messages.iter().map(|m| m["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(contents(0), ["a"]);
    assert_eq!(contents(1), ["a", "one", "b"]);
    assert_eq!(contents(2), ["b", "two", "c"]);
}

#[tokio::test]
async fn conversations_belong_to_who_began_them() {
    let world = World::new([says("one")]).await;
    let app = world.app(json!({})).await;
    let begun = world.chat.start(world.ask(&app, "a")).await.unwrap().answer().await;
    let mut other = world.ask(&app, "b");
    other.audience = Audience { entry: Entry::Debugger, user: "u2".into() };
    other.conversation = ConversationChoice::Id(begun.conversation_id.clone());
    assert!(matches!(world.chat.start(other.clone()).await, Err(ChatRefusal::NotFound(_))));
    let foreign = world.chat.stop(&world.account, &app, &other.audience, &begun.message_id).await;
    assert!(matches!(foreign, Err(ChatRefusal::NotFound(_))));
    let (listed, _) =
        world.chat.conversations().list(&world.account, &app, &other.audience, 10, None).await.unwrap();
    assert_eq!(listed, []);
    let (own, _) =
        world.chat.conversations().list(&world.account, &app, &world.audience(), 10, None).await.unwrap();
    assert_eq!((own.len(), own[0].name.as_str()), (1, "a"));
    world.chat.conversations().delete(&world.account, &own[0]).await.unwrap();
    assert!(world.chat.conversations().message(&world.account, &begun.message_id).await.is_err());
}

#[tokio::test]
async fn only_what_is_published_answers_channels() {
    let world = World::new([says("Hi")]).await;
    let app = world.app(json!({"preset_prompt": "published"})).await;
    let mut ask = world.ask(&app, "hello");
    ask.config = ConfigChoice::Published;
    let refused = world.chat.start(ask.clone()).await.unwrap_err();
    assert!(matches!(refused, ChatRefusal::App(AppError::NotPublished(_))), "{refused}");
    world.apps.publish(&world.account, &app).await.unwrap();
    let answer = world.chat.start(ask).await.unwrap().answer().await;
    assert_eq!((answer.answer.as_str(), answer.end.event), ("Hi", Kind::AgentEnd));
    assert_eq!(world.server.asked()[0].body["messages"][0]["content"], "published");
}

#[tokio::test]
async fn a_day_has_its_limits() {
    let world = World::new([says("Hi")]).await;
    let app = world.app(json!({"limits": {"daily_calls": 2}})).await;
    for _ in 0..2 {
        world.chat.start(world.ask(&app, "a")).await.unwrap().answer().await;
    }
    let refused = world.chat.start(world.ask(&app, "a")).await.unwrap_err();
    assert!(matches!(refused, ChatRefusal::DailyLimit { what: "calls", limit: 2, .. }), "{refused}");
    world.clock.advance(Duration::from_secs(24 * 3600));
    assert!(world.chat.start(world.ask(&app, "a")).await.is_ok(), "another day");
    let app = world.app(json!({"limits": {"daily_tokens": 15}})).await;
    world.chat.start(world.ask(&app, "a")).await.unwrap().answer().await;
    let refused = world.chat.start(world.ask(&app, "a")).await.unwrap_err();
    assert!(matches!(refused, ChatRefusal::DailyLimit { what: "tokens", .. }), "{refused}");
}

#[tokio::test]
async fn questions_that_cannot_be_asked_are_refused() {
    let world = World::new([]).await;
    let app = world.app(json!({})).await;
    let refused = |change: fn(&mut apps::chat::Ask)| {
        let mut ask = world.ask(&app, "a");
        change(&mut ask);
        let chat = world.chat.clone();
        async move { chat.start(ask).await.unwrap_err() }
    };
    assert!(matches!(refused(|ask| ask.query = " ".into()).await, ChatRefusal::Invalid(_)));
    assert!(matches!(
        refused(|ask| ask.image_urls = vec!["file:///etc/passwd".into()]).await,
        ChatRefusal::Invalid(_)
    ));
    assert!(matches!(
        refused(|ask| ask.image_urls = vec!["https://e.com/a".into(); 6]).await,
        ChatRefusal::Invalid(_)
    ));
    assert!(matches!(refused(|ask| ask.audience.user = "a#b".into()).await, ChatRefusal::Invalid(_)));
    assert!(matches!(
        refused(|ask| ask.app_id = "app_gone".into()).await,
        ChatRefusal::App(AppError::NotFound(_))
    ));
}

#[tokio::test]
async fn datasets_are_a_tool_between_tools_and_workflows() {
    let search =
        Reply::stream(&[call(0, "c1", "dataset_retrieval", "{\"query\":\"refunds\"}"), finish("tool_calls")]);
    let world = World::new([search, says("Seven days.")]).await;
    let dataset = json!({"name": "Rules", "description": "of the shop"});
    let dataset =
        world.knowledge.create(&world.account, serde_json::from_value(dataset).unwrap()).await.unwrap();
    world
        .knowledge
        .add(&world.account, &dataset.id, "R", "Refunds are paid within seven days.")
        .await
        .unwrap();
    let app = world.app(json!({"tools": [remote("look")], "datasets": [dataset.id]})).await;
    let run = world.chat.start(world.ask(&app, "When?")).await.unwrap();
    let answer = run.answer().await;
    let found = answer.steps.iter().find(|step| step.event == Kind::DatasetRetrieval).unwrap();
    assert_eq!(found.observation, "Refunds are paid within seven days.");
    let asked = world.server.asked();
    let tools = asked[0].body["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|t| t["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["look", "dataset_retrieval"]);
    assert!(tools[1]["function"]["description"].as_str().unwrap().contains("Rules: of the shop"));
}

#[tokio::test]
async fn a_call_that_needs_approval_waits_for_a_person() {
    let world = World::new([asks("look"), says("May I?"), asks("look"), says("Done")]).await;
    let app = world.app(json!({"tools": [remote("look")], "approval": "destructive"})).await;
    let first = world.chat.start(world.ask(&app, "a")).await.unwrap().answer().await;
    assert!(
        first.steps[1].observation.contains("Ask the user for approval"),
        "{}",
        first.steps[1].observation
    );
    let mut ask = world.ask(&app, "yes");
    ask.approved = true;
    let second = world.chat.start(ask).await.unwrap().answer().await;
    assert_eq!(second.steps[1].observation, "remote result");
}

#[tokio::test]
async fn a_run_is_stopped_from_anywhere_and_two_stops_are_one() {
    let never = Arc::new(Notify::new());
    let world = World::new([Reply::open_stream(&[text("Hel")]).wait(&never)]).await;
    let app = world.app(json!({})).await;
    let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
    let task = run.task_id.clone();
    let mut events = Box::pin(run.events());
    assert_eq!(events.next().await.unwrap().event.answer, "Hel");
    let audience = world.audience();
    let (one, two) = futures::join!(
        world.chat.stop(&world.account, &app, &audience, &task),
        world.chat.stop(&world.account, &app, &audience, &task),
    );
    one.and(two).unwrap();
    let rest: Vec<_> = events.map(|event| event.event.event).collect().await;
    assert_eq!(rest, [Kind::Stop]);
    let (_, stored) = world.chat.conversations().message(&world.account, &task).await.unwrap();
    assert_eq!((stored.answer.as_str(), stored.status), ("Hel", MessageStatus::Stop));
    world.chat.stop(&world.account, &app, &audience, &task).await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_run_is_counted_by_the_clock_where_nobody_wrote_it() {
    let never = Arc::new(Notify::new());
    let world = World::new([Reply::open_stream(&[text("Hel")]).wait(&never)]).await;
    let app = world.app(json!({"limits": {"timeout_s": 600}})).await;
    let run = world.chat.start(world.ask(&app, "a")).await.unwrap();
    let id = run.message_id.clone();
    let mut events = Box::pin(run.events());
    events.next().await.unwrap();
    let status = async || world.chat.conversations().message(&world.account, &id).await.unwrap().1.status;
    assert_eq!(status().await, MessageStatus::Running);
    world.clock.advance(Duration::from_secs(661));
    assert!(world.clock.now() > jiff::Timestamp::UNIX_EPOCH);
    assert_eq!(status().await, MessageStatus::Error);
}
