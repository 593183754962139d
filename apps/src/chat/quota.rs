//! What an app may use in a day, counted across all instances. A day is one of UTC.

use super::ChatRefusal;
use crate::app::config::Limits;
use domain::{
    AccountId,
    keys::{Key, Kind},
    ports::{Clock, Table, TableError},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// How long a day's counters are kept.
const KEEP: SignedDuration = SignedDuration::from_hours(48);

#[derive(Clone)]
pub(super) struct Quota {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
}

impl Quota {
    pub(super) fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        Self { table, clock }
    }

    /// Counts one question and says how many tokens are left. Refuses where the day is used up.
    pub(super) async fn take(
        &self,
        account: &AccountId,
        app: &str,
        limits: &Limits,
    ) -> Result<Option<u64>, ChatRefusal> {
        let left = match limits.daily_tokens {
            None => None,
            Some(most) => Some(self.tokens_left(account, app, most).await?),
        };
        if let Some(most) = limits.daily_calls {
            let calls = self.table.add(&self.key(account, app, "calls"), 1, self.end()).await?;
            if u64::try_from(calls).is_ok_and(|calls| calls > most) {
                return Err(self.refusal("calls", most));
            }
        }
        Ok(left)
    }

    /// Counts tokens that were used.
    pub(super) async fn spend(&self, account: &AccountId, app: &str, tokens: u64) -> Result<(), TableError> {
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        self.table.add(&self.key(account, app, "tokens"), tokens, self.end()).await.map(|_| ())
    }

    async fn tokens_left(&self, account: &AccountId, app: &str, most: u64) -> Result<u64, ChatRefusal> {
        let item = self.table.get(&self.key(account, app, "tokens")).await?;
        let used = item.and_then(|item| item.body.get("n").and_then(Value::as_u64)).unwrap_or_default();
        match most.saturating_sub(used) {
            0 => Err(self.refusal("tokens", most)),
            left => Ok(left),
        }
    }

    fn refusal(&self, what: &'static str, limit: u64) -> ChatRefusal {
        let now = self.clock.now().to_zoned_datetime(TimeZone::UTC);
        let midnight = now.tomorrow().and_then(|day| day.start_of_day());
        let wait = midnight.ok().and_then(|midnight| Duration::try_from(midnight.duration_since(&now)).ok());
        ChatRefusal::DailyLimit { what, limit, retry_after: wait.unwrap_or(Duration::from_secs(3600)) }
    }

    fn key(&self, account: &AccountId, app: &str, what: &str) -> Key {
        let day = self.clock.now().to_zoned_datetime(TimeZone::UTC).date();
        Kind::Quota.of(account).key(format!("app#{app}#{day}#{what}"))
    }

    fn end(&self) -> Option<Timestamp> {
        self.clock.now().checked_add(KEEP).ok()
    }
}
