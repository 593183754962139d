//! `Table`: the one store of records, cut to what DynamoDB and an embedded database both do well.

use crate::keys::{Key, Partition};
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

/// A stored record.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Where it is.
    pub key: Key,
    /// Changes with every write of this key: 1 for the first, one more for each [`Table::write`],
    /// [`Table::transact`] and [`Table::add`]; [`Table::write_many`] may skip ahead. Deleting and writing anew
    /// starts again.
    pub version: u64,
    /// From when on it counts as gone, to the millisecond; readers never see it after that.
    pub expires_at: Option<Timestamp>,
    /// Its content: a JSON object, given back exactly as it was written, order of keys included.
    pub body: Value,
}

/// What must hold for a write to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Always,
    /// There is no item, or only an expired one.
    Absent,
    /// There is an item that has not expired.
    Exists,
    /// The item has this version.
    Version(u64),
}

/// One write of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Writes an item.
    Put {
        /// Where.
        key: Key,
        /// What: a JSON object.
        body: Value,
        /// When it goes.
        expires_at: Option<Timestamp>,
        /// On what condition.
        condition: Condition,
    },
    /// Removes an item; removing what is not there is no error under [`Condition::Always`].
    Delete {
        /// Where.
        key: Key,
        /// On what condition.
        condition: Condition,
    },
    /// Writes nothing, but fails the transaction when the condition does not hold.
    Check {
        /// Where.
        key: Key,
        /// On what condition.
        condition: Condition,
    },
}

impl Write {
    /// An unconditional put without expiry.
    pub fn put(key: Key, body: Value) -> Self {
        Self::Put { key, body, expires_at: None, condition: Condition::Always }
    }

    /// The same put under a condition.
    pub fn put_if(key: Key, body: Value, condition: Condition) -> Self {
        Self::Put { key, body, expires_at: None, condition }
    }

    /// An unconditional delete.
    pub fn delete(key: Key) -> Self {
        Self::Delete { key, condition: Condition::Always }
    }

    /// Where it writes.
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } | Self::Check { key, .. } => key,
        }
    }
}

/// Which sort keys of a partition a query takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// All of them.
    All,
    /// Those that begin with this text.
    Prefix(String),
    /// Those from the first to the second, both included.
    Between(String, String),
}

/// The order of a query's answer, by sort key (bytewise).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Smallest first.
    #[default]
    Ascending,
    /// Greatest first.
    Descending,
}

/// A read of a range of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Which partition.
    pub partition: Partition,
    /// Which sort keys.
    pub range: Range,
    /// In which order.
    pub order: Order,
    /// How many items at most, 1 to 1000.
    pub limit: usize,
    /// The last page's `next_cursor`, to go on after it.
    pub cursor: Option<String>,
}

impl Query {
    /// The items of a partition whose sort keys begin with `prefix`, up to 100 a page.
    pub fn prefix(partition: Partition, prefix: impl Into<String>) -> Self {
        let range = Range::Prefix(prefix.into());
        Self { partition, range, order: Order::Ascending, limit: 100, cursor: None }
    }

    /// The same query with another page size.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The same query, going on after a page.
    pub fn after(self, cursor: Option<String>) -> Self {
        Self { cursor, ..self }
    }

    /// The same query in the other order.
    pub fn descending(self) -> Self {
        Self { order: Order::Descending, ..self }
    }
}

/// A page of a query's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The items; may be fewer than the limit although more follow.
    pub items: Vec<Item>,
    /// Where to go on; none when this was the last page.
    pub next_cursor: Option<String>,
}

/// Why the table did not do it.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A condition did not hold; nothing was written.
    #[error("the condition on {key} does not hold")]
    ConditionFailed {
        /// The first item whose condition failed.
        key: Key,
    },
    /// The request breaks the port's rules.
    #[error("the table cannot take this request: {0}")]
    Invalid(String),
    /// Too much at once; trying again later helps.
    #[error("the table is overloaded: {0}")]
    Throttled(String),
    /// The store is full, or refuses writes.
    #[error("the store cannot be written: {0}")]
    ReadOnly(String),
    /// The store is not what it should be: missing, corrupt, of another shape.
    #[error("the store is unusable: {0}")]
    Unusable(String),
    /// Anything else.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl TableError {
    /// Whether a condition of a write did not hold.
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::ConditionFailed { .. })
    }
}

/// The store of records. Every read is strongly consistent.
///
/// What every store refuses (keys and bodies that are too long or too deep, malformed cursors) is in
/// [`table_rules`](super::table_rules).
#[async_trait]
pub trait Table: Send + Sync {
    /// Reads one item.
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        Ok(self.get_many(std::slice::from_ref(key)).await?.pop().flatten())
    }

    /// Reads items in one round, answering in the order of `keys`. Any number of keys; duplicates are fine.
    async fn get_many(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError>;

    /// Does one write and gives the item's new version (0 for deletes and checks).
    async fn write(&self, write: Write) -> Result<u64, TableError>;

    /// Does all writes or none. At most 100, each to another key.
    async fn transact(&self, writes: Vec<Write>) -> Result<(), TableError>;

    /// Does unconditional puts and deletes in as few rounds as the store can, any number of them.
    ///
    /// Not atomic: after an error some may have been done. Conditions other than [`Condition::Always`] are refused.
    async fn write_many(&self, writes: Vec<Write>) -> Result<(), TableError>;

    /// Reads a page of a range.
    async fn query(&self, query: &Query) -> Result<Page, TableError>;

    /// Adds `by` to the counter at `key` and gives the sum; a missing or expired counter starts at 0 and
    /// then takes `expires_at`. Atomic across instances. The item's body is `{"n": sum}`.
    async fn add(&self, key: &Key, by: i64, expires_at: Option<Timestamp>) -> Result<i64, TableError>;
}

/// Reads all pages of a query, up to `max` items.
pub async fn query_all(table: &dyn Table, query: Query, max: usize) -> Result<Vec<Item>, TableError> {
    let mut items = Vec::new();
    let mut query = query;
    loop {
        let page = table.query(&query).await?;
        items.extend(page.items);
        match page.next_cursor {
            Some(cursor) if items.len() < max => query.cursor = Some(cursor),
            _ => break,
        }
    }
    items.truncate(max);
    Ok(items)
}
