//! Throttles, lost answers, queues that are gone, and messages that are none of ours.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod support;

use domain::ports::{Queue as _, QueueError};
use infra_sqs::SqsQueue;
use moto::{Fault, FaultProxy, Moto};
use serde_json::json;
use std::time::Duration;

const VISIBILITY: Duration = Duration::from_mins(1);
const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn throttles_and_lost_answers_are_tried_again() {
    let moto = Moto::shared().unwrap();
    let proxy = FaultProxy::start(moto.url()).await.unwrap();
    let url = support::create_queue(&moto.config()).await;
    let queue = SqsQueue::new(&moto::config(proxy.url()), &url, VISIBILITY);
    for operation in ["SendMessage", "ReceiveMessage", "ChangeMessageVisibility", "DeleteMessage"] {
        proxy.fail(operation, Fault::error(400, "com.amazonaws.sqs#ThrottlingException"));
        proxy.fail(operation, Fault::ResetBefore);
    }
    queue.send(json!("work"), NOW).await.unwrap();
    let delivery = queue.receive(1, Duration::from_secs(5)).await.unwrap().remove(0);
    queue.extend(&delivery.receipt, VISIBILITY).await.unwrap();
    queue.done(&delivery.receipt).await.unwrap();
    assert_eq!(proxy.left(), 0, "every fault was met");
    // At least once: a send whose answer was lost may arrive twice, and never not at all.
    proxy.fail("SendMessage", Fault::ResetAfter);
    queue.send(json!("perhaps twice"), NOW).await.unwrap();
    assert!(!queue.receive(10, Duration::from_secs(5)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_message_that_is_no_json_stops_no_other() {
    let moto = Moto::shared().unwrap();
    let url = support::create_queue(&moto.config()).await;
    let queue = SqsQueue::new(&moto.config(), &url, VISIBILITY);
    let stranger = aws_sdk_sqs::Client::new(&moto.config());
    stranger.send_message().queue_url(&url).message_body("not JSON").send().await.unwrap();
    let id = queue.send(json!({"char": "\u{ffff}\u{fffe}\u{1f600}\u{0}"}), NOW).await.unwrap();
    let deliveries = queue.receive(10, Duration::from_secs(5)).await.unwrap();
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].id, id);
    assert_eq!(deliveries[0].body, json!({"char": "\u{ffff}\u{fffe}\u{1f600}\u{0}"}));
}

#[tokio::test]
async fn a_queue_that_is_gone_or_forbidden_is_said() {
    let moto = Moto::shared().unwrap();
    let proxy = FaultProxy::start(moto.url()).await.unwrap();
    let config = moto::config(proxy.url());
    let url = format!("{}/123456789012/no-such-queue", moto.url());
    let gone = SqsQueue::new(&config, &url, VISIBILITY);
    for error in [
        gone.send(json!(1), NOW).await.map(drop),
        gone.receive(1, NOW).await.map(drop),
        gone.dead(1).await.map(drop),
    ] {
        let error = error.unwrap_err();
        assert!(
            matches!(&error, QueueError::Unusable(m) if m.contains("no-such-queue") && m.contains("create it")),
            "{error:?}"
        );
    }
    let queue = SqsQueue::new(&config, &support::create_queue(&moto.config()).await, VISIBILITY);
    proxy.fail("SendMessage", Fault::error(403, "com.amazonaws.sqs#AccessDeniedException"));
    let error = queue.send(json!(1), NOW).await.unwrap_err();
    assert!(matches!(&error, QueueError::Unusable(m) if m.contains("may not be used")), "{error:?}");
}

#[tokio::test]
async fn a_queue_without_a_dead_letter_queue_has_no_dead_messages() {
    let moto = Moto::shared().unwrap();
    let client = aws_sdk_sqs::Client::new(&moto.config());
    let name = domain::AccountId::generate().to_string();
    let url = client.create_queue().queue_name(name).send().await.unwrap().queue_url.unwrap();
    let queue = SqsQueue::new(&moto.config(), &url, VISIBILITY);
    assert!(queue.dead(10).await.unwrap().is_empty());
}
