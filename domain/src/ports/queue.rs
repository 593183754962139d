//! `Queue`: work handed over to be done at least once.

use async_trait::async_trait;
use serde_json::Value;
use std::time::Duration;

/// A message on its way to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The message's id; the same at every delivery.
    pub id: String,
    /// Stands for this delivery when it is settled.
    pub receipt: String,
    /// How often it has been delivered, this time included.
    pub attempt: u32,
    /// The message.
    pub body: Value,
}

/// Why the queue did not do it.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The message is larger than 256 KiB.
    #[error("the message has {0} bytes; a queue takes at most 262144")]
    TooLarge(usize),
    /// The delay is longer than [`MAX_DELAY`].
    #[error("a message may be delayed by 15 minutes at most, not by {0:?}: store when it is due instead")]
    TooLong(Duration),
    /// The receipt is of a delivery whose time is over.
    #[error("the delivery is no longer held by this worker")]
    Lost,
    /// The queue is gone or may not be used.
    #[error("the queue cannot be used: {0}")]
    Unusable(String),
    /// Anything else.
    #[error("the queue failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The longest delay of a message.
pub const MAX_DELAY: Duration = Duration::from_mins(15);

/// A queue with at-least-once delivery, no order, and a dead-letter place after too many attempts.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Hands over a message, to be seen after `delay`, at most [`MAX_DELAY`]. Gives its id.
    async fn send(&self, body: Value, delay: Duration) -> Result<String, QueueError>;

    /// Takes up to `max` (1 to 10) messages, waiting up to `wait` for the first. Each is hidden from other
    /// workers for the queue's visibility time.
    async fn receive(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, QueueError>;

    /// The work is done: the message goes.
    async fn done(&self, receipt: &str) -> Result<(), QueueError>;

    /// Hides the message for `visibility` from now: longer for long work, zero to give it back.
    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<(), QueueError>;

    /// The messages that failed too often, oldest first, up to `max`.
    async fn dead(&self, max: usize) -> Result<Vec<Delivery>, QueueError>;
}
