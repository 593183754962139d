//! What a case is run on.

use crate::ManualClock;
use std::{any::Any, fmt, sync::Arc};

/// An adapter over an empty store of its own.
pub struct Subject<P: ?Sized> {
    /// The adapter.
    pub it: Arc<P>,
    /// A second adapter over the same store, sharing nothing in the process: another instance.
    pub other: Arc<P>,
    /// The clock that both go by, where the port tells time at all.
    pub clock: Arc<ManualClock>,
    kept: Box<dyn Any + Send + Sync>,
}

impl<P: ?Sized> Subject<P> {
    /// A subject; `kept` lives as long as it (a temporary directory, a server).
    pub fn new(it: Arc<P>, other: Arc<P>, clock: Arc<ManualClock>, kept: impl Any + Send + Sync) -> Self {
        Self { it, other, clock, kept: Box::new(kept) }
    }

    /// The same store behind another port.
    pub fn map<Q: ?Sized>(self, wrap: impl Fn(Arc<P>) -> Arc<Q>) -> Subject<Q> {
        Subject { it: wrap(self.it), other: wrap(self.other), clock: self.clock, kept: self.kept }
    }
}

impl<P: ?Sized> fmt::Debug for Subject<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("clock", &self.clock).finish_non_exhaustive()
    }
}
