//! What the client sends, when it tries again, and what it never tells.

use crate::support::{endpoint, http, model, turn};
use agent::OpenAiModels;
use domain::{
    Dialect,
    ports::{ChatError, ChatEvent, ChatRequest, ChatTool, ModelEndpoint, ModelFactory as _},
};
use model_server::{ModelServer, Reply, finish, text};
use serde_json::json;
use std::time::Duration;

fn hello() -> Reply {
    Reply::stream(&[text("Hi"), finish("stop")])
}

#[tokio::test]
async fn the_key_goes_into_the_header_and_the_model_into_the_body() {
    let server = ModelServer::start([hello()]).await;
    turn(&server).await.unwrap();
    let asked = &server.asked()[0];
    assert_eq!(asked.authorization.as_deref(), Some("Bearer sk-canary"));
    assert_eq!(asked.body["model"], "m");
    assert_eq!(asked.body["stream"], true);
    assert!(asked.body.get("tools").is_none());
}

#[tokio::test]
async fn a_turn_is_begun_anew_as_long_as_nothing_was_shown() {
    let dies = Reply::open_stream(&[]).die();
    for first in [
        Reply::body(429, "text/plain", "slow down").header("retry-after", "0"),
        Reply::body(503, "text/plain", "later"),
        Reply::document(200, &json!({"error": {"message": "busy", "code": 503}})),
        dies,
    ] {
        let server = ModelServer::start([first, hello()]).await;
        let events = turn(&server).await.unwrap();
        assert_eq!(events[0], ChatEvent::Text("Hi".into()));
        assert_eq!(server.asked().len(), 2);
    }
}

#[tokio::test]
async fn what_was_shown_is_never_shown_twice() {
    let server = ModelServer::start([Reply::open_stream(&[text("Hi")]).die(), hello()]).await;
    let error = turn(&server).await.unwrap_err();
    assert!(matches!(error, ChatError::Broken(_)), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_refusal_that_will_not_change_is_told_at_once() {
    let body = json!({"error": {"message": "Incorrect API key provided: sk-canary"}});
    let server = ModelServer::start([Reply::document(401, &body)]).await;
    let error = turn(&server).await.unwrap_err();
    assert!(matches!(&error, ChatError::Refused { status: 401, .. }), "{error}");
    assert!(!error.to_string().contains("sk-canary"), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_service_that_does_not_know_stream_options_is_asked_without_them() {
    let refusal = json!({"error": {"message": "Unrecognized request argument supplied: stream_options"}});
    let server = ModelServer::start([Reply::document(400, &refusal), hello()]).await;
    let model = model(&server);
    for _ in 0..2 {
        assert!(model.chat(ChatRequest::default()).await.is_ok());
    }
    let sent: Vec<bool> = server.asked().iter().map(|a| a.body.get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, false, false], "learnt once");
}

#[tokio::test]
async fn a_service_that_says_nothing_is_given_up() {
    let never = std::sync::Arc::new(tokio::sync::Notify::new());
    let server = ModelServer::start([Reply::open_stream(&[]).wait(&never)]).await;
    let endpoint = ModelEndpoint { timeout: Duration::from_millis(50), ..endpoint(server.url()) };
    let model = OpenAiModels::new(http()).open(endpoint).unwrap();
    let error = model.chat(ChatRequest::default()).await.err().unwrap();
    assert!(matches!(error, ChatError::Timeout), "{error}");
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_refused_when_it_is_stored() {
    let models = OpenAiModels::new(egress::Client::new(egress::Policy::strict()));
    for url in ["http://169.254.169.254/v1", "http://127.0.0.1:1/v1", "ftp://example.com", "no address"] {
        assert!(models.open(endpoint(url)).is_err(), "{url}");
    }
}

#[tokio::test]
async fn tools_go_along_and_strict_ones_say_so() {
    let server = ModelServer::start([hello()]).await;
    let tool =
        ChatTool { name: "now".into(), description: "d".into(), parameters: json!({"type": "object"}) };
    let request = ChatRequest { tools: vec![tool], ..ChatRequest::default() };
    for dialect in [Dialect::OpenAi, Dialect::OpenAiStrict] {
        let endpoint = ModelEndpoint { dialect, ..endpoint(server.url()) };
        let model = OpenAiModels::new(http()).open(endpoint).unwrap();
        assert!(model.chat(request.clone()).await.is_ok());
    }
    let asked = server.asked();
    let function = |i: usize| &asked[i].body["tools"][0]["function"];
    assert_eq!(function(0)["name"], "now");
    assert_eq!(function(0).get("strict"), None);
    assert_eq!(function(1)["strict"], true);
}
