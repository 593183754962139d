//! A table that counts the rounds it is asked for.

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

pub(crate) struct Counting {
    inner: Arc<dyn Table>,
    reads: AtomicUsize,
}

impl Counting {
    pub(crate) fn over(inner: Arc<dyn Table>) -> Self {
        Self { inner, reads: AtomicUsize::new(0) }
    }

    /// How many rounds of reading there were since the last time this was asked.
    pub(crate) fn reads(&self) -> usize {
        self.reads.swap(0, Ordering::SeqCst)
    }

    fn count(&self) {
        self.reads.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Table for Counting {
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
