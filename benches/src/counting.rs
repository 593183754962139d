//! A table that counts the rounds of reads it is asked for.

use async_trait::async_trait;
use domain::{
    keys::Key,
    ports::{Item, Page, Query, Table, TableError, Write},
};
use jiff::Timestamp;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts rounds of reads and passes everything on.
pub struct CountingTable {
    inner: Arc<dyn Table>,
    rounds: AtomicUsize,
}

impl CountingTable {
    /// Counts the reads of a table.
    pub fn new(inner: Arc<dyn Table>) -> Self {
        Self { inner, rounds: AtomicUsize::new(0) }
    }

    /// The rounds of reads since the last time this was asked.
    pub fn take(&self) -> usize {
        self.rounds.swap(0, Ordering::SeqCst)
    }

    fn count(&self) {
        self.rounds.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Table for CountingTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.count();
        self.inner.get(key).await
    }

    async fn get_many(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.count();
        self.inner.get_many(keys).await
    }

    async fn write(&self, write: Write) -> Result<u64, TableError> {
        self.inner.write(write).await
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TableError> {
        self.inner.transact(writes).await
    }

    async fn write_many(&self, writes: Vec<Write>) -> Result<(), TableError> {
        self.inner.write_many(writes).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.count();
        self.inner.query(query).await
    }

    async fn add(&self, key: &Key, by: i64, expires_at: Option<Timestamp>) -> Result<i64, TableError> {
        self.inner.add(key, by, expires_at).await
    }
}
