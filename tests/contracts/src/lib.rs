//! One contract suite per port, run by every adapter.
//!
//! Each case is a plain async function that takes a [`Subject`]: an adapter over a store of its own. An
//! adapter's `tests/contract.rs` says how one is made and names the suite:
//!
//! ```ignore
//! fn subject() -> Subject<dyn Table> { … }
//! contracts::table_contract!(std::future::ready(subject()));
//! ```
//!
//! The suites know the ports, never an adapter. They are for tests alone.
#![allow(
    clippy::needless_pass_by_value,
    reason = "an assertion takes the result it is about, as it was given"
)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a suite fails its test by panicking: an expectation that does not hold is what it looks for"
)]

pub mod blobs;
pub mod catalog;
pub mod cipher;
mod clock;
pub mod faults;
pub mod queue;
pub mod signal;
mod subject;
pub mod table;

pub use clock::ManualClock;
pub use subject::Subject;

/// Makes one test of each named case of a suite.
#[doc(hidden)]
#[macro_export]
macro_rules! each_case {
    ($suite:path, $subject:expr, [$($case:ident)+]) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                use $suite as suite;
                suite::$case($subject.await).await;
            }
        )+
    };
}
