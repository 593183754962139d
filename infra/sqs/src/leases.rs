//! Until when the deliveries that this instance received are its own.

use domain::ports::QueueError;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Beyond so many, those that are over are forgotten; a forgotten one is left to SQS to judge.
const REMEMBERED: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<HashMap<String, Instant>>);

impl Leases {
    pub(crate) fn hold(&self, receipt: &str, until: Instant) {
        let mut leases = self.leases();
        if leases.len() >= REMEMBERED {
            let now = Instant::now();
            leases.retain(|_, until| *until > now);
        }
        leases.insert(receipt.to_owned(), until);
    }

    pub(crate) fn check(&self, receipt: &str) -> Result<(), QueueError> {
        let over = |until: &Instant| *until <= Instant::now();
        if receipt.is_empty() || self.leases().get(receipt).is_some_and(over) {
            return Err(QueueError::Lost);
        }
        Ok(())
    }

    /// What is settled is over at once.
    pub(crate) fn end(&self, receipt: &str) {
        self.hold(receipt, Instant::now());
    }

    fn leases(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
