//! The table's contract over SQLite files.
#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use contracts::{ManualClock, Subject};
use domain::ports::Table;
use infra_sqlite::{Settings, SqliteTable};
use std::sync::Arc;

fn subject() -> Subject<dyn Table> {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let settings = Settings::new(directory.path().join("haft.db"));
    let table = || Arc::new(SqliteTable::with(settings.clone(), clock.clone()));
    Subject::new(table(), table(), clock.clone(), directory)
}

mod table {
    contracts::table_contract!(std::future::ready(super::subject()));
}

mod catalog {
    contracts::catalog_contract!(std::future::ready(super::subject()));
}
