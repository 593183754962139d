//! The contract of [`Queue`], with the semantics of SQS.
//!
//! Time runs for real here: the subject's queue hides a message for [`VISIBILITY`] and gives up after
//! [`ATTEMPTS`] deliveries. Cases wait inside `receive`, which ends when there is something to see.

use crate::Subject;
use domain::ports::{Delivery, MAX_DELAY, Queue, QueueError};
use futures::future::join_all;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

/// How long the subject's queue hides a delivered message.
pub const VISIBILITY: Duration = Duration::from_secs(1);
/// After how many deliveries the subject's queue gives a message up.
pub const ATTEMPTS: u32 = 3;

/// Long enough for anything that is due to be seen.
const SOON: Duration = Duration::from_secs(15);
const NOW: Duration = Duration::ZERO;

/// Makes one test of each case of the queue's contract.
#[macro_export]
macro_rules! queue_contract {
    ($subject:expr) => {
        $crate::each_case!($crate::queue, $subject, [
            a_delayed_message_comes_later
            a_delivered_message_is_hidden_until_its_time
            a_message_given_back_comes_at_once
            a_message_that_fails_too_often_is_dead
            a_stale_receipt_settles_nothing
            a_waiting_worker_is_woken
            extending_keeps_a_message_hidden
            many_workers_share_the_messages
            messages_come_back_as_they_were_sent
            too_large_a_message_is_refused
            too_long_a_delay_is_refused
        ]);
    };
}

async fn send(queue: &dyn Queue, body: Value) -> String {
    queue.send(body, NOW).await.unwrap()
}

async fn one(queue: &dyn Queue) -> Delivery {
    let mut deliveries = queue.receive(1, SOON).await.unwrap();
    assert_eq!(deliveries.len(), 1);
    deliveries.remove(0)
}

async fn assert_empty(queue: &dyn Queue) {
    assert_eq!(queue.receive(10, NOW).await.unwrap(), []);
}

/// Body and id, through another instance; a message that is done is gone.
pub async fn messages_come_back_as_they_were_sent(s: Subject<dyn Queue>) {
    assert_empty(&*s.it).await;
    let bodies = [
        json!({"b": 1, "a": [1.0, null, "\u{4f60}"]}),
        json!("text"),
        json!(null),
        json!("x".repeat(200_000)),
    ];
    for body in bodies {
        let id = send(&*s.it, body.clone()).await;
        let delivery = one(&*s.other).await;
        assert_eq!((delivery.id, delivery.attempt), (id, 1));
        assert!(delivery.body == body);
        s.it.done(&delivery.receipt).await.unwrap();
    }
    assert_empty(&*s.it).await;
}

/// While one worker has it, no other sees it; when that worker dies, the next delivery takes over.
pub async fn a_delivered_message_is_hidden_until_its_time(s: Subject<dyn Queue>) {
    let id = send(&*s.it, json!("work")).await;
    let first = one(&*s.it).await;
    assert_empty(&*s.other).await;
    let second = one(&*s.other).await;
    assert_eq!((&second.id, second.attempt), (&id, 2));
    assert_ne!(second.receipt, first.receipt);
    s.other.done(&second.receipt).await.unwrap();
    assert_empty(&*s.it).await;
}

/// A worker whose time is over can no longer settle what another one holds.
pub async fn a_stale_receipt_settles_nothing(s: Subject<dyn Queue>) {
    send(&*s.it, json!("work")).await;
    let first = one(&*s.it).await;
    let second = one(&*s.other).await;
    let lost = |result: Result<(), QueueError>| matches!(result, Err(QueueError::Lost));
    assert!(lost(s.it.done(&first.receipt).await));
    assert!(lost(s.it.extend(&first.receipt, SOON).await));
    s.other.extend(&second.receipt, SOON).await.unwrap();
    s.other.done(&second.receipt).await.unwrap();
    assert!(lost(s.other.extend(&second.receipt, SOON).await));
    for strange in ["", "x", "a.b.c", "\u{e9}"] {
        assert!(lost(s.it.done(strange).await), "{strange:?}");
    }
}

/// Long work is kept by extending it.
pub async fn extending_keeps_a_message_hidden(s: Subject<dyn Queue>) {
    send(&*s.it, json!("long work")).await;
    let delivery = one(&*s.it).await;
    s.it.extend(&delivery.receipt, Duration::from_mins(1)).await.unwrap();
    let beyond = VISIBILITY + Duration::from_millis(1500);
    assert_eq!(s.other.receive(1, beyond).await.unwrap(), []);
    s.it.done(&delivery.receipt).await.unwrap();
}

/// Extending by zero hands the message to the next worker.
pub async fn a_message_given_back_comes_at_once(s: Subject<dyn Queue>) {
    send(&*s.it, json!("not mine")).await;
    let first = one(&*s.it).await;
    s.it.extend(&first.receipt, Duration::from_mins(5)).await.unwrap();
    s.it.extend(&first.receipt, NOW).await.unwrap();
    let second = one(&*s.other).await;
    assert_eq!((second.id, second.attempt), (first.id, 2));
}

/// A poisoned message ends in the dead-letter place, and stops no other.
pub async fn a_message_that_fails_too_often_is_dead(s: Subject<dyn Queue>) {
    let id = send(&*s.it, json!({"poison": true})).await;
    for attempt in 1..=ATTEMPTS {
        let delivery = one(&*s.it).await;
        assert_eq!((&delivery.id, delivery.attempt), (&id, attempt));
        assert!(s.it.dead(10).await.unwrap().is_empty());
        s.it.extend(&delivery.receipt, NOW).await.unwrap();
    }
    assert_empty(&*s.it).await;
    send(&*s.it, json!("healthy")).await;
    assert_eq!(one(&*s.it).await.body, json!("healthy"));
    let dead = s.other.dead(10).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].body, json!({"poison": true}));
    assert_eq!(s.it.dead(10).await.unwrap().len(), 1, "looking does not take it away");
}

/// Delay is kept, and does not hold up others.
pub async fn a_delayed_message_comes_later(s: Subject<dyn Queue>) {
    let late = s.it.send(json!("late"), Duration::from_secs(2)).await.unwrap();
    let early = send(&*s.it, json!("early")).await;
    let first = one(&*s.it).await;
    s.it.done(&first.receipt).await.unwrap();
    assert_eq!(first.id, early);
    assert_empty(&*s.other).await;
    assert_eq!(one(&*s.other).await.id, late);
}

/// `receive` ends when a message comes, long before its time is over.
pub async fn a_waiting_worker_is_woken(s: Subject<dyn Queue>) {
    for sender in [s.it.clone(), s.other.clone()] {
        let worker = s.it.clone();
        let waiting = tokio::spawn(async move { worker.receive(10, Duration::from_secs(20)).await });
        tokio::task::yield_now().await;
        let id = send(&*sender, json!("wake up")).await;
        let deliveries = tokio::time::timeout(SOON, waiting).await.unwrap().unwrap().unwrap();
        assert_eq!(deliveries.len(), 1);
        assert_eq!(deliveries[0].id, id);
        s.it.done(&deliveries[0].receipt).await.unwrap();
    }
    assert_eq!(s.it.receive(1, Duration::from_millis(1100)).await.unwrap(), []);
}

/// Nothing is lost among many workers, and while its holder works nothing is done twice.
pub async fn many_workers_share_the_messages(s: Subject<dyn Queue>) {
    let sends = (0..40).map(|i| {
        let queue = if i % 2 == 0 { s.it.clone() } else { s.other.clone() };
        async move { send(&*queue, json!(i)).await }
    });
    let sent: BTreeSet<String> = join_all(sends).await.into_iter().collect();
    assert_eq!(sent.len(), 40);
    let workers = (0..6).map(|i| {
        let queue = if i % 2 == 0 { s.it.clone() } else { s.other.clone() };
        tokio::spawn(async move {
            let mut done = Vec::new();
            loop {
                let deliveries = queue.receive(4, Duration::from_secs(3)).await.unwrap();
                if deliveries.is_empty() {
                    return done;
                }
                for delivery in deliveries {
                    // A slow machine may let a delivery's time run out: then it is another worker's.
                    match queue.done(&delivery.receipt).await {
                        Ok(()) => done.push(delivery.id),
                        Err(QueueError::Lost) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        })
    });
    let done = join_all(workers.collect::<Vec<_>>()).await;
    let done: Vec<String> = done.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(done.len(), 40);
    assert_eq!(done.into_iter().collect::<BTreeSet<_>>(), sent);
}

/// The limit is the same everywhere.
pub async fn too_large_a_message_is_refused(s: Subject<dyn Queue>) {
    let fits = json!("x".repeat(262_142));
    let refused = s.it.send(json!("x".repeat(262_143)), NOW).await;
    assert!(matches!(refused, Err(QueueError::TooLarge(262_145))), "{refused:?}");
    send(&*s.it, fits.clone()).await;
    assert!(one(&*s.it).await.body == fits);
}

/// So is the longest delay.
pub async fn too_long_a_delay_is_refused(s: Subject<dyn Queue>) {
    let longer = MAX_DELAY + Duration::from_secs(1);
    let refused = s.it.send(json!("much later"), longer).await;
    assert!(matches!(refused, Err(QueueError::TooLong(delay)) if delay == longer), "{refused:?}");
    s.it.send(json!("later"), MAX_DELAY).await.unwrap();
    assert_empty(&*s.it).await;
}
