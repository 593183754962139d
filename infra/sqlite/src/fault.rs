//! What went wrong in a statement, and what it means to whoever runs the product.

use domain::ports::TableError;
use rusqlite::ErrorCode;
use std::path::Path;

/// Why a job on a connection did not end well.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite says so.
    Sqlite(rusqlite::Error),
    /// The port's rules say so.
    Table(TableError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<TableError> for Fault {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl Fault {
    /// The port's error, naming the file and what to do.
    pub(crate) fn at(self, path: &Path) -> TableError {
        let error = match self {
            Self::Table(error) => return error,
            Self::Sqlite(error) => error,
        };
        let file = path.display();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => TableError::Throttled(format!(
                "another process is writing to {file} and did not finish in time; try again"
            )),
            Some(ErrorCode::DiskFull) => TableError::ReadOnly(format!(
                "{file} cannot grow: the disk, a quota or the configured size is full; free space and try again"
            )),
            Some(ErrorCode::ReadOnly) => TableError::ReadOnly(format!(
                "{file} is read-only: make the file and its directory writable for this user"
            )),
            Some(ErrorCode::NotADatabase) => TableError::Unusable(format!(
                "{file} is not an SQLite database: name another file, or move this one away to start anew"
            )),
            Some(ErrorCode::DatabaseCorrupt) => TableError::Unusable(format!(
                "{file} is damaged ({error}): restore it from a backup, or save what `sqlite3 FILE .recover` finds"
            )),
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => TableError::Unusable(format!(
                "{file} cannot be opened ({error}): it must be a file that this user may read and write, in a directory where this user may make files"
            )),
            _ => TableError::Failed(Box::new(error)),
        }
    }
}
