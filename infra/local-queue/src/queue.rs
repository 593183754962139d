//! The queue: at-least-once delivery with the semantics of SQS.

use crate::records::{Held, Records, of_table, time_and_id};
use async_trait::async_trait;
use domain::ports::{
    Clock, Delivery, MAX_DELAY, Order, Query, Queue, QueueError, Range, SystemClock, Table, TableError, Write,
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::{sync::Notify, time::Instant};
use uuid::Uuid;

/// The largest message, in bytes of JSON.
const MAX_MESSAGE_BYTES: usize = 256 << 10;
/// How long a waiting worker trusts that nobody in another process has sent something.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// How often a worker looks for more at once when others were faster each time.
const ROUNDS: usize = 8;

/// How a queue treats its messages.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long a delivered message is hidden from others.
    pub visibility: Duration,
    /// After how many deliveries a message is given up.
    pub attempts: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { visibility: Duration::from_mins(5), attempts: 5 }
    }
}

/// A queue in a table.
#[derive(Clone)]
pub struct TableQueue {
    table: Arc<dyn Table>,
    records: Records,
    settings: Settings,
    clock: Arc<dyn Clock>,
    sent: Arc<Notify>,
}

impl TableQueue {
    /// The queue of this name, made by its first message.
    pub fn new(table: Arc<dyn Table>, name: &str, settings: Settings) -> Self {
        Self {
            sent: Arc::new(Notify::new()),
            records: Records::of(name),
            clock: Arc::new(SystemClock),
            settings,
            table,
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    /// The ids that are due, or else the time at which the next one will be.
    async fn due(&self, max: usize, now: i64) -> Result<(Vec<(i64, String)>, Option<i64>), QueueError> {
        let query = Query::prefix(self.records.partition(), "due#").limit(max);
        let page = self.table.query(&query).await.map_err(of_table)?;
        let all = page.items.iter().filter_map(|item| time_and_id(item.key.sk()));
        let (due, later): (Vec<_>, Vec<_>) = all.partition(|(time, _)| *time <= now);
        let due = due.into_iter().map(|(time, id)| (time, id.to_owned())).collect();
        Ok((due, later.first().map(|(time, _)| *time)))
    }

    /// Takes what is due, up to `max`. Other workers may be faster; what they took is left to them.
    async fn take(&self, max: usize) -> Result<(Vec<Delivery>, Option<i64>), QueueError> {
        let mut deliveries = Vec::new();
        for _ in 0..ROUNDS {
            let now = self.now();
            let (due, next) = self.due(max.max(16), now).await?;
            if due.is_empty() {
                return Ok((deliveries, next));
            }
            for (time, id) in due {
                if let Some(delivery) = self.claim(&id, time, now).await? {
                    deliveries.push(delivery);
                    if deliveries.len() == max {
                        return Ok((deliveries, None));
                    }
                }
            }
            if !deliveries.is_empty() {
                break;
            }
        }
        Ok((deliveries, None))
    }

    async fn claim(&self, id: &str, due: i64, now: i64) -> Result<Option<Delivery>, QueueError> {
        let held = match self.held(id).await {
            Ok(Some(held)) => held,
            Ok(None) => return self.forget(id, due).await,
            // One message that cannot be read must not stop the others. It stays for whoever looks into it.
            Err(error @ QueueError::Unusable(_)) if self.is_stored(id).await? => {
                tracing::error!(message.id = id, %error, "a message is not readable and is not delivered");
                return self.forget(id, due).await;
            }
            Err(error) => return Err(error),
        };
        if held.message.due != due {
            // Another worker has just taken it.
            return Ok(None);
        }
        if held.message.attempt >= self.settings.attempts {
            let writes = self.records.bury(&held, now)?;
            if self.transact(writes).await? {
                tracing::warn!(
                    message.id = id,
                    attempts = held.message.attempt,
                    "a message failed too often and is dead"
                );
            }
            return Ok(None);
        }
        let mut message = held.message.clone();
        message.attempt += 1;
        message.due = now.saturating_add(millis(self.settings.visibility));
        let claimed = self.transact(self.records.replace(&held, &message)?).await?;
        Ok(claimed.then(|| Delivery {
            receipt: format!("{id}.{}", message.attempt),
            id: held.id,
            attempt: message.attempt,
            body: message.body,
        }))
    }

    async fn forget(&self, id: &str, due: i64) -> Result<Option<Delivery>, QueueError> {
        let forgotten = self.table.write(self.records.forget_due(id, due)).await;
        forgotten.map(|_| None).map_err(of_table)
    }

    async fn is_stored(&self, id: &str) -> Result<bool, QueueError> {
        let item = self.table.get(&self.records.message_key(id)).await;
        item.map(|item| item.is_some()).map_err(of_table)
    }

    async fn held(&self, id: &str) -> Result<Option<Held>, QueueError> {
        let item = self.table.get(&self.records.message_key(id)).await;
        let item = item.map_err(of_table)?;
        item.map(|item| Records::read(id, &item)).transpose()
    }

    /// The message of a receipt, if the delivery is still the latest.
    async fn of_receipt(&self, receipt: &str) -> Result<Held, QueueError> {
        let (id, attempt) = receipt.split_once('.').ok_or(QueueError::Lost)?;
        let id = Uuid::parse_str(id).map_err(|_| QueueError::Lost)?.simple();
        let held = self.held(&id.to_string()).await?.ok_or(QueueError::Lost)?;
        if attempt != held.message.attempt.to_string() {
            return Err(QueueError::Lost);
        }
        Ok(held)
    }

    /// Whether the transaction was done; false when somebody else was faster.
    async fn transact(&self, writes: Vec<Write>) -> Result<bool, QueueError> {
        match self.table.transact(writes).await {
            Ok(()) => Ok(true),
            Err(TableError::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(of_table(error)),
        }
    }
}

#[async_trait]
impl Queue for TableQueue {
    async fn send(&self, body: Value, delay: Duration) -> Result<String, QueueError> {
        if delay > MAX_DELAY {
            return Err(QueueError::TooLong(delay));
        }
        let bytes = body.to_string().len();
        if bytes > MAX_MESSAGE_BYTES {
            return Err(QueueError::TooLarge(bytes));
        }
        let (id, now) = (Uuid::now_v7().simple().to_string(), self.now());
        let message = Records::new_message(body, now.saturating_add(millis(delay)), now);
        let writes = self.records.insert(&id, &message)?;
        self.table.transact(writes).await.map_err(of_table)?;
        self.sent.notify_waiters();
        Ok(id)
    }

    async fn receive(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, QueueError> {
        let deadline = Instant::now() + wait;
        let max = max.clamp(1, 10);
        loop {
            // Listens before it looks, so that nothing sent in between is missed.
            let sent = self.sent.notified();
            tokio::pin!(sent);
            sent.as_mut().enable();
            let (deliveries, next) = self.take(max).await?;
            let left = deadline.saturating_duration_since(Instant::now());
            if !deliveries.is_empty() || left.is_zero() {
                return Ok(deliveries);
            }
            let until_next = next.map_or(LOOK_AGAIN, |at| from_millis(at - self.now()));
            let pause = until_next.min(LOOK_AGAIN).min(left);
            tokio::select! {
                () = sent => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn done(&self, receipt: &str) -> Result<(), QueueError> {
        loop {
            let held = self.of_receipt(receipt).await?;
            if self.transact(self.records.remove(&held)).await? {
                return Ok(());
            }
        }
    }

    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<(), QueueError> {
        loop {
            let held = self.of_receipt(receipt).await?;
            let mut message = held.message.clone();
            message.due = self.now().saturating_add(millis(visibility));
            if self.transact(self.records.replace(&held, &message)?).await? {
                self.sent.notify_waiters();
                return Ok(());
            }
        }
    }

    async fn dead(&self, max: usize) -> Result<Vec<Delivery>, QueueError> {
        let query = Query {
            partition: self.records.partition(),
            range: Range::Prefix("dead#".to_owned()),
            order: Order::Ascending,
            limit: max.clamp(1, 1000),
            cursor: None,
        };
        let page = self.table.query(&query).await.map_err(of_table)?;
        let delivery = |item: &domain::ports::Item| {
            let id = time_and_id(item.key.sk()).map(|(_, id)| id).unwrap_or_default();
            let held = Records::read(id, item)?;
            Ok(Delivery {
                receipt: String::new(),
                id: held.id,
                attempt: held.message.attempt,
                body: held.message.body,
            })
        };
        page.items.iter().map(delivery).collect()
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4)
}

fn from_millis(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0).max(1))
}
