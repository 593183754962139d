//! Flags of runs.

use async_trait::async_trait;
use domain::{
    AccountId,
    keys::{Key, Kind},
    ports::{Clock, Condition, Signal, SignalError, SystemClock, Table, Write},
};
use serde_json::json;
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// How long a flag stays set.
const KEEP: Duration = Duration::from_hours(1);
/// How often a waiter looks for flags that another process has set.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Over how many bells the waiters of a process are spread.
const BELLS: usize = 64;

/// Flags in a table.
#[derive(Clone)]
pub struct TableSignal {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
    bells: Arc<[Notify]>,
}

impl TableSignal {
    /// Flags in this table.
    pub fn new(table: Arc<dyn Table>) -> Self {
        Self::with_clock(table, Arc::new(SystemClock))
    }

    /// Flags in this table, going by another clock.
    pub fn with_clock(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        Self { table, clock, bells: (0..BELLS).map(|_| Notify::new()).collect() }
    }

    fn bell(&self, key: &Key) -> &Notify {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let at = usize::try_from(hasher.finish() % BELLS as u64).unwrap_or_default();
        &self.bells[at]
    }

    async fn stands(&self, key: &Key) -> Result<bool, SignalError> {
        Ok(self.table.get(key).await?.is_some())
    }
}

#[async_trait]
impl Signal for TableSignal {
    async fn set(&self, account: &AccountId, run: &str, flag: &str) -> Result<(), SignalError> {
        let key = key(account, run, flag);
        let write = Write::Put {
            key: key.clone(),
            body: json!({}),
            expires_at: Some(self.clock.now() + KEEP),
            condition: Condition::Always,
        };
        self.table.write(write).await?;
        self.bell(&key).notify_waiters();
        Ok(())
    }

    async fn is_set(&self, account: &AccountId, run: &str, flag: &str) -> Result<bool, SignalError> {
        self.stands(&key(account, run, flag)).await
    }

    async fn wait(
        &self,
        account: &AccountId,
        run: &str,
        flag: &str,
        timeout: Duration,
    ) -> Result<bool, SignalError> {
        let (key, deadline) = (key(account, run, flag), Instant::now() + timeout);
        loop {
            // Listens before it looks, so that a flag set in between is not missed.
            let rung = self.bell(&key).notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            let set = self.stands(&key).await?;
            let left = deadline.saturating_duration_since(Instant::now());
            if set || left.is_zero() {
                return Ok(set);
            }
            tokio::select! {
                () = rung => {}
                () = tokio::time::sleep(left.min(LOOK_AGAIN)) => {}
            }
        }
    }
}

/// A run's length goes before it, so that no two pairs of run and flag share a key.
fn key(account: &AccountId, run: &str, flag: &str) -> Key {
    Kind::Signal.of(account).key(format!("{}#{run}#{flag}", run.len()))
}
