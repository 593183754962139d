//! The queue's and the signal's contracts, over SQLite files.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use contracts::{ManualClock, Subject, queue};
use domain::ports::{Queue, Signal, Table};
use infra_local_queue::{Settings, TableQueue, TableSignal};
use infra_sqlite::SqliteTable;
use std::sync::Arc;

fn table() -> Subject<dyn Table> {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let settings = infra_sqlite::Settings::new(directory.path().join("haft.db"));
    let table = || Arc::new(SqliteTable::with(settings.clone(), clock.clone()));
    Subject::new(table(), table(), clock.clone(), directory)
}

mod a_queue {
    use super::*;

    fn subject() -> Subject<dyn Queue> {
        let settings = Settings { visibility: queue::VISIBILITY, attempts: queue::ATTEMPTS };
        table().map(|table| -> Arc<dyn Queue> { Arc::new(TableQueue::new(table, "background", settings)) })
    }

    contracts::queue_contract!(std::future::ready(subject()));
}

mod a_signal {
    use super::*;

    fn subject() -> Subject<dyn Signal> {
        let subject = table();
        let clock = subject.clock.clone();
        subject.map(|table| -> Arc<dyn Signal> { Arc::new(TableSignal::with_clock(table, clock.clone())) })
    }

    contracts::signal_contract!(std::future::ready(subject()));
}
