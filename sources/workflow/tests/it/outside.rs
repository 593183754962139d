//! Nodes that reach outside: HTTP through the guard, language models, datasets.

use crate::support::{Draw, World, around, literal, refer, says};
use async_trait::async_trait;
use domain::{
    AccountId,
    dialect::Dialect,
    ports::{
        ChatError, ChatEvent, ChatModel, ChatRequest, ChatRole, ChatStream, ModelError, ModelInfo, Models,
        OpenModel, Passage, RetrieveError, Retriever, Usage,
    },
};
use futures::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use source_workflow::{EngineDeps, RunLimits};
use std::sync::{Arc, Mutex};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// Answers one request with `answer` and gives what was asked.
async fn one_request(answer: &'static str) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = socket.read(&mut buffer).await.unwrap();
            asked.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&asked).into_owned();
            let length = text
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
                })
                .unwrap_or(0);
            if text.split_once("\r\n\r\n").is_some_and(|(_, body)| body.len() >= length) {
                break;
            }
        }
        socket.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(asked).unwrap()
    });
    (url, asked)
}

fn at(place: &str, name: &str, kind: &str, value: Value) -> Value {
    let mut variable = literal(name, kind, value);
    variable["meta"] = json!({"type": place});
    variable
}

#[tokio::test]
async fn a_request_is_made_of_its_inputs_and_any_status_is_a_result() {
    let answer =
        "HTTP/1.1 418 No\r\ncontent-type: application/json\r\nx-a: b\r\ncontent-length: 9\r\n\r\n{\"a\":[1]}";
    let (url, asked) = one_request(answer).await;
    let node = json!({"node_type": "http_request", "method": "post", "url": format!("{url}/items/{{id}}"),
        "inputs": [at("path", "id", "string", json!("a/../b")), at("params", "q", "array", json!(["x", 2])),
                   at("headers", "x-key", "string", json!("k")), at("body", "n", "int", json!(5))]});
    let end = json!({"node_type": "end", "outputs": [refer("status", "int", "x", "status_code"),
        refer("json", "object", "x", "json"), refer("text", "string", "x", "text"), refer("headers", "object", "x", "headers")]});
    let graph = Draw::new(&[]).node("x", node).node("end", end).path(&["start", "x", "end"]).done();
    let got = World::new().run(&graph, json!({})).await.0.unwrap();
    assert_eq!((&got["status"], &got["json"]), (&json!(418), &json!({"a": [1]})));
    assert_eq!((&got["text"], &got["headers"]["x-a"]), (&json!("{\"a\":[1]}"), &json!("b")));
    let asked = asked.await.unwrap();
    assert!(asked.starts_with("POST /items/a%2F..%2Fb?q=x&q=2 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("x-key: k\r\n") && asked.ends_with("{\"n\":5}"), "{asked}");
}

#[tokio::test]
async fn a_private_address_is_blocked_and_an_endless_answer_is_cut_off() {
    let node = |url: &str| json!({"node_type": "http_request", "url": url});
    let strict = World::with(
        |deps| EngineDeps { http: egress::Client::new(egress::Policy::strict()), ..deps },
        RunLimits::default(),
    );
    for url in ["http://127.0.0.1:1/", "http://169.254.169.254/", "http://[::1]/"] {
        let error = strict.run(&around(node(url), &[], ("text", "string")), json!({})).await.0.unwrap_err();
        assert_eq!((error.code.as_str(), error.node_id.as_deref()), ("blocked", Some("x")), "{url}");
    }
    let (url, _asked) = one_request("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nx").await;
    let error =
        World::new().run(&around(node(&url), &[], ("text", "string")), json!({})).await.0.unwrap_err();
    assert_eq!(error.code, "too_large");
    let error = World::new()
        .run(&around(node("http://127.0.0.1:1/"), &[], ("text", "string")), json!({}))
        .await
        .0
        .unwrap_err();
    assert_eq!(error.code, "unreachable");
}

/// A model that answers the same, and keeps what it was asked.
#[derive(Default)]
struct Parrot {
    answer: Mutex<Vec<Result<ChatEvent, ChatError>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

struct Only(Arc<Parrot>);

#[async_trait]
impl ChatModel for Only {
    async fn chat(&self, request: ChatRequest) -> Result<ChatStream, ChatError> {
        self.0.asked.lock().unwrap().push(request);
        let events: Vec<_> = self.0.answer.lock().unwrap().clone();
        Ok(stream::iter(events).boxed())
    }
}

struct Parrots(Arc<Parrot>);

#[async_trait]
impl Models for Parrots {
    async fn model(&self, _account: &AccountId, id: &str) -> Result<OpenModel, ModelError> {
        let info = ModelInfo {
            id: id.to_owned(),
            name: id.to_owned(),
            calls_tools: true,
            dialect: Dialect::OpenAi,
            context_tokens: 1000,
            price: None,
        };
        match id {
            "m" => Ok(OpenModel { info, chat: Arc::new(Only(self.0.clone())) }),
            other => Err(ModelError::NotFound(other.to_owned())),
        }
    }
}

fn with_model(answer: Vec<Result<ChatEvent, ChatError>>) -> (World, Arc<Parrot>) {
    let parrot = Arc::new(Parrot { answer: Mutex::new(answer), asked: Mutex::default() });
    let models = Arc::new(Parrots(parrot.clone()));
    (World::with(|deps| EngineDeps { models, ..deps }, RunLimits::default()), parrot)
}

#[expect(clippy::unnecessary_wraps, reason = "an element of an answer")]
fn text(text: &str) -> Result<ChatEvent, ChatError> {
    Ok(ChatEvent::Text(text.to_owned()))
}

#[tokio::test]
async fn a_model_is_asked_with_rendered_prompts_and_its_whole_answer_comes_back() {
    let usage = Usage { input_tokens: 3, output_tokens: 2 };
    let end = Ok(ChatEvent::End { usage: Some(usage) });
    let (world, parrot) =
        with_model(vec![text("Hel"), Ok(ChatEvent::Reasoning("hm".into())), text("lo"), end]);
    let node = json!({"node_type": "llm", "model": {"id": "m", "parameters": {"temperature": 0}},
        "prompt": "Greet {{ who }}", "system_prompt": "Be {{ who }}", "inputs": [refer("who", "string", "start", "who")]});
    let got =
        world.run(&around(node, &[("who", "string")], ("output", "string")), json!({"who": "Ada"})).await.0;
    assert_eq!(got.unwrap(), json!({"out": "Hello"}));
    let asked = parrot.asked.lock().unwrap();
    let said: Vec<_> = asked[0].messages.iter().map(|m| (m.role, m.content.as_str())).collect();
    assert_eq!(said, [(ChatRole::System, "Be Ada"), (ChatRole::User, "Greet Ada")]);
    assert_eq!(asked[0].parameters["temperature"], 0);
}

#[tokio::test]
async fn a_model_that_is_missing_or_breaks_off_fails_its_node() {
    let node = |id: &str| json!({"node_type": "llm", "model": {"id": id}, "prompt": "x"});
    let run = |answer, id: &'static str| async move {
        let (world, _) = with_model(answer);
        world.run(&around(node(id), &[], ("output", "string")), json!({})).await.0.unwrap_err().code
    };
    assert_eq!(run(vec![], "other").await, "model_unavailable");
    assert_eq!(run(vec![text("half")], "m").await, "model_failed");
    assert_eq!(run(vec![Err(ChatError::Timeout)], "m").await, "timeout");
    let refused = ChatError::Refused { status: 400, message: "no".into() };
    assert_eq!(run(vec![Err(refused)], "m").await, "model_refused");
}

#[tokio::test]
async fn an_intent_leads_to_its_branch_and_an_unknown_one_to_the_first() {
    let classify = json!({"node_type": "intent_classifier", "model": {"id": "m"},
        "intents": [{"name": "buy", "description": "wants to buy"}, {"name": "ask"}, {"name": "leave"}],
        "inputs": [refer("query", "string", "start", "q")]});
    let join = json!({"node_type": "variable_aggregation", "inputs": [
        refer("a", "string", "ask", "output"), refer("b", "string", "buy", "output")]});
    let graph = Draw::new(&[("q", "string")])
        .node("classify", classify)
        .node("ask", says("ask"))
        .node("buy", says("buy"))
        .node("join", join)
        .end(&[("out", "string", "join", "output"), ("intent", "string", "classify", "intent_name")])
        .path(&["start", "classify"])
        .edge("classify", "ask", Some("ask"))
        .edge("classify", "buy", Some("buy"))
        .path(&["ask", "join"])
        .path(&["buy", "join", "end"])
        .done();
    for (answer, out, intent) in [("buy", "buy", "buy"), ("leave", "ask", "leave"), ("", "ask", "")] {
        let said = json!({"intent_name": answer, "confidence": 0.5}).to_string();
        let (world, _) = with_model(vec![text(&said), Ok(ChatEvent::End { usage: None })]);
        let got = world.run(&graph, json!({"q": "hello"})).await.0.unwrap();
        assert_eq!(got, json!({"out": out, "intent": intent}), "{answer}");
    }
}

struct Shelf;

#[async_trait]
impl Retriever for Shelf {
    async fn retrieve(
        &self,
        _account: &AccountId,
        datasets: &[String],
        query: &str,
        limit: usize,
    ) -> Result<Vec<Passage>, RetrieveError> {
        if datasets != ["d"] {
            return Err(RetrieveError::NotFound(datasets[0].clone()));
        }
        let passage = |n: usize| Passage {
            text: format!("{query} {n}"),
            title: "t".into(),
            score: [1.0, 0.5, 0.3][n],
            metadata: Map::new(),
        };
        Ok((0..limit).map(passage).collect())
    }
}

#[tokio::test]
async fn datasets_are_searched_and_their_passages_joined() {
    let world = World::with(|d| EngineDeps { retriever: Some(Arc::new(Shelf)), ..d }, RunLimits::default());
    let node = |dataset: &str| {
        json!({"node_type": "dataset_retrieval", "dataset_ids": [dataset],
               "retrieval_config": {"limit": 3, "min_score": 0.5}, "inputs": [literal("query", "string", json!("cats"))]})
    };
    let graph = around(node("d"), &[], ("combine_documents", "string"));
    assert_eq!(world.run(&graph, json!({})).await.0.unwrap(), json!({"out": "cats 0\ncats 1"}));
    let graph = around(node("other"), &[], ("combine_documents", "string"));
    assert_eq!(world.run(&graph, json!({})).await.0.unwrap_err().code, "dataset_not_found");
    let error = World::new().run(&graph, json!({})).await.0.unwrap_err();
    assert_eq!(error.code, "retrieval_failed");
}
