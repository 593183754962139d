//! The [`Queue`] port over an SQS standard queue with a dead-letter queue.
//!
//! SQS takes a stale receipt without a word, so each instance remembers until when its deliveries are its own:
//! after that a delivery is [`QueueError::Lost`], whether or not another worker has it by now. On Lambda the
//! service itself receives and deletes; there this adapter only sends.

mod fault;
mod leases;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_sqs::{
    Client,
    config::{retry::RetryConfig, timeout::TimeoutConfig},
    types::{Message, MessageSystemAttributeName, QueueAttributeName},
};
use domain::ports::{Delivery, MAX_DELAY, Queue, QueueError};
use fault::Faults;
use leases::Leases;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::OnceCell;

/// The largest message, in bytes of JSON.
const MAX_MESSAGE_BYTES: usize = 256 << 10;
/// The longest time that SQS waits for a message.
const LONGEST_POLL: Duration = Duration::from_secs(20);
/// The longest time that SQS hides a message.
const LONGEST_VISIBILITY: Duration = Duration::from_hours(12);
/// How often the dead-letter queue is looked into for more.
const LOOKS: usize = 8;

/// A queue in SQS.
#[derive(Clone)]
pub struct SqsQueue {
    client: Client,
    url: Arc<str>,
    visibility: Duration,
    leases: Arc<Leases>,
    dead: Arc<OnceCell<Option<String>>>,
}

impl SqsQueue {
    /// The queue at this address. A delivered message is hidden for `visibility`, in whole seconds. Nothing is
    /// sent before the first use.
    pub fn new(config: &SdkConfig, url: &str, visibility: Duration) -> Self {
        // A poll takes up to 20 seconds by itself.
        let timeouts =
            TimeoutConfig::builder().operation_attempt_timeout(LONGEST_POLL + Duration::from_secs(10));
        let config = aws_sdk_sqs::config::Builder::from(config)
            .retry_config(RetryConfig::standard().with_max_attempts(4))
            .timeout_config(timeouts.build());
        Self {
            client: Client::from_conf(config.build()),
            url: url.into(),
            visibility,
            leases: Arc::default(),
            dead: Arc::default(),
        }
    }

    fn faults(&self) -> Faults<'_> {
        Faults(&self.url)
    }

    async fn poll(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, QueueError> {
        let request = self
            .client
            .receive_message()
            .queue_url(&*self.url)
            .max_number_of_messages(i32::try_from(max).unwrap_or(10))
            .wait_time_seconds(seconds(wait))
            .visibility_timeout(seconds(self.visibility))
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount);
        let answer = request.send().await.map_err(|e| self.faults().of(e))?;
        let until = Instant::now() + self.visibility;
        let mut deliveries = Vec::new();
        for message in answer.messages.unwrap_or_default() {
            match delivery(message) {
                Ok(delivery) => {
                    self.leases.hold(&delivery.receipt, until);
                    deliveries.push(delivery);
                }
                // Left to come again and again until it is dead: then somebody looks into it.
                Err(id) => {
                    tracing::error!(message.id = id, queue = %self.url, "a message is not JSON and is not delivered");
                }
            }
        }
        Ok(deliveries)
    }

    /// The address of the dead-letter queue, if there is one.
    async fn dead_url(&self) -> Result<Option<&str>, QueueError> {
        let find = || async {
            let request = self
                .client
                .get_queue_attributes()
                .queue_url(&*self.url)
                .attribute_names(QueueAttributeName::RedrivePolicy);
            let answer = request.send().await.map_err(|e| self.faults().of(e))?;
            let policy = answer.attributes.unwrap_or_default().remove(&QueueAttributeName::RedrivePolicy);
            let policy: Option<Value> = policy.and_then(|text| serde_json::from_str(&text).ok());
            let Some(name) = policy.as_ref().and_then(dead_letter_queue) else {
                return Ok(None);
            };
            let request = self.client.get_queue_url().queue_name(name);
            let answer = request.send().await.map_err(|e| self.faults().of(e))?;
            Ok(answer.queue_url)
        };
        Ok(self.dead.get_or_try_init(find).await?.as_deref())
    }
}

#[async_trait]
impl Queue for SqsQueue {
    async fn send(&self, body: Value, delay: Duration) -> Result<String, QueueError> {
        if delay > MAX_DELAY {
            return Err(QueueError::TooLong(delay));
        }
        let text = body.to_string();
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(QueueError::TooLarge(text.len()));
        }
        // SQS takes what XML takes. JSON escapes the rest of what it does not take by itself.
        let text = text.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff");
        let request =
            self.client.send_message().queue_url(&*self.url).message_body(text).delay_seconds(seconds(delay));
        let sent = request.send().await.map_err(|e| self.faults().of(e))?;
        Ok(sent.message_id.unwrap_or_default())
    }

    async fn receive(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, QueueError> {
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // SQS waits for whole seconds; less than one is not waited for.
            let deliveries = self.poll(max.clamp(1, 10), left.min(LONGEST_POLL)).await?;
            if !deliveries.is_empty() || left < Duration::from_secs(1) {
                return Ok(deliveries);
            }
        }
    }

    async fn done(&self, receipt: &str) -> Result<(), QueueError> {
        self.leases.check(receipt)?;
        let request = self.client.delete_message().queue_url(&*self.url).receipt_handle(receipt);
        request.send().await.map_err(|e| self.faults().of(e))?;
        self.leases.end(receipt);
        Ok(())
    }

    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<(), QueueError> {
        self.leases.check(receipt)?;
        let visibility = visibility.min(LONGEST_VISIBILITY);
        let request = self
            .client
            .change_message_visibility()
            .queue_url(&*self.url)
            .receipt_handle(receipt)
            .visibility_timeout(seconds(visibility));
        request.send().await.map_err(|e| self.faults().of(e))?;
        self.leases.hold(receipt, Instant::now() + visibility);
        Ok(())
    }

    async fn dead(&self, max: usize) -> Result<Vec<Delivery>, QueueError> {
        let Some(url) = self.dead_url().await? else {
            return Ok(Vec::new());
        };
        // By time and id: SQS gives them in any order, and the same one more than once.
        let mut found = BTreeMap::new();
        for _ in 0..LOOKS {
            let request = self
                .client
                .receive_message()
                .queue_url(url)
                .max_number_of_messages(10)
                .visibility_timeout(0)
                .message_system_attribute_names(MessageSystemAttributeName::All);
            let answer = request.send().await.map_err(|e| self.faults().of(e))?;
            let before = found.len();
            for message in answer.messages.unwrap_or_default() {
                let sent = attribute(&message, &MessageSystemAttributeName::SentTimestamp);
                if let Ok(delivery) = delivery(message) {
                    found.insert((sent, delivery.id.clone()), delivery);
                }
            }
            if found.len() == before || found.len() >= max {
                break;
            }
        }
        Ok(found.into_values().take(max).collect())
    }
}

/// A message as the port gives it; its id when it is no JSON.
fn delivery(message: Message) -> Result<Delivery, String> {
    let attempt = attribute(&message, &MessageSystemAttributeName::ApproximateReceiveCount);
    let id = message.message_id.unwrap_or_default();
    let body = message.body.and_then(|text| serde_json::from_str(&text).ok());
    match (body, message.receipt_handle) {
        (Some(body), Some(receipt)) => {
            Ok(Delivery { attempt: u32::try_from(attempt).unwrap_or(u32::MAX).max(1), id, receipt, body })
        }
        _ => Err(id),
    }
}

fn attribute(message: &Message, name: &MessageSystemAttributeName) -> u64 {
    let value = message.attributes.as_ref().and_then(|all| all.get(name));
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The name in `{"deadLetterTargetArn": "arn:aws:sqs:region:account:name"}`.
fn dead_letter_queue(policy: &Value) -> Option<String> {
    let arn = policy.get("deadLetterTargetArn")?.as_str()?;
    arn.rsplit(':').next().map(str::to_owned)
}

fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs()).unwrap_or(i32::MAX)
}
