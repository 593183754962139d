//! What lies in the table: messages from elsewhere, and what is left when all is done.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use domain::{
    keys::Lookup,
    ports::{Query, Queue as _, Table, Write},
};
use infra_local_queue::{Settings, TableQueue};
use infra_sqlite::SqliteTable;
use serde_json::json;
use std::{sync::Arc, time::Duration};

fn queue(directory: &tempfile::TempDir) -> (TableQueue, Arc<dyn Table>) {
    let table: Arc<dyn Table> = Arc::new(SqliteTable::new(directory.path().join("haft.db")));
    (TableQueue::new(table.clone(), "work", Settings::default()), table)
}

async fn items(table: &dyn Table) -> Vec<String> {
    let query = Query::prefix(Lookup::Job("work").partition(), "");
    let page = table.query(&query).await.unwrap();
    page.items.iter().map(|item| item.key.sk().to_owned()).collect()
}

#[tokio::test]
async fn what_is_done_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (queue, table) = queue(&directory);
    queue.send(json!(1), Duration::ZERO).await.unwrap();
    let delivery = queue.receive(1, Duration::ZERO).await.unwrap().remove(0);
    queue.extend(&delivery.receipt, Duration::from_mins(1)).await.unwrap();
    assert_eq!(items(&*table).await.len(), 2);
    queue.done(&delivery.receipt).await.unwrap();
    assert!(items(&*table).await.is_empty());
}

#[tokio::test]
async fn a_message_that_cannot_be_read_stops_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let (queue, table) = queue(&directory);
    let partition = Lookup::Job("work").partition();
    let strange = [
        ("msg#00000000000000000000000000000001", json!({"form": "of a version to come"})),
        ("due#0000000000001#00000000000000000000000000000001", json!({})),
        ("due#0000000000002#00000000000000000000000000000002", json!({})),
        ("due#nonsense", json!({})),
    ];
    for (sk, body) in strange {
        table.write(Write::put(partition.key(sk), body)).await.unwrap();
    }
    let id = queue.send(json!("healthy"), Duration::ZERO).await.unwrap();
    let deliveries = queue.receive(10, Duration::from_secs(5)).await.unwrap();
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].id, id);
    let left = items(&*table).await;
    assert!(left.iter().any(|sk| sk.starts_with("msg#0000")), "the message itself is kept: {left:?}");
    assert!(!left.iter().any(|sk| sk.starts_with("due#0000")), "{left:?}");
}
