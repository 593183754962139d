//! The scheduled refresh: asks the servers that are due, of all accounts, a few at a time.
//!
//! In one process a timer calls [`Servers::refresh_due`]. Where work is handed over through a queue, the
//! schedule calls [`Servers::fan_out`], and a worker [`Servers::run_job`] with each message.

use super::{ServerError, Servers, due::Due, due::SHARDS};
use domain::{AccountId, catalog::CatalogError, ports::Queue, ports::QueueError};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// The kind of message that asks for a refresh.
pub const REFRESH_JOB: &str = "mcp_refresh";

/// How the scheduled refresh goes about its work.
#[derive(Clone, Copy, Debug)]
pub struct RefreshSettings {
    /// How often a server is asked.
    pub every: Duration,
    /// A server that nobody has used for this long is not asked.
    pub used_within: Duration,
    /// How soon a server that failed is asked again; doubled by each failure, up to a day.
    pub first_retry: Duration,
    /// How many are asked at the same time.
    pub at_once: usize,
    /// How many are taken in one pass at most.
    pub most: usize,
    /// How long one may take before another worker may take it over.
    pub lease: Duration,
}

impl Default for RefreshSettings {
    fn default() -> Self {
        Self {
            every: Duration::from_hours(6),
            used_within: Duration::from_hours(24 * 7),
            first_retry: Duration::from_mins(10),
            at_once: 8,
            most: 1000,
            lease: Duration::from_mins(15),
        }
    }
}

/// What one pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefreshPass {
    /// Servers that answered.
    pub refreshed: usize,
    /// Those among them whose tools had changed.
    pub changed: usize,
    /// Servers that did not answer. Their catalogs are kept.
    pub failed: usize,
    /// Servers that were left in peace because nobody uses them.
    pub unused: usize,
}

/// Why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The store failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// A message that asks for the refresh of one server.
#[derive(Deserialize)]
struct Job {
    account: AccountId,
    server: String,
}

#[derive(Clone, Copy)]
enum Outcome {
    Same,
    Changed,
    Failed,
    Unused,
    Gone,
}

impl Servers {
    /// Asks every server that is due. One that fails keeps its catalog, is marked, and is asked again later.
    pub async fn refresh_due(&self, settings: &RefreshSettings) -> Result<RefreshPass, RefreshError> {
        use futures::{StreamExt as _, stream};
        let claimed = self.claim(settings).await?;
        let work: Vec<_> = claimed.iter().map(|due| Box::pin(self.refresh_claimed(due, settings))).collect();
        let outcomes: Vec<_> = stream::iter(work).buffer_unordered(settings.at_once.max(1)).collect().await;
        let mut pass = RefreshPass::default();
        for outcome in outcomes {
            match outcome? {
                Outcome::Same => pass.refreshed += 1,
                Outcome::Changed => {
                    pass.refreshed += 1;
                    pass.changed += 1;
                }
                Outcome::Failed => pass.failed += 1,
                Outcome::Unused => pass.unused += 1,
                Outcome::Gone => {}
            }
        }
        Ok(pass)
    }

    /// Hands every server that is due to a queue, one message each. Gives their number.
    pub async fn fan_out(
        &self,
        queue: &dyn Queue,
        settings: &RefreshSettings,
    ) -> Result<usize, RefreshError> {
        let claimed = self.claim(settings).await?;
        for due in &claimed {
            let job = json!({"kind": REFRESH_JOB, "account": due.account, "server": due.server});
            queue.send(job, Duration::ZERO).await?;
        }
        Ok(claimed.len())
    }

    /// Does what a message of [`Servers::fan_out`] asks for.
    pub async fn run_job(&self, job: &Value, settings: &RefreshSettings) -> Result<(), RefreshError> {
        let job: Job = serde_json::from_value(job.clone()).map_err(ServerError::Record)?;
        let due = Due { account: job.account, server: job.server };
        Box::pin(self.refresh_claimed(&due, settings)).await?;
        Ok(())
    }

    async fn claim(&self, settings: &RefreshSettings) -> Result<Vec<Due>, ServerError> {
        let mut claimed = Vec::new();
        for shard in 0..SHARDS {
            let room = settings.most.saturating_sub(claimed.len());
            if room == 0 {
                break;
            }
            for due in self.0.due.due(shard, room).await? {
                if self.0.due.claim(&due, signed(settings.lease)).await? {
                    claimed.push(due);
                }
            }
        }
        Ok(claimed)
    }

    async fn refresh_claimed(&self, due: &Due, settings: &RefreshSettings) -> Result<Outcome, ServerError> {
        let (account, id) = (&due.account, due.server.as_str());
        let outcome = match self.is_used(account, id, settings.used_within).await {
            Ok(true) => self.refresh(account, id).await,
            Ok(false) => {
                self.0.due.set(account, id, signed(jittered(settings.every)), 0).await?;
                return Ok(Outcome::Unused);
            }
            Err(error) => Err(error),
        };
        match outcome {
            Ok(refreshed) => {
                self.0.due.set(account, id, signed(jittered(settings.every)), 0).await?;
                let same = refreshed.changes.is_empty();
                Ok(if same { Outcome::Same } else { Outcome::Changed })
            }
            Err(ServerError::Catalog(CatalogError::NotFound(_)) | ServerError::Disabled(_)) => {
                self.0.due.clear(account, id).await?;
                Ok(Outcome::Gone)
            }
            Err(error) => {
                tracing::warn!(%account, server = id, %error, "an MCP server was not refreshed");
                let failures = self.0.due.failures(account, id).await?.saturating_add(1);
                let wait = jittered(backoff(settings.first_retry, failures));
                self.0.due.set(account, id, signed(wait), failures).await?;
                Ok(Outcome::Failed)
            }
        }
    }

    /// Whether a server was called, or changed by its owner, lately.
    async fn is_used(&self, account: &AccountId, id: &str, within: Duration) -> Result<bool, ServerError> {
        let head = self.head(account, id).await?;
        let health = self.0.health.read(account, &[id]).await?.pop().unwrap_or_default();
        let last = health.last_used_at.unwrap_or(head.record.updated_at).max(head.record.updated_at);
        Ok(self.0.clock.now().duration_since(last) <= signed(within))
    }
}

/// The pause after so many failures in a row.
fn backoff(first: Duration, failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    first.saturating_mul(1 << doublings).min(Duration::from_hours(24))
}

/// A time up to a tenth shorter, so that servers registered together are not asked together for ever.
fn jittered(time: Duration) -> Duration {
    let byte = uuid::Uuid::new_v4().as_bytes()[0];
    time.saturating_sub(time / 10 * u32::from(byte) / 255)
}

fn signed(time: Duration) -> SignedDuration {
    SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_retried_ever_later_up_to_a_day() {
        let first = Duration::from_mins(10);
        let waits: Vec<u64> = (1..=9).map(|n| backoff(first, n).as_secs() / 60).collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1280, 1440]);
        assert_eq!(backoff(first, u32::MAX), Duration::from_hours(24));
    }

    #[test]
    fn jitter_shortens_by_a_tenth_at_most() {
        for _ in 0..100 {
            let time = jittered(Duration::from_secs(1000));
            assert!((900..=1000).contains(&time.as_secs()), "{time:?}");
        }
    }
}
