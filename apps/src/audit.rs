//! The audit: a record of every call, written in the background so that no result waits for it.

use domain::{
    AccountId,
    keys::{Key, Kind},
    ports::{AuditRecord, AuditSink, Clock, Query, Table, TableError, Write},
};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize as _;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::{mpsc, oneshot};

/// How many records may wait to be written; more are dropped and counted.
const WAITING: usize = 8192;
/// How many records are written at once.
const BATCH: usize = 256;
/// How long a record is kept.
const KEEP: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Writes records to a table from a task of its own.
pub struct TableAudit {
    sender: mpsc::Sender<Message>,
    dropped: Arc<AtomicU64>,
}

enum Message {
    Record(Box<AuditRecord>),
    Flush(oneshot::Sender<()>),
}

impl TableAudit {
    /// Starts the writer. It ends when the last handle is dropped and all is written.
    ///
    /// Call it on a Tokio runtime.
    pub fn start(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let writer = Writer { table, clock, dropped: dropped.clone() };
        tokio::spawn(writer.run(receiver));
        Self { sender, dropped }
    }

    /// Waits until every record taken so far is written, or has been given up.
    pub async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        if self.sender.send(Message::Flush(done)).await.is_ok() {
            let _ = wait.await;
        }
    }

    /// How many records were lost because too many waited, or the store failed.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl AuditSink for TableAudit {
    fn record(&self, record: AuditRecord) {
        if self.sender.try_send(Message::Record(Box::new(record))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for TableAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableAudit").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

struct Writer {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
    dropped: Arc<AtomicU64>,
}

impl Writer {
    async fn run(self, mut receiver: mpsc::Receiver<Message>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut told = 0;
        while receiver.recv_many(&mut batch, BATCH).await > 0 {
            let mut writes = Vec::with_capacity(batch.len());
            let mut waiting = Vec::new();
            for message in batch.drain(..) {
                match message {
                    Message::Record(record) => writes.extend(self.write_of(&record)),
                    Message::Flush(done) => waiting.push(done),
                }
            }
            self.write(writes).await;
            let lost = self.dropped.load(Ordering::Relaxed);
            if lost > told {
                tracing::warn!(audit.lost = lost - told, "audit records were lost");
                told = lost;
            }
            for done in waiting {
                let _ = done.send(());
            }
        }
    }

    async fn write(&self, writes: Vec<Write>) {
        let count = writes.len();
        if count == 0 {
            return;
        }
        if let Err(error) = self.table.write_many(writes).await {
            self.dropped.fetch_add(count as u64, Ordering::Relaxed);
            tracing::warn!(%error, "audit records could not be written");
        }
    }

    fn write_of(&self, record: &AuditRecord) -> Option<Write> {
        let body = serde_json::to_value(record).ok()?;
        Some(Write::Put {
            key: key_of(record),
            body,
            expires_at: expiry(self.clock.now()),
            condition: domain::ports::Condition::Always,
        })
    }
}

/// The account's calls, newest first, a page at a time.
pub async fn recent(
    table: &dyn Table,
    account: &AccountId,
    limit: usize,
    cursor: Option<String>,
) -> Result<(Vec<AuditRecord>, Option<String>), TableError> {
    let query = Query::prefix(Kind::Audit.of(account), "").limit(limit).after(cursor).descending();
    let page = table.query(&query).await?;
    // A record of an older shape is no reason to show none.
    let records = page.items.iter().filter_map(|item| AuditRecord::deserialize(&item.body).ok());
    Ok((records.collect(), page.next_cursor))
}

/// Sorts by time; the random part keeps calls of one microsecond apart.
fn key_of(record: &AuditRecord) -> Key {
    let at = record.at.as_microsecond();
    let apart = uuid::Uuid::now_v7().simple();
    Kind::Audit.of(&record.account).key(format!("{at:020}#{apart}"))
}

fn expiry(now: Timestamp) -> Option<Timestamp> {
    now.checked_add(KEEP).ok()
}
