//! `Breaker`: after a few outages in a row, calls fail at once for a while instead of waiting for the next.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How many outages in a row open it.
const THRESHOLD: u32 = 3;
/// How long it stays open at first; doubled by each failed trial.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// How long it stays open at most.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Counts the outages of one server.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    outages: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Whether a call may be made now; otherwise how long it is still closed to calls.
    ///
    /// When a pause is over one call is let through as a trial, and the others go on waiting for it.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), Duration> {
        let mut state = self.state();
        match state.open_until {
            Some(until) if now < until => Err(until - now),
            Some(_) => {
                state.open_until = Some(now + pause(state.outages));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The server answered.
    pub(crate) fn worked(&self) {
        let mut state = self.state();
        if state.outages > 0 {
            *state = State::default();
        }
    }

    /// The server was down.
    pub(crate) fn failed(&self, now: Instant) {
        let mut state = self.state();
        state.outages = state.outages.saturating_add(1);
        if state.outages >= THRESHOLD {
            state.open_until = Some(now + pause(state.outages));
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pause(outages: u32) -> Duration {
    let doublings = outages.saturating_sub(THRESHOLD).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_outages_in_a_row_and_lets_one_trial_through() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        for _ in 0..THRESHOLD - 1 {
            breaker.failed(start);
        }
        breaker.worked();
        for _ in 0..THRESHOLD {
            assert_eq!(breaker.admit(start), Ok(()));
            breaker.failed(start);
        }
        assert_eq!(breaker.admit(start), Err(FIRST_PAUSE));
        let later = start + FIRST_PAUSE;
        assert_eq!(breaker.admit(later), Ok(()));
        assert!(breaker.admit(later).is_err(), "only one trial at a time");
        breaker.failed(later);
        assert_eq!(breaker.admit(later), Err(FIRST_PAUSE * 2));
        assert_eq!(breaker.admit(later + FIRST_PAUSE * 2), Ok(()));
        breaker.worked();
        assert_eq!(breaker.admit(later), Ok(()));
    }

    #[test]
    fn the_pause_has_a_limit() {
        assert_eq!(pause(1000), LONGEST_PAUSE);
    }
}
