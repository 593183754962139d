//! The file and its connections: one that writes, a few that read, each used on a blocking thread.

use crate::{Settings, fault::Fault, schema};
use domain::ports::TableError;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::{
    fs, io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::{OnceCell, Semaphore};

/// How many reads run side by side.
const READERS: usize = 4;
/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 64;
/// How much of the file a connection keeps in memory at most; negative, as SQLite counts KiB. The reader used
/// last is the first to be used again, so that under light load only one cache fills.
const CACHE_KIB: i64 = -8000;

pub(crate) struct Store {
    settings: Arc<Settings>,
    writer: OnceCell<Arc<tokio::sync::Mutex<Connection>>>,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Store {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            writer: OnceCell::new(),
            turns: Arc::new(Semaphore::new(READERS)),
            idle: Arc::default(),
        }
    }

    pub(crate) async fn ready(&self) -> Result<(), TableError> {
        self.writer().await.map(drop)
    }

    /// Runs a job in one read transaction: it sees the file as it is at one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, TableError> {
        self.writer().await?;
        let turn = self.turns.clone().acquire_owned().await.map_err(failed)?;
        let (settings, idle) = (self.settings.clone(), self.idle.clone());
        blocking(move || {
            let _turn = turn;
            let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let run = || {
                let mut connection = match pooled {
                    Some(connection) => connection,
                    None => open(&settings, Access::Read)?,
                };
                let answer = job(&connection.transaction()?)?;
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
                Ok(answer)
            };
            run().map_err(|fault: Fault| fault.at(&settings.path))
        })
        .await
    }

    /// Runs a job in one write transaction: all of it is kept, or nothing when it fails.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, TableError> {
        // Waiting here costs no thread; a caller that goes away while the job runs does not stop it.
        let mut connection = self.writer().await?.clone().lock_owned().await;
        let settings = self.settings.clone();
        blocking(move || {
            let run = || {
                let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let answer = job(&tx)?;
                tx.commit()?;
                Ok(answer)
            };
            run().map_err(|fault: Fault| fault.at(&settings.path))
        })
        .await
    }

    async fn writer(&self) -> Result<&Arc<tokio::sync::Mutex<Connection>>, TableError> {
        self.writer
            .get_or_try_init(|| async {
                let settings = self.settings.clone();
                let connection =
                    blocking(move || open_first(&settings).map_err(|fault| fault.at(&settings.path)));
                Ok(Arc::new(tokio::sync::Mutex::new(connection.await?)))
            })
            .await
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

fn open_first(settings: &Settings) -> Result<Connection, Fault> {
    if settings.read_only {
        let mut connection = open(settings, Access::Read)?;
        schema::ensure(&mut connection, &settings.path, true)?;
        return Ok(connection);
    }
    make_private(&settings.path)?;
    let mut connection = open(settings, Access::Write)?;
    use_wal(&connection, settings.busy_timeout)?;
    schema::ensure(&mut connection, &settings.path, false)?;
    if let Some(bytes) = settings.max_bytes {
        let page: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes / page.max(1)).unwrap_or(i64::MAX).max(1);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

fn open(settings: &Settings, access: Access) -> Result<Connection, Fault> {
    let mode = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    // Each connection is used by one thread at a time: SQLite's own mutexes are not needed.
    let connection = Connection::open_with_flags(&settings.path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(settings.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    if access == Access::Write {
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update_and_check(None, "journal_size_limit", 64 << 20, |_| Ok(()))?;
    }
    Ok(connection)
}

/// Switches to WAL. SQLite does not wait by itself when two processes switch a new file at the same time.
fn use_wal(connection: &Connection, timeout: Duration) -> Result<(), Fault> {
    let deadline = Instant::now() + timeout;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return Ok(other?),
        }
    }
}

/// Makes the file for this user alone. SQLite's side files take over its mode.
fn make_private(path: &Path) -> Result<(), Fault> {
    let unusable = |error: io::Error| {
        Fault::Table(TableError::Unusable(format!(
            "{} cannot be made ({error}): name a file in a directory where this user may make files",
            path.display()
        )))
    };
    if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory).map_err(unusable)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(unusable(error)),
        _ => Ok(()),
    }
}

async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, TableError> + Send + 'static,
) -> Result<T, TableError> {
    tokio::task::spawn_blocking(job).await.map_err(failed)?
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> TableError {
    TableError::Failed(Box::new(error))
}
