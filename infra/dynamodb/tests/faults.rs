//! What a network and a busy service do to requests, and what becomes of the data.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

mod support;

use contracts::ManualClock;
use domain::{
    AccountId,
    keys::{Key, Kind, Partition},
    ports::{Condition, Query, Table as _, TableError, Write},
};
use infra_dynamodb::DynamoDbTable;
use moto::{Fault, FaultProxy, Moto};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

struct Place {
    table: DynamoDbTable,
    proxy: FaultProxy,
    clock: Arc<ManualClock>,
    partition: Partition,
    name: String,
    moto: Arc<Moto>,
}

async fn place() -> Place {
    let moto = Moto::shared().unwrap();
    let proxy = FaultProxy::start(moto.url()).await.unwrap();
    let name = support::create_table(&moto.config()).await;
    let clock = Arc::new(ManualClock::default());
    let table = DynamoDbTable::with_clock(&moto::config(proxy.url()), &name, clock.clone());
    let partition = Kind::App.of(&AccountId::generate());
    Place { table, proxy, clock, partition, name, moto }
}

impl Place {
    async fn body(&self, key: &Key) -> Option<Value> {
        self.table.get(key).await.unwrap().map(|item| item.body)
    }

    /// Every item as it lies there, parts of bodies included.
    async fn stored(&self) -> usize {
        let client = aws_sdk_dynamodb::Client::new(&self.moto.config());
        let pages = client.scan().table_name(&self.name).into_paginator().items().send();
        pages.try_collect().await.unwrap().len()
    }
}

fn throttle() -> Fault {
    Fault::error(400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException")
}

fn large(seed: u64) -> Value {
    json!({"seed": seed, "text": "x".repeat(900_000)})
}

fn unknown<T: std::fmt::Debug>(result: &Result<T, TableError>) {
    assert!(matches!(result, Err(TableError::Failed(_))), "{result:?}");
}

#[tokio::test]
async fn throttles_are_waited_out() {
    let p = place().await;
    let key = p.partition.key("it");
    for operation in [
        "UpdateItem",
        "GetItem",
        "BatchGetItem",
        "BatchWriteItem",
        "Query",
        "TransactWriteItems",
        "DeleteItem",
    ] {
        p.proxy.fail(operation, throttle());
        p.proxy.fail(operation, Fault::error(400, "ThrottlingException"));
    }
    assert_eq!(p.table.write(Write::put(key.clone(), json!({"a": 1}))).await.unwrap(), 1);
    assert_eq!(p.body(&key).await, Some(json!({"a": 1})));
    p.table.write_many(vec![Write::put(key.clone(), json!({"a": 2}))]).await.unwrap();
    p.table.transact(vec![Write::put(key.clone(), json!({"a": 3}))]).await.unwrap();
    assert_eq!(p.table.query(&Query::prefix(p.partition.clone(), "")).await.unwrap().items.len(), 1);
    p.table.write(Write::delete(key.clone())).await.unwrap();
    assert_eq!(p.table.get_many(&[key]).await.unwrap(), [None]);
    assert_eq!(p.proxy.left(), 0, "every fault was met");
}

#[tokio::test]
async fn throttles_without_end_are_told_as_such() {
    let p = place().await;
    let key = p.partition.key("it");
    for _ in 0..20 {
        p.proxy.fail("UpdateItem", throttle());
        p.proxy.fail("GetItem", throttle());
    }
    let written = p.table.write(Write::put(key.clone(), json!({}))).await;
    assert!(matches!(&written, Err(TableError::Throttled(m)) if m.contains(&p.name)), "{written:?}");
    let read = p.table.get(&key).await;
    assert!(matches!(&read, Err(TableError::Throttled(_))), "{read:?}");
    assert!((5..15).contains(&p.proxy.count("UpdateItem")), "{}", p.proxy.count("UpdateItem"));
}

#[tokio::test]
async fn what_a_batch_leaves_unprocessed_is_sent_again() {
    let p = place().await;
    let key = |i: u64| p.partition.key(format!("{i:03}"));
    for done in [0, 3, 7, 1] {
        p.proxy.fail("BatchWriteItem", Fault::Unprocessed(done));
        p.proxy.fail("BatchGetItem", Fault::Unprocessed(done));
    }
    p.table.write_many((0..60).map(|i| Write::put(key(i), json!({"i": i}))).collect()).await.unwrap();
    for done in [0, 3, 7, 1] {
        p.proxy.fail("BatchGetItem", Fault::Unprocessed(done));
    }
    let keys: Vec<Key> = (0..60).map(key).collect();
    let items = p.table.get_many(&keys).await.unwrap();
    for (i, item) in items.into_iter().enumerate() {
        assert_eq!(item.unwrap().body, json!({"i": i}));
    }
    assert_eq!(p.proxy.left(), 0, "every fault was met");
    for _ in 0..20 {
        p.proxy.fail("BatchGetItem", Fault::Unprocessed(0));
    }
    let read = p.table.get_many(&keys).await;
    assert!(matches!(read, Err(TableError::Throttled(_))), "{read:?}");
}

#[tokio::test]
async fn a_lost_answer_to_a_conditional_write_is_recognised() {
    let p = place().await;
    let key = p.partition.key("it");
    for fault in [Fault::ResetBefore, Fault::ResetAfter] {
        let key = p.partition.key(format!("{fault:?}"));
        p.proxy.fail("UpdateItem", fault.clone());
        let create = Write::put_if(key.clone(), json!({"by": "me"}), Condition::Absent);
        assert_eq!(p.table.write(create).await.unwrap(), 1, "{fault:?}");
        p.proxy.fail("UpdateItem", fault.clone());
        let change = Write::put_if(key.clone(), json!({"by": "me again"}), Condition::Version(1));
        assert_eq!(p.table.write(change).await.unwrap(), 2, "{fault:?}");
        assert_eq!(p.body(&key).await, Some(json!({"by": "me again"})));

        p.proxy.fail("TransactWriteItems", fault.clone());
        let other = p.partition.key(format!("{fault:?} other"));
        let both = vec![
            Write::put_if(key.clone(), json!({"by": "both"}), Condition::Version(2)),
            Write::put_if(other.clone(), json!({"by": "both"}), Condition::Absent),
        ];
        p.table.transact(both).await.unwrap();
        let items = p.table.get_many(&[key, other]).await.unwrap();
        let versions: Vec<u64> = items.into_iter().map(|i| i.unwrap().version).collect();
        assert_eq!(versions, [3, 1], "{fault:?}: done once");
    }
    p.proxy.fail("UpdateItem", Fault::error(500, "InternalServerError"));
    assert_eq!(p.table.write(Write::put_if(key, json!({}), Condition::Absent)).await.unwrap(), 1);
    assert_eq!(p.proxy.left(), 0, "every fault was met");
}

#[tokio::test]
async fn a_condition_that_failed_before_is_a_failed_condition() {
    let p = place().await;
    let key = p.partition.key("it");
    p.table.write(Write::put(key.clone(), json!({"by": "another"}))).await.unwrap();
    let create = Write::put_if(key.clone(), json!({"by": "me"}), Condition::Absent);
    let failed = p.table.write(create.clone()).await;
    assert!(failed.unwrap_err().is_conflict());
    // After a lost answer nobody knows: the item is another's, but perhaps it replaced ours.
    p.proxy.fail("UpdateItem", Fault::ResetBefore);
    unknown(&p.table.write(create.clone()).await);
    p.proxy.fail("TransactWriteItems", Fault::ResetBefore);
    unknown(&p.table.transact(vec![create]).await);
    p.proxy.fail("DeleteItem", Fault::ResetAfter);
    let delete = Write::Delete { key: key.clone(), condition: Condition::Exists };
    unknown(&p.table.write(delete).await);
    assert_eq!(p.body(&key).await, None);
}

#[tokio::test]
async fn a_lost_answer_to_an_addition_does_not_count_twice() {
    let p = place().await;
    let key = p.partition.key("counter");
    for (n, fault) in (1..).zip([Fault::ResetAfter, Fault::ResetBefore, Fault::ResetAfter, Fault::ResetAfter])
    {
        p.proxy.fail("UpdateItem", fault);
        assert_eq!(p.table.add(&key, 1, None).await.unwrap(), n);
    }
    assert_eq!(p.body(&key).await, Some(json!({"n": 4})));
    p.table.add(&key, i64::MAX - 4, None).await.unwrap();
    let over = p.table.add(&key, 1, None).await;
    assert!(matches!(over, Err(TableError::Invalid(_))), "{over:?}");
    assert_eq!(p.body(&key).await, Some(json!({"n": i64::MAX})));
}

#[tokio::test]
async fn transaction_conflicts_are_tried_again() {
    let p = place().await;
    let reasons = json!([{"Code": "None"}, {"Code": "TransactionConflict", "Message": "ongoing"}]);
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled", "CancellationReasons": reasons,
    });
    p.proxy.fail("TransactWriteItems", Fault::Answer { status: 400, body });
    let writes = ["a", "b"].map(|sk| Write::put_if(p.partition.key(sk), json!({}), Condition::Absent));
    p.table.transact(writes.to_vec()).await.unwrap();
    assert_eq!(p.proxy.count("TransactWriteItems"), 2);
}

#[tokio::test]
async fn a_replaced_large_body_leaves_no_parts() {
    let p = place().await;
    let key = |i: u64| p.partition.key(format!("{i}"));
    p.table.write(Write::put(key(0), large(0))).await.unwrap();
    assert_eq!(p.stored().await, 4, "a record and three parts");
    p.table.write(Write::put(key(0), large(1))).await.unwrap();
    assert_eq!(p.stored().await, 4);
    p.table.transact(vec![Write::put(key(0), large(2)), Write::put(key(1), large(3))]).await.unwrap();
    assert_eq!(p.stored().await, 8);
    p.table.write_many(vec![Write::put(key(0), large(4)), Write::delete(key(1))]).await.unwrap();
    assert_eq!(p.stored().await, 4);
    let refused = p.table.write(Write::put_if(key(0), large(5), Condition::Absent)).await;
    assert!(refused.unwrap_err().is_conflict());
    let refused = p.table.transact(vec![Write::put_if(key(0), large(5), Condition::Absent)]).await;
    assert!(refused.unwrap_err().is_conflict());
    assert_eq!(p.stored().await, 4, "what was written for nothing is removed");
    assert!(p.body(&key(0)).await == Some(large(4)));
    p.table.write(Write::put(key(0), json!({"small": true}))).await.unwrap();
    assert_eq!(p.stored().await, 1);
    p.table.write(Write::put(key(0), large(6))).await.unwrap();
    p.table.write(Write::delete(key(0))).await.unwrap();
    assert_eq!(p.stored().await, 0);
}

#[tokio::test]
async fn a_large_body_is_old_or_new_when_a_write_breaks_off() {
    let p = place().await;
    let key = p.partition.key("it");
    p.table.write(Write::put(key.clone(), large(1))).await.unwrap();
    // While parts are written: nothing is changed.
    p.proxy.fail("BatchWriteItem", Fault::error(400, "AccessDeniedException"));
    let refused = p.table.write(Write::put(key.clone(), large(2))).await;
    assert!(matches!(refused, Err(TableError::Unusable(_))), "{refused:?}");
    assert!(p.body(&key).await == Some(large(1)));
    // While nobody knows whether the record was swapped: its parts must stay.
    for _ in 0..8 {
        p.proxy.fail("UpdateItem", Fault::ResetAfter);
    }
    unknown(&p.table.write(Write::put(key.clone(), large(3))).await);
    assert!(p.body(&key).await == Some(large(3)));
}

#[tokio::test]
async fn a_transaction_carries_more_than_one_request_may() {
    let p = place().await;
    let body = |i: u64| json!({"i": i, "text": "y".repeat(60_000)});
    let writes = (0..100).map(|i| Write::put(p.partition.key(format!("{i:03}")), body(i)));
    p.table.transact(writes.collect()).await.unwrap();
    let page = p.table.query(&Query::prefix(p.partition.clone(), "").limit(1000)).await.unwrap();
    assert_eq!(page.items.len(), 100);
    assert!((0..).zip(&page.items).all(|(i, item)| item.body == body(i)));
}

#[tokio::test]
async fn pages_of_expired_items_come_to_an_end() {
    let p = place().await;
    let expires_at = Some(p.clock.after(Duration::from_secs(1)));
    let put = |i: u64, expires_at| Write::Put {
        key: p.partition.key(format!("{i:04}")),
        body: json!({}),
        expires_at,
        condition: Condition::Always,
    };
    p.table.write_many((0..300).map(|i| put(i, expires_at)).collect()).await.unwrap();
    p.table.write(put(300, None)).await.unwrap();
    p.clock.advance(Duration::from_secs(2));
    let mut query = Query::prefix(p.partition.clone(), "").limit(10);
    let mut items = Vec::new();
    for _ in 0..50 {
        let page = p.table.query(&query).await.unwrap();
        items.extend(page.items);
        let Some(cursor) = page.next_cursor else { break };
        query.cursor = Some(cursor);
    }
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].key.sk(), "0300");
}

#[tokio::test]
async fn a_missing_or_forbidden_table_is_said() {
    let p = place().await;
    let key = p.partition.key("it");
    let missing = DynamoDbTable::new(&p.moto.config(), "no-such-table");
    for result in [
        missing.get(&key).await.map(drop),
        missing.get_many(std::slice::from_ref(&key)).await.map(drop),
        missing.write(Write::put(key.clone(), json!({}))).await.map(drop),
        missing.transact(vec![Write::put(key.clone(), json!({}))]).await,
        missing.write_many(vec![Write::put(key.clone(), json!({}))]).await,
    ] {
        let error = result.unwrap_err();
        assert!(matches!(&error, TableError::Unusable(_)), "{error:?}");
        assert!(
            error.to_string().contains("no-such-table") && error.to_string().contains("create it"),
            "{error}"
        );
    }
    p.proxy.fail("GetItem", Fault::error(400, "com.amazon.coral.service#AccessDeniedException"));
    let error = p.table.get(&key).await.unwrap_err().to_string();
    assert!(error.contains("may not be used") && error.contains(&p.name), "{error}");
    p.proxy.fail("GetItem", Fault::error(400, "com.amazon.coral.service#UnrecognizedClientException"));
    let error = p.table.get(&key).await.unwrap_err().to_string();
    assert!(error.contains("credentials"), "{error}");
}

#[tokio::test]
async fn a_table_of_another_shape_is_said() {
    let p = place().await;
    let client = aws_sdk_dynamodb::Client::new(&p.moto.config());
    let name = support::create_table_keyed(&client, "id", "range").await;
    let table = DynamoDbTable::new(&p.moto.config(), &name);
    let key = p.partition.key("it");
    for result in
        [table.get(&key).await.map(drop), table.write(Write::put(key.clone(), json!({}))).await.map(drop)]
    {
        let error = result.unwrap_err();
        assert!(matches!(&error, TableError::Unusable(m) if m.contains("another shape")), "{error:?}");
    }
}
