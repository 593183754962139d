//! A table that fails when a test says so: what a crash between two writes leaves behind.

use async_trait::async_trait;
use domain::{
    keys::Key,
    ports::{Item, Page, Query, Table, TableError, Write},
};
use jiff::Timestamp;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// When a transaction fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Before it reached the store.
    Before,
    /// After the store did it: only the answer was lost.
    After,
}

/// Passes everything on to a real table, except for the faults that are armed.
pub struct FaultyTable {
    table: Arc<dyn Table>,
    transact: Mutex<Option<Fault>>,
    writes_left: AtomicUsize,
}

impl FaultyTable {
    /// A table without faults so far.
    pub fn new(table: Arc<dyn Table>) -> Self {
        Self { table, transact: Mutex::new(None), writes_left: AtomicUsize::new(usize::MAX) }
    }

    /// Makes the next transaction fail.
    pub fn fail_next_transaction(&self, fault: Fault) {
        *self.transact.lock().unwrap() = Some(fault);
    }

    /// Lets `n` more writes of `write_many` through, then fails it once in the middle.
    pub fn fail_after_writes(&self, n: usize) {
        self.writes_left.store(n, Ordering::SeqCst);
    }
}

fn lost() -> TableError {
    TableError::Failed("the connection was reset".into())
}

#[async_trait]
impl Table for FaultyTable {
    async fn get_many(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.table.get_many(keys).await
    }

    async fn write(&self, write: Write) -> Result<u64, TableError> {
        self.table.write(write).await
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TableError> {
        let fault = self.transact.lock().unwrap().take();
        match fault {
            None => self.table.transact(writes).await,
            Some(Fault::Before) => Err(lost()),
            Some(Fault::After) => self.table.transact(writes).await.and(Err(lost())),
        }
    }

    async fn write_many(&self, mut writes: Vec<Write>) -> Result<(), TableError> {
        let left = self.writes_left.swap(usize::MAX, Ordering::SeqCst);
        if writes.len() <= left {
            return self.table.write_many(writes).await;
        }
        writes.truncate(left);
        self.table.write_many(writes).await.and(Err(lost()))
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.table.query(query).await
    }

    async fn add(&self, key: &Key, by: i64, expires_at: Option<Timestamp>) -> Result<i64, TableError> {
        self.table.add(key, by, expires_at).await
    }
}
