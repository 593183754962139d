//! `Signal`: a flag of a run, set by one instance and seen by another.

use crate::{account::AccountId, ports::TableError};
use async_trait::async_trait;
use std::time::Duration;

/// Why a flag could not be set or read.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Flags of runs, such as `stop` and `done`. A flag stays set for an hour.
#[async_trait]
pub trait Signal: Send + Sync {
    /// Sets a flag of a run.
    async fn set(&self, account: &AccountId, run: &str, flag: &str) -> Result<(), SignalError>;

    /// Whether a flag of a run is set.
    async fn is_set(&self, account: &AccountId, run: &str, flag: &str) -> Result<bool, SignalError>;

    /// Waits until a flag is set, at most `timeout`; says whether it is.
    async fn wait(
        &self,
        account: &AccountId,
        run: &str,
        flag: &str,
        timeout: Duration,
    ) -> Result<bool, SignalError>;
}
