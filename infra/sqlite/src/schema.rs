//! The one table, and how a file is recognised as ours.

use crate::fault::Fault;
use domain::ports::TableError;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// "HAFT": marks the file as ours.
const APPLICATION_ID: i32 = 0x4841_4654;
/// The shape of the table. Raise it with every change of shape, and migrate from the one before.
const SCHEMA_VERSION: i32 = 1;

/// Keys are compared bytewise (the BINARY collation), so that a range is what the port says it is. The table
/// keeps its row ids: bodies of some hundred bytes inside the key's own tree made pages of 100 items half as
/// fast.
const SCHEMA: &str = "
    CREATE TABLE item (
        pk         TEXT    NOT NULL,
        sk         TEXT    NOT NULL,
        version    INTEGER NOT NULL,
        expires_at INTEGER,
        body       TEXT    NOT NULL,
        PRIMARY KEY (pk, sk)
    ) STRICT;
    CREATE INDEX item_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;
";

/// Makes the table in a new file; refuses a file that is another program's or a newer version's.
pub(crate) fn ensure(connection: &mut Connection, path: &Path, read_only: bool) -> Result<(), Fault> {
    if recognise(connection, path)? {
        return Ok(());
    }
    if read_only {
        return Err(unusable(format!(
            "{} is empty and was opened for reading only: open it for writing once",
            path.display()
        )));
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made it while this one waited for the lock.
    if !recognise(&tx, path)? {
        tx.execute_batch(SCHEMA)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    Ok(tx.commit()?)
}

/// Whether the file has our table; false for a new file.
fn recognise(connection: &Connection, path: &Path) -> Result<bool, Fault> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let file = path.display();
    match (application, version) {
        (APPLICATION_ID, SCHEMA_VERSION) => Ok(true),
        (APPLICATION_ID, newer) if newer > SCHEMA_VERSION => Err(unusable(format!(
            "{file} was written by a newer version (its schema is {newer}, this version knows {SCHEMA_VERSION}): use that version, or another file"
        ))),
        (0, 0) if objects == 0 => Ok(false),
        _ => Err(unusable(format!("{file} is the SQLite database of another program: name another file"))),
    }
}

fn unusable(message: String) -> Fault {
    Fault::Table(TableError::Unusable(message))
}
