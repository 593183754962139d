//! The [`Table`] port over one SQLite file.
//!
//! WAL mode, one writing connection and a few reading ones, all on blocking threads. Any number of processes
//! may use the same file. It knows SQL and files; it never knows what is in a body.
//!
//! `store` opens the file and hands out connections, `read` and `write` hold the statements, `fault` says
//! what SQLite's errors mean to an operator.

mod fault;
mod read;
mod schema;
mod store;
mod write;

use async_trait::async_trait;
use domain::{
    keys::Key,
    ports::{Clock, Item, Page, Query, SystemClock, Table, TableError, Write, table_rules},
};
use jiff::Timestamp;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};
use store::Store;

/// How often expired items are looked for, in milliseconds.
const SWEEP_EVERY_MS: i64 = 60_000;

/// How a file is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it is. It and its directory are made when absent.
    pub path: PathBuf,
    /// Whether writes are refused and nothing is made.
    pub read_only: bool,
    /// How large the file may grow, in bytes.
    pub max_bytes: Option<u64>,
    /// How long to wait for another process's write.
    pub busy_timeout: Duration,
}

impl Settings {
    /// The usual settings for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), read_only: false, max_bytes: None, busy_timeout: Duration::from_secs(5) }
    }
}

/// A table in an SQLite file.
#[derive(Clone)]
pub struct SqliteTable {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    next_sweep: Arc<AtomicI64>,
}

impl SqliteTable {
    /// The table in `path`, opened when it is first used.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with(Settings::new(path), Arc::new(SystemClock))
    }

    /// The table in `path`, opened now.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, TableError> {
        let table = Self::new(path);
        table.ready().await?;
        Ok(table)
    }

    /// A table with all its settings, opened when it is first used.
    pub fn with(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        Self { store: Arc::new(Store::new(settings)), clock, next_sweep: Arc::new(AtomicI64::new(0)) }
    }

    /// Opens the file if it is not open yet, and says what is wrong with it.
    pub async fn ready(&self) -> Result<(), TableError> {
        self.store.ready().await
    }

    /// Removes expired items, a batch at a time, and gives their number.
    pub async fn sweep(&self) -> Result<usize, TableError> {
        let now = self.now();
        let mut removed = 0;
        loop {
            let batch = self.store.write(move |tx| write::sweep(tx, now)).await?;
            removed += batch;
            if batch < write::SWEEP_BATCH {
                return Ok(removed);
            }
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    /// Starts a sweep beside the caller's work when it is time for one.
    fn sweep_sometimes(&self, now: i64) {
        let due = self.next_sweep.load(Ordering::Relaxed);
        let taken = now >= due
            && self
                .next_sweep
                .compare_exchange(due, now + SWEEP_EVERY_MS, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !taken {
            return;
        }
        let table = self.clone();
        tokio::spawn(async move {
            if let Err(error) = table.sweep().await {
                tracing::warn!(%error, "expired items were not removed");
            }
        });
    }
}

#[async_trait]
impl Table for SqliteTable {
    async fn get_many(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        keys.iter().try_for_each(table_rules::check_key)?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (keys, now) = (keys.to_vec(), self.now());
        self.store.read(move |tx| read::get_many(tx, keys, now)).await
    }

    async fn write(&self, write: Write) -> Result<u64, TableError> {
        let change = write::Change::of(write)?;
        let now = self.now();
        let version = self.store.write(move |tx| write::apply(tx, &change, now)).await?;
        self.sweep_sometimes(now);
        Ok(version)
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TableError> {
        table_rules::check_transaction(&writes)?;
        self.write_all(writes).await
    }

    async fn write_many(&self, writes: Vec<Write>) -> Result<(), TableError> {
        table_rules::check_unconditional(&writes)?;
        self.write_all(writes).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let Some(span) = table_rules::span(query)? else {
            return Ok(Page::default());
        };
        let (query, now) = (query.clone(), self.now());
        self.store.read(move |tx| read::query(tx, &query, span, now)).await
    }

    async fn add(&self, key: &Key, by: i64, expires_at: Option<Timestamp>) -> Result<i64, TableError> {
        table_rules::check_key(key)?;
        let (key, now) = (key.clone(), self.now());
        let sum = self.store.write(move |tx| write::add(tx, &key, by, expires_at, now)).await?;
        self.sweep_sometimes(now);
        Ok(sum)
    }
}

impl SqliteTable {
    async fn write_all(&self, writes: Vec<Write>) -> Result<(), TableError> {
        if writes.is_empty() {
            return Ok(());
        }
        let changes = writes.into_iter().map(write::Change::of).collect::<Result<Vec<_>, _>>()?;
        let now = self.now();
        self.store
            .write(move |tx| changes.iter().try_for_each(|change| write::apply(tx, change, now).map(drop)))
            .await?;
        self.sweep_sometimes(now);
        Ok(())
    }
}
