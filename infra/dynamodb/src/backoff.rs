//! Pauses between attempts: they double, and are random, so that many instances do not come back together.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(25);
const LONGEST: Duration = Duration::from_secs(2);
/// About five seconds in all, by the average of the pauses.
const ATTEMPTS: u32 = 9;

#[derive(Debug, Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// Waits before the next attempt; false, at once, when there have been enough.
    pub(crate) async fn pause(&mut self) -> bool {
        self.0 += 1;
        if self.0 >= ATTEMPTS {
            return false;
        }
        let longest = FIRST.saturating_mul(1 << (self.0 - 1)).min(LONGEST);
        let part = f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX);
        tokio::time::sleep(longest.mul_f64(part)).await;
        true
    }

    /// How many attempts have been made.
    pub(crate) fn attempts(&self) -> u32 {
        self.0
    }
}
