//! What goes wrong around a run: it ends with exactly one terminal event all the same.

use crate::support::{Counted, Kept, request, run, toolset};
use agent::AgentRunner;
use domain::ports::{Agent as _, AgentEventKind as Kind};
use model_server::{ModelServer, Reply, call, finish, text};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Notify;

#[tokio::test]
async fn a_model_that_dies_in_mid_stream_ends_the_run_with_what_it_said() {
    let server = ModelServer::start([Reply::open_stream(&[text("Hel"), text("lo")]).die()]).await;
    let kept = run(request(&server, toolset(&[]))).await;
    assert_eq!(kept.answer(), "Hello");
    let end = kept.end();
    assert_eq!(end.event, Kind::Error);
    assert!(end.observation.starts_with("LLM节点发生错误, 错误信息: "), "{}", end.observation);
}

#[tokio::test]
async fn garbage_ends_the_run() {
    let server =
        ModelServer::start([Reply::open_stream(&[text("Hi")]).raw("data: \u{0}\u{1}garbage\n\n")]).await;
    assert_eq!(run(request(&server, toolset(&[]))).await.end().event, Kind::Error);
}

#[tokio::test]
async fn a_run_is_stopped_while_the_model_speaks() {
    let never = Arc::new(Notify::new());
    let server = ModelServer::start([Reply::open_stream(&[text("Hi")]).wait(&never)]).await;
    let request = request(&server, toolset(&[]));
    let cancel = request.cx.cancel.clone();
    let mut kept = Kept { on_event: Some(Box::new(move |_| cancel.cancel())), ..Kept::default() };
    AgentRunner::new().run(request, &mut kept).await;
    assert_eq!(kept.kinds(), [Kind::AgentMessage, Kind::Stop]);
}

#[tokio::test]
async fn a_run_is_stopped_while_a_tool_works() {
    let server =
        ModelServer::start([Reply::stream(&[call(0, "a", "hang", "{}"), finish("tool_calls")])]).await;
    let request = request(&server, toolset(&[Counted::new("hang")]));
    let cancel = request.cx.cancel.clone();
    let mut kept = Kept { on_event: Some(Box::new(move |_| cancel.cancel())), ..Kept::default() };
    AgentRunner::new().run(request, &mut kept).await;
    assert_eq!(kept.kinds(), [Kind::AgentThought, Kind::Stop]);
}

#[tokio::test]
async fn time_is_a_budget_for_models_and_for_tools() {
    let never = Arc::new(Notify::new());
    let hang = Reply::stream(&[call(0, "a", "hang", "{}"), finish("tool_calls")]);
    for reply in [Reply::open_stream(&[text("Hi")]).wait(&never), hang] {
        let server = ModelServer::start([reply]).await;
        let mut request = request(&server, toolset(&[Counted::new("hang")]));
        request.cx.deadline = Instant::now() + Duration::from_millis(200);
        assert_eq!(run(request).await.end().event, Kind::Timeout);
    }
}

#[tokio::test]
async fn a_sink_that_closes_ends_the_run_at_once() {
    let server =
        ModelServer::start([Reply::stream(&[text("a"), text("b"), text("c"), finish("stop")])]).await;
    let mut kept = Kept { close_after: Some(1), ..Kept::default() };
    AgentRunner::new().run(request(&server, toolset(&[])), &mut kept).await;
    assert_eq!(kept.kinds(), [Kind::AgentMessage]);
}
