//! What surrounds one request: until when, for whom, and who hears of its progress.

use super::error::CallError;
use domain::{CallContext, tool::Progress};
use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// The bounds of one request.
#[derive(Clone)]
pub(crate) struct CallOptions {
    /// When it must have ended.
    pub(crate) deadline: Instant,
    /// How long it may take without a sign of progress.
    pub(crate) patience: Duration,
    /// Set when the caller goes away.
    pub(crate) cancel: CancellationToken,
    /// Where to report progress, if anyone listens.
    pub(crate) progress: Option<Arc<dyn Progress>>,
}

impl CallOptions {
    /// A request that must end within `timeout`, which nobody cancels or watches.
    pub(crate) fn within(timeout: Duration) -> Self {
        Self {
            deadline: Instant::now() + timeout,
            patience: timeout,
            cancel: CancellationToken::new(),
            progress: None,
        }
    }

    /// A request on behalf of a call: the server's own limit counts from its last sign of progress, the
    /// call's deadline in any case.
    pub(crate) fn of(cx: &CallContext, patience: Duration) -> Self {
        Self { deadline: cx.deadline, patience, cancel: cx.cancel.clone(), progress: cx.progress.clone() }
    }

    /// How long is left.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("deadline", &self.deadline)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// Watches one request: progress restarts its patience, nothing moves its deadline.
pub(crate) struct Watch {
    options: CallOptions,
    started: Instant,
    heard: Mutex<Instant>,
}

impl Watch {
    pub(crate) fn new(options: &CallOptions) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self { options: options.clone(), started: now, heard: Mutex::new(now) })
    }

    /// Whether somebody wants to hear of progress.
    pub(crate) fn wants_progress(&self) -> bool {
        self.options.progress.is_some()
    }

    /// Takes a report of progress.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if let Some(progress) = &self.options.progress {
            progress.report(done, total, message);
        }
    }

    /// Waits for `work` as long as the bounds allow.
    pub(crate) async fn over<T>(
        &self,
        work: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        tokio::select! {
            biased;
            () = self.options.cancel.cancelled() => Err(CallError::Cancelled),
            result = work => result,
            () = self.expired() => Err(CallError::Timeout(self.started.elapsed())),
        }
    }

    async fn expired(&self) {
        loop {
            let until = self.until();
            tokio::time::sleep_until(until.into()).await;
            if Instant::now() >= self.until() {
                return;
            }
        }
    }

    fn until(&self) -> Instant {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        (heard + self.options.patience).min(self.options.deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn progress_restarts_patience_but_never_moves_the_deadline() {
        let options = CallOptions {
            patience: Duration::from_millis(50),
            ..CallOptions::within(Duration::from_mins(10))
        };
        let watch = Watch::new(&options);
        let silent = watch.over(std::future::pending::<Result<(), _>>()).await;
        assert!(matches!(silent, Err(CallError::Timeout(_))));

        let options = CallOptions::within(Duration::ZERO);
        let late = Watch::new(&options).over(std::future::pending::<Result<(), _>>()).await;
        assert!(matches!(late, Err(CallError::Timeout(_))));
        options.cancel.cancel();
        let cancelled = Watch::new(&options).over(async { Ok(()) }).await;
        assert!(matches!(cancelled, Err(CallError::Cancelled)));
    }
}
