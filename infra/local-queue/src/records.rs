//! How messages lie in the table.
//!
//! A message is one item, `msg#{id}`. While it is neither done nor dead, an empty item `due#{time}#{id}` says
//! from when on it may be delivered; the two always change in one transaction. A dead message is `dead#…`.

use domain::{
    keys::{Key, Lookup, Partition},
    ports::{Condition, Item, QueueError, TableError, Write},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a message is kept, done or not.
const RETENTION: Duration = Duration::from_hours(14 * 24);
/// Enough digits for milliseconds until the year 2286, so that text sorts as numbers do.
const DIGITS: usize = 13;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) body: Value,
    /// How often it was delivered.
    pub(crate) attempt: u32,
    /// From when on it may be delivered, in milliseconds.
    pub(crate) due: i64,
    /// When it goes for good, in milliseconds.
    expires: i64,
}

/// A message with its id and the version of its item.
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) version: u64,
    pub(crate) message: Message,
}

/// The items of one queue.
#[derive(Clone)]
pub(crate) struct Records(Partition);

impl Records {
    pub(crate) fn of(queue: &str) -> Self {
        Self(Lookup::Job(queue).partition())
    }

    pub(crate) fn partition(&self) -> Partition {
        self.0.clone()
    }

    pub(crate) fn message_key(&self, id: &str) -> Key {
        self.0.key(format!("msg#{id}"))
    }

    pub(crate) fn new_message(body: Value, due: i64, now: i64) -> Message {
        let keep = i64::try_from(RETENTION.as_millis()).unwrap_or(i64::MAX);
        Message { body, attempt: 0, due, expires: now.max(due).saturating_add(keep) }
    }

    /// Writes a new message.
    pub(crate) fn insert(&self, id: &str, message: &Message) -> Result<Vec<Write>, QueueError> {
        Ok(vec![self.put_message(id, message, Condition::Absent)?, self.put_due(id, message)])
    }

    /// Replaces a message that nobody has changed since it was read.
    pub(crate) fn replace(&self, held: &Held, message: &Message) -> Result<Vec<Write>, QueueError> {
        let put = self.put_message(&held.id, message, Condition::Version(held.version))?;
        let mut writes = vec![put, self.put_due(&held.id, message)];
        if message.due != held.message.due {
            writes.push(Write::delete(self.due_key(&held.id, held.message.due)));
        }
        Ok(writes)
    }

    /// Removes a message that nobody has changed since it was read.
    pub(crate) fn remove(&self, held: &Held) -> Vec<Write> {
        vec![
            Write::Delete { key: self.message_key(&held.id), condition: Condition::Version(held.version) },
            Write::delete(self.due_key(&held.id, held.message.due)),
        ]
    }

    /// Moves a message to the dead ones.
    pub(crate) fn bury(&self, held: &Held, now: i64) -> Result<Vec<Write>, QueueError> {
        let mut writes = self.remove(held);
        writes.push(Write::Put {
            key: self.0.key(format!("dead#{now:0DIGITS$}#{}", held.id)),
            body: serde_json::to_value(&held.message).map_err(failed)?,
            expires_at: expiry(&held.message),
            condition: Condition::Always,
        });
        Ok(writes)
    }

    pub(crate) fn read(id: &str, item: &Item) -> Result<Held, QueueError> {
        Ok(Held {
            id: id.to_owned(),
            version: item.version,
            message: Message::deserialize(&item.body).map_err(|error| {
                QueueError::Unusable(format!("the stored message {} is not readable: {error}", item.key))
            })?,
        })
    }

    /// Removes a due item that no message stands behind.
    pub(crate) fn forget_due(&self, id: &str, due: i64) -> Write {
        Write::delete(self.due_key(id, due))
    }

    fn put_message(&self, id: &str, message: &Message, condition: Condition) -> Result<Write, QueueError> {
        Ok(Write::Put {
            key: self.message_key(id),
            body: serde_json::to_value(message).map_err(failed)?,
            expires_at: expiry(message),
            condition,
        })
    }

    fn put_due(&self, id: &str, message: &Message) -> Write {
        Write::Put {
            key: self.due_key(id, message.due),
            body: json!({}),
            expires_at: expiry(message),
            condition: Condition::Always,
        }
    }

    fn due_key(&self, id: &str, due: i64) -> Key {
        self.0.key(format!("due#{due:0DIGITS$}#{id}"))
    }
}

/// The time and id in a `due#` or `dead#` sort key.
pub(crate) fn time_and_id(sk: &str) -> Option<(i64, &str)> {
    let (_, rest) = sk.split_once('#')?;
    let (time, id) = rest.split_once('#')?;
    Some((time.parse().ok()?, id))
}

fn expiry(message: &Message) -> Option<Timestamp> {
    Timestamp::from_millisecond(message.expires).ok()
}

pub(crate) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> QueueError {
    QueueError::Failed(error.into())
}

/// A table's error as the queue tells it.
pub(crate) fn of_table(error: TableError) -> QueueError {
    match error {
        TableError::ReadOnly(_) | TableError::Unusable(_) => QueueError::Unusable(error.to_string()),
        other => failed(other),
    }
}
