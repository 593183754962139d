//! A clock that a test moves.

use domain::ports::Clock;
use jiff::Timestamp;
use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

/// Tells the time that a test has set; it begins at the machine's own, in whole milliseconds.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl Default for ManualClock {
    fn default() -> Self {
        Self(AtomicI64::new(Timestamp::now().as_millisecond()))
    }
}

impl ManualClock {
    /// Moves the time on.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// The time that is `by` from now.
    pub fn after(&self, by: Duration) -> Timestamp {
        self.now() + by
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}
