//! How a server is doing: remembered with it, written seldom, never waited for by a call.

use crate::client::error::CallError;
use domain::{
    AccountId,
    keys::{Key, Kind},
    ports::{Clock, Table, TableError, Write},
};
use jiff::Timestamp;
use moka::sync::Cache;
use serde::{Deserialize, Serialize};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often the same news of a server is written.
const WRITE_EVERY: Duration = Duration::from_mins(1);
/// The longest error that is remembered, in characters.
const MAX_ERROR: usize = 500;

/// How the last calls and discoveries of a server went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// When it last answered.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_success_at: Option<Timestamp>,
    /// When it last did not.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_error_at: Option<Timestamp>,
    /// Why it did not.
    pub last_error: Option<String>,
    /// How often in a row it did not. 0 when it answered last time.
    pub failures: u32,
    /// How long its last answer took, in milliseconds.
    pub latency_ms: Option<u64>,
    /// When a tool of it was last called.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_used_at: Option<Timestamp>,
}

/// Remembers how servers are doing.
pub(crate) struct HealthBook {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
    recent: Cache<(AccountId, String), Arc<Mutex<Recent>>>,
}

/// What this process last wrote of a server.
#[derive(Default)]
struct Recent {
    written: Option<Instant>,
    failing: bool,
}

impl HealthBook {
    pub(super) fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        Self {
            table,
            clock,
            recent: Cache::builder().max_capacity(100_000).time_to_idle(Duration::from_hours(1)).build(),
        }
    }

    /// Reads what is known, in the order of `ids`.
    pub(crate) async fn read(&self, account: &AccountId, ids: &[&str]) -> Result<Vec<Health>, TableError> {
        let keys: Vec<Key> = ids.iter().map(|id| key(account, id)).collect();
        let items = self.table.get_many(&keys).await?;
        let health = |item: Option<domain::ports::Item>| {
            item.and_then(|i| serde_json::from_value(i.body).ok()).unwrap_or_default()
        };
        Ok(items.into_iter().map(health).collect())
    }

    pub(super) async fn delete(&self, account: &AccountId, id: &str) -> Result<(), TableError> {
        self.recent.invalidate(&(account.clone(), id.to_owned()));
        self.table.write(Write::delete(key(account, id))).await.map(drop)
    }

    /// Takes note of a discovery.
    pub(super) async fn note_discovery(
        &self,
        account: &AccountId,
        id: &str,
        outcome: Result<Duration, &CallError>,
    ) {
        let now = self.clock.now();
        let health = self.read(account, &[id]).await.map(|mut h| h.pop());
        let mut health = health.ok().flatten().unwrap_or_default();
        health.take(now, outcome);
        self.recent_of(account, id).lock().unwrap_or_else(PoisonError::into_inner).failing =
            health.failures > 0;
        self.write(account, id, &health).await;
    }

    /// Takes note of a call, in the background and not more often than is of use.
    pub(crate) fn note_call(
        self: &Arc<Self>,
        account: &AccountId,
        id: &str,
        outcome: Result<Duration, &CallError>,
    ) {
        let failing = outcome.is_err_and(CallError::is_outage);
        if outcome.is_err() && !failing {
            return;
        }
        {
            let recent = self.recent_of(account, id);
            let mut recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
            let due = recent.written.is_none_or(|at| at.elapsed() >= WRITE_EVERY);
            if !due && recent.failing == failing {
                return;
            }
            *recent = Recent { written: Some(Instant::now()), failing };
        }
        let (book, account, id) = (Arc::clone(self), account.clone(), id.to_owned());
        let outcome = outcome.map_err(Clone::clone);
        tokio::spawn(async move {
            let now = book.clock.now();
            let health = book.read(&account, &[&id]).await.map(|mut h| h.pop());
            let mut health = health.ok().flatten().unwrap_or_default();
            health.take(now, outcome.as_ref().map(|took| *took));
            health.last_used_at = Some(now);
            book.write(&account, &id, &health).await;
        });
    }

    fn recent_of(&self, account: &AccountId, id: &str) -> Arc<Mutex<Recent>> {
        self.recent.get_with((account.clone(), id.to_owned()), Arc::default)
    }

    async fn write(&self, account: &AccountId, id: &str, health: &Health) {
        let body = match serde_json::to_value(health) {
            Ok(body) => body,
            Err(error) => return tracing::error!(%error, "the health of a server is not JSON"),
        };
        if let Err(error) = self.table.write(Write::put(key(account, id), body)).await {
            tracing::warn!(%error, server = id, "the health of a server was not written");
        }
    }
}

impl Health {
    fn take(&mut self, now: Timestamp, outcome: Result<Duration, &CallError>) {
        match outcome {
            Ok(took) => {
                self.last_success_at = Some(now);
                self.failures = 0;
                self.latency_ms = u64::try_from(took.as_millis()).ok();
            }
            Err(error) => {
                self.last_error_at = Some(now);
                self.last_error = Some(error.to_string().chars().take(MAX_ERROR).collect());
                self.failures = self.failures.saturating_add(1);
            }
        }
    }
}

fn key(account: &AccountId, id: &str) -> Key {
    Kind::McpServer.of(account).key(format!("health#{id}"))
}
