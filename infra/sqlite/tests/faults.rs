//! Full disks, files that are not ours, locks that are held, other processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

use contracts::ManualClock;
use domain::{
    AccountId,
    keys::{Key, Kind, Partition},
    ports::{Clock as _, Condition, Table as _, TableError, Write},
};
use infra_sqlite::{Settings, SqliteTable};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("haft.db");
    (directory, path)
}

fn with(settings: Settings) -> SqliteTable {
    SqliteTable::with(settings, Arc::new(ManualClock::default()))
}

fn partition() -> Partition {
    Kind::App.of(&AccountId::try_from("acc_1".to_owned()).unwrap())
}

fn large(seed: u64) -> Value {
    json!({"seed": seed, "text": "x".repeat(10_000)})
}

async fn read(table: &SqliteTable, key: &Key) -> Option<Value> {
    table.get(key).await.unwrap().map(|item| item.body)
}

async fn unusable(path: &Path) -> String {
    match SqliteTable::open(path).await.map(drop) {
        Err(error @ TableError::Unusable(_)) => {
            let message = error.to_string();
            assert!(message.contains(&path.display().to_string()), "{message}");
            message
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_full_disk_leaves_the_data_whole() {
    let (_directory, path) = place();
    let settings = Settings { max_bytes: Some(400_000), ..Settings::new(&path) };
    let table = with(settings);
    let key = |i: u64| partition().key(format!("{i:03}"));
    let mut stored = 0;
    let full = loop {
        match table.write(Write::put(key(stored), large(stored))).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 100, "the limit does not hold");
    };
    assert!(matches!(&full, TableError::ReadOnly(_)), "{full:?}");
    assert!(full.to_string().contains("free space") && full.to_string().contains("haft.db"), "{full}");

    let twenty = (500..520).map(|i| Write::put(key(i), large(i))).collect::<Vec<_>>();
    assert!(matches!(table.transact(twenty.clone()).await, Err(TableError::ReadOnly(_))));
    assert!(matches!(table.write_many(twenty).await, Err(TableError::ReadOnly(_))));
    let again = SqliteTable::open(&path).await.unwrap();
    for i in 0..stored {
        assert_eq!(read(&again, &key(i)).await, Some(large(i)));
    }
    assert_eq!(read(&again, &key(500)).await, None, "no part of the transaction stayed");

    table.write_many((0..stored).map(|i| Write::delete(key(i))).collect()).await.unwrap();
    table.write(Write::put(key(0), large(7))).await.unwrap();
    assert_eq!(read(&again, &key(0)).await, Some(large(7)), "with space, writing goes on");
}

#[tokio::test]
async fn a_read_only_file_is_read_and_not_written() {
    let (_directory, path) = place();
    let key = partition().key("it");
    let writer = SqliteTable::open(&path).await.unwrap();
    writer.write(Write::put(key.clone(), json!({}))).await.unwrap();
    let table = with(Settings { read_only: true, ..Settings::new(&path) });
    assert_eq!(read(&table, &key).await, Some(json!({})));
    for error in [
        table.write(Write::delete(key.clone())).await.map(drop),
        table.add(&partition().key("n"), 1, None).await.map(drop),
        table.write_many(vec![Write::delete(key.clone())]).await,
    ] {
        let error = error.unwrap_err();
        assert!(matches!(&error, TableError::ReadOnly(_)), "{error:?}");
        assert!(error.to_string().contains("read-only") && error.to_string().contains("haft.db"), "{error}");
    }
    assert_eq!(read(&writer, &key).await, Some(json!({})));
}

#[tokio::test]
async fn a_file_that_is_not_ours_is_named_and_kept() {
    let (directory, path) = place();
    let text = "this is no database, it is a text of some length. ".repeat(40);
    fs::write(&path, &text).unwrap();
    assert!(unusable(&path).await.contains("is not an SQLite database"));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    let foreign = directory.path().join("foreign.db");
    let connection = rusqlite::Connection::open(&foreign).unwrap();
    connection.execute_batch("CREATE TABLE notes (text)").unwrap();
    assert!(unusable(&foreign).await.contains("another program"));
    assert!(unusable(directory.path()).await.contains("cannot be opened"));
    fs::write(directory.path().join("file"), "").unwrap();
    assert!(unusable(&directory.path().join("file/haft.db")).await.contains("cannot be made"));
}

#[tokio::test]
async fn a_newer_or_damaged_file_is_said() {
    let (_directory, path) = place();
    drop(SqliteTable::open(&path).await.unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let message = unusable(&path).await;
    assert!(message.contains("newer version") && message.contains("schema is 2"), "{message}");

    let (_directory, path) = place();
    let table = SqliteTable::open(&path).await.unwrap();
    let writes = (0..200).map(|i| Write::put(partition().key(format!("{i:03}")), large(i)));
    table.write_many(writes.collect()).await.unwrap();
    drop(table);
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let table = SqliteTable::new(&path);
    let read = table.get(&partition().key("100")).await;
    assert!(
        matches!(&read, Err(TableError::Unusable(m)) if m.contains("haft.db") && m.contains("damaged")),
        "{read:?}"
    );
}

#[tokio::test]
async fn a_lock_held_too_long_is_overload_not_failure() {
    let (_directory, path) = place();
    let table = with(Settings { busy_timeout: Duration::from_millis(30), ..Settings::new(&path) });
    let key = partition().key("it");
    table.write(Write::put(key.clone(), json!({"n": 1}))).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = Write::put(key.clone(), json!({"n": 2}));
    let refused = table.write(write.clone()).await;
    assert!(matches!(refused, Err(TableError::Throttled(_))), "{refused:?}");
    assert_eq!(read(&table, &key).await, Some(json!({"n": 1})), "reads go on meanwhile");
    other.execute_batch("COMMIT").unwrap();
    table.write(write).await.unwrap();
}

#[tokio::test]
async fn the_file_is_made_late_and_for_its_owner_alone() {
    let (_directory, path) = place();
    let path = path.parent().unwrap().join("sub/haft.db");
    let table = SqliteTable::new(&path);
    assert!(!path.exists());
    table.ready().await.unwrap();
    table.write(Write::put(partition().key("it"), json!({}))).await.unwrap();
    for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
}

#[tokio::test]
async fn expired_items_are_swept() {
    let (_directory, path) = place();
    let clock = Arc::new(ManualClock::default());
    let table = SqliteTable::with(Settings::new(&path), clock.clone());
    let writes = (0..500).map(|i| Write::Put {
        key: partition().key(format!("{i:03}")),
        body: json!({}),
        expires_at: (i % 5 != 0).then(|| clock.now() + Duration::from_secs(i)),
        condition: Condition::Always,
    });
    table.write_many(writes.collect()).await.unwrap();
    clock.advance(Duration::from_secs(499));
    table.sweep().await.unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let left: i64 = connection.query_row("SELECT count(*) FROM item", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 100);
}

const CHILD: &str = "HAFT_TEST_CHILD_FILE";

/// Not a test by itself: what a second process does in the next one.
#[tokio::test]
#[ignore = "run by two_processes_share_a_file in a process of its own"]
async fn child_process_writes() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    work(&SqliteTable::new(path)).await;
}

async fn work(table: &SqliteTable) {
    for i in 0..150 {
        table.add(&partition().key("counter"), 1, None).await.unwrap();
        let won = table
            .write(Write::put_if(partition().key(format!("once#{i}")), json!({}), Condition::Absent))
            .await;
        match won {
            Ok(_) => drop(table.add(&partition().key("won"), 1, None).await.unwrap()),
            Err(error) => assert!(error.is_conflict(), "{error}"),
        }
    }
}

#[tokio::test]
async fn two_processes_share_a_file() {
    let (_directory, path) = place();
    #[expect(clippy::disallowed_methods, reason = "the test needs a second process on the same file")]
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_process_writes", "--ignored"])
        .env(CHILD, &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let table = SqliteTable::new(&path);
    work(&table).await;
    assert!(child.wait().unwrap().success());
    assert_eq!(read(&table, &partition().key("counter")).await, Some(json!({"n": 300})));
    assert_eq!(read(&table, &partition().key("won")).await, Some(json!({"n": 150})));
}
