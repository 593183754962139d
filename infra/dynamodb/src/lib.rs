//! The [`Table`] port over one DynamoDB table: `pk` and `sk`, both strings, and TTL on `ttl`.
//!
//! It alone knows attribute values. What is behind the port's promises here:
//! - A body is kept as JSON text, since DynamoDB's own types change what JSON says (1.0 becomes 1, keys lose
//!   their order, 32 levels are the most). Bodies near the item limit are split into parts (`parts`).
//! - An expired item counts as absent at once, by a condition or a filter: TTL deletes days later.
//! - A write whose answer was lost is repeated, and recognised by the id it leaves in the item (`attempt`):
//!   nothing rests on the service's own request tokens.
//! - Throttles, unprocessed keys and conflicts are repeated with growing random pauses (`backoff`).
//!
//! Put over an expired item counts its version on; put if absent begins at 1.

mod attempt;
mod backoff;
mod batch;
mod fault;
mod parts;
mod read;
mod record;
mod write;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_dynamodb::{
    Client,
    config::{retry::RetryConfig, timeout::TimeoutConfig},
};
use domain::{
    keys::Key,
    ports::{Clock, Item, Page, Query, SystemClock, Table, TableError, Write, table_rules},
};
use jiff::Timestamp;
use std::{sync::Arc, time::Duration};

/// How long one request may take before it is repeated.
const ATTEMPT: Duration = Duration::from_secs(5);

/// A DynamoDB table.
#[derive(Clone)]
pub struct DynamoDbTable {
    /// Repeats failed requests by itself: for reads.
    reads: Client,
    /// Sends each request once: a write is only repeated by `attempt`, which knows what that means.
    writes: Client,
    name: Arc<str>,
    clock: Arc<dyn Clock>,
}

impl DynamoDbTable {
    /// The table of this name. Nothing is sent before the first use.
    pub fn new(config: &SdkConfig, name: &str) -> Self {
        Self::with_clock(config, name, Arc::new(SystemClock))
    }

    /// The same, going by another clock.
    pub fn with_clock(config: &SdkConfig, name: &str, clock: Arc<dyn Clock>) -> Self {
        let timeouts = TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT).build();
        let client = |retry: RetryConfig| {
            let config = aws_sdk_dynamodb::config::Builder::from(config)
                .retry_config(retry)
                .timeout_config(timeouts.clone());
            Client::from_conf(config.build())
        };
        Self {
            reads: client(RetryConfig::standard().with_max_attempts(5)),
            writes: client(RetryConfig::disabled()),
            name: name.into(),
            clock,
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }
}

#[async_trait]
impl Table for DynamoDbTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        table_rules::check_key(key)?;
        self.read_one(key).await
    }

    async fn get_many(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        keys.iter().try_for_each(table_rules::check_key)?;
        self.read_many(keys).await
    }

    async fn write(&self, write: Write) -> Result<u64, TableError> {
        self.write_one(write).await
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TableError> {
        table_rules::check_transaction(&writes)?;
        self.write_all_or_none(writes).await
    }

    async fn write_many(&self, writes: Vec<Write>) -> Result<(), TableError> {
        table_rules::check_unconditional(&writes)?;
        self.write_each(writes).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        match table_rules::span(query)? {
            Some(span) => self.read_page(query, span).await,
            None => Ok(Page::default()),
        }
    }

    async fn add(&self, key: &Key, by: i64, expires_at: Option<Timestamp>) -> Result<i64, TableError> {
        table_rules::check_key(key)?;
        self.add_to(key, by, expires_at).await
    }
}
