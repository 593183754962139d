//! Datasets: kept here over a real store, or asked for elsewhere.

use crate::support::{account, http};
use agent::{
    Knowledge,
    knowledge::{KnowledgeError, record::NewDataset},
};
use axum::{Json, Router, http::HeaderMap, routing::post};
use domain::{
    AccountId,
    ports::{RetrieveError, Retriever as _, SystemClock},
};
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

async fn knowledge() -> (Knowledge, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let table = Arc::new(SqliteTable::open(dir.path().join("t.db")).await.unwrap());
    let cipher = Arc::new(LocalKeyCipher::open_or_create(&dir.path().join("key")).unwrap());
    (Knowledge::new(table, cipher, Arc::new(SystemClock), http()), dir)
}

fn dataset(value: Value) -> NewDataset {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn documents_are_found_changed_and_forgotten() {
    let (knowledge, _dir) = knowledge().await;
    let account = account();
    let made =
        knowledge.create(&account, dataset(json!({"name": "Shop", "description": "Rules"}))).await.unwrap();
    let text = "Refunds are paid within seven days.\n\n退款将在七天内到账。";
    let document = knowledge.add(&account, &made.id, "Refunds", text).await.unwrap();
    knowledge.add(&account, &made.id, "Hours", "The shop opens at nine.").await.unwrap();
    for query in ["when are refunds paid", "退款多久到账"] {
        let found = knowledge.retrieve(&account, std::slice::from_ref(&made.id), query, 3).await.unwrap();
        assert_eq!(found[0].title, "Refunds", "{query}");
        assert_eq!(found[0].metadata["document_id"], document.id);
    }
    assert_eq!(knowledge.get(&account, &made.id).await.unwrap().documents, 2);
    knowledge.remove(&account, &made.id, &document.id).await.unwrap();
    let found = knowledge.search(&account, &made.id, "refunds", 3).await.unwrap();
    assert!(found.is_empty(), "what was removed is no longer found: {found:?}");
    knowledge.delete(&account, &made.id).await.unwrap();
    let gone = knowledge.retrieve(&account, &[made.id], "refunds", 3).await.unwrap_err();
    assert!(matches!(gone, RetrieveError::NotFound(_)), "{gone}");
}

#[tokio::test]
async fn datasets_belong_to_their_account() {
    let (knowledge, _dir) = knowledge().await;
    let made = knowledge.create(&account(), dataset(json!({"name": "Mine"}))).await.unwrap();
    let other = AccountId::try_from("bob".to_owned()).unwrap();
    assert!(matches!(knowledge.get(&other, &made.id).await, Err(KnowledgeError::NotFound(_))));
    let described = knowledge.describe(&other, &[made.id]).await.unwrap();
    assert_eq!(described, [None]);
}

#[tokio::test]
async fn changes_side_by_side_are_all_counted() {
    let (knowledge, _dir) = knowledge().await;
    let made = knowledge.create(&account(), dataset(json!({"name": "Many"}))).await.unwrap();
    let account = account();
    let adds = (0..4).map(|n| {
        let (knowledge, account, id) = (&knowledge, &account, &made.id);
        async move { knowledge.add(account, id, &format!("d{n}"), "some text").await }
    });
    let added = futures::future::join_all(adds).await.into_iter().flatten().count() as u64;
    let stored = knowledge.get(&account, &made.id).await.unwrap();
    let (listed, _) = knowledge.documents(&account, &made.id, 100, None).await.unwrap();
    assert_eq!((stored.documents, listed.len() as u64), (added, added));
}

#[tokio::test]
async fn what_cannot_be_a_document_is_refused() {
    let (knowledge, _dir) = knowledge().await;
    let made = knowledge.create(&account(), dataset(json!({"name": "x"}))).await.unwrap();
    let large = "a ".repeat(3 * 1024 * 1024);
    for (title, text) in [("", "x"), ("t", ""), ("t", "--- \n"), ("t", large.as_str())] {
        let refused = knowledge.add(&account(), &made.id, title, text).await.unwrap_err();
        assert!(matches!(refused, KnowledgeError::Invalid { .. }), "{refused}");
    }
}

async fn service() -> String {
    async fn answer(headers: HeaderMap, Json(body): Json<Value>) -> (axum::http::StatusCode, Json<Value>) {
        if headers.get("authorization").is_none_or(|value| value != "Bearer k-canary") {
            let told = json!({"error_code": 1002, "error_msg": "bad key k-canary"});
            return (axum::http::StatusCode::FORBIDDEN, Json(told));
        }
        let records = json!([
            {"content": format!("about {}", body["query"].as_str().unwrap()), "score": 0.98, "title": "T", "metadata": {"path": "a.txt"}},
            {"content": "", "score": 0.1, "title": "empty"},
            {"content": "no more than this", "score": 0.5, "title": "U", "metadata": null}
        ]);
        assert_eq!(body["knowledge_id"], "kb");
        assert_eq!(body["retrieval_setting"]["top_k"], 5);
        (axum::http::StatusCode::OK, Json(json!({"records": records})))
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(
        async move { axum::serve(listener, Router::new().route("/dify/retrieval", post(answer))).await },
    );
    format!("http://{address}/dify")
}

#[tokio::test]
async fn a_service_elsewhere_is_asked_by_its_protocol() {
    let (knowledge, _dir) = knowledge().await;
    let url = service().await;
    let external = |key: &str| json!({"name": "Far", "external": {"endpoint": url, "knowledge_id": "kb", "api_key": key}});
    let made = knowledge.create(&account(), dataset(external("k-canary"))).await.unwrap();
    assert!(!serde_json::to_string(&made).unwrap().contains("k-canary"));
    let found = knowledge.retrieve(&account(), std::slice::from_ref(&made.id), "cats", 5).await.unwrap();
    assert_eq!(
        (found.len(), found[0].text.as_str(), found[0].metadata["path"].as_str()),
        (2, "about cats", Some("a.txt"))
    );
    // A masked key keeps what is stored.
    knowledge.update(&account(), &made.id, dataset(external("********"))).await.unwrap();
    assert!(knowledge.search(&account(), &made.id, "cats", 5).await.is_ok());
    let refused = knowledge.add(&account(), &made.id, "t", "text").await.unwrap_err();
    assert!(matches!(refused, KnowledgeError::Elsewhere(_)), "{refused}");
    // A wrong key is told without the key.
    knowledge.update(&account(), &made.id, dataset(external("k-wrong"))).await.unwrap();
    let failed = knowledge.search(&account(), &made.id, "cats", 5).await.unwrap_err().to_string();
    assert!(failed.contains("403") && !failed.contains("k-wrong"), "{failed}");
}

#[tokio::test]
async fn a_masked_key_is_not_sent_to_another_address() {
    let (knowledge, _dir) = knowledge().await;
    let external = |url: &str, key: &str| json!({"name": "Far", "external": {"endpoint": url, "knowledge_id": "kb", "api_key": key}});
    let made = knowledge.create(&account(), dataset(external("http://127.0.0.1:1/a", "k"))).await.unwrap();
    let refused =
        knowledge.update(&account(), &made.id, dataset(external("http://127.0.0.1:2/a", "********"))).await;
    assert!(matches!(refused, Err(KnowledgeError::Invalid { field: "external/api_key", .. })), "{refused:?}");
}
