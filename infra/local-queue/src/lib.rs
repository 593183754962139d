//! The [`Queue`] and [`Signal`] ports over any [`Table`].
//!
//! Both wake their waiters at once within a process; across processes they look again after a short while.
//! They know the table's port, never which store is behind it.
//!
//! [`Queue`]: domain::ports::Queue
//! [`Signal`]: domain::ports::Signal
//! [`Table`]: domain::ports::Table

mod queue;
mod records;
mod signal;

pub use queue::{Settings, TableQueue};
pub use signal::TableSignal;
