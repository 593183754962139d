//! The table's contract over SQLite files.

use contracts::{ManualClock, Subject};
use domain::ports::Table;
use infra_sqlite::{Settings, SqliteTable};
use std::sync::Arc;

async fn subject() -> Subject<dyn Table> {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let settings = Settings::new(directory.path().join("haft.db"));
    let table = || Arc::new(SqliteTable::with(settings.clone(), clock.clone()));
    Subject::new(table(), table(), clock.clone(), directory)
}

mod table {
    contracts::table_contract!(super::subject());
}

mod catalog {
    contracts::catalog_contract!(super::subject());
}
