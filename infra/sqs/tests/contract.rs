//! The queue's contract over moto's SQS.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

mod support;

use contracts::{ManualClock, Subject, queue};
use domain::ports::Queue;
use infra_sqs::SqsQueue;
use moto::Moto;
use std::sync::Arc;

async fn subject() -> Subject<dyn Queue> {
    let moto = Moto::shared().unwrap();
    let config = moto.config();
    let url = support::create_queue(&config).await;
    let queue = || Arc::new(SqsQueue::new(&config, &url, queue::VISIBILITY));
    Subject::new(queue(), queue(), Arc::new(ManualClock::default()), moto)
}

contracts::queue_contract!(subject());
