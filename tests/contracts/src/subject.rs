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
    /// A part of how often races and random cases are repeated, for a store that answers slowly.
    share: usize,
    kept: Box<dyn Any + Send + Sync>,
}

impl<P: ?Sized> Subject<P> {
    /// A subject; `kept` lives as long as it (a temporary directory, a server).
    pub fn new(it: Arc<P>, other: Arc<P>, clock: Arc<ManualClock>, kept: impl Any + Send + Sync) -> Self {
        Self { it, other, clock, share: 1, kept: Box::new(kept) }
    }

    /// The same subject, for which races and random cases are repeated a quarter as often.
    pub fn slow(self) -> Self {
        Self { share: 4, ..self }
    }

    /// How often to repeat what is usually repeated `usual` times.
    pub fn times(&self, usual: usize) -> usize {
        usual.div_ceil(self.share)
    }

    /// The same store behind another port.
    pub fn map<Q: ?Sized>(self, wrap: impl Fn(Arc<P>) -> Arc<Q>) -> Subject<Q> {
        Subject {
            it: wrap(self.it),
            other: wrap(self.other),
            clock: self.clock,
            share: self.share,
            kept: self.kept,
        }
    }
}

impl<P: ?Sized> fmt::Debug for Subject<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("clock", &self.clock).finish_non_exhaustive()
    }
}
