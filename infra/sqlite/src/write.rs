//! The statements that write, each run inside a transaction that holds the write lock: what a condition
//! sees cannot change before the write.

use crate::fault::Fault;
use domain::{
    keys::Key,
    ports::{Condition, TableError, Write, table_rules},
};
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::{Value, json};

/// How many expired items one sweep removes while it holds the write lock.
pub(crate) const SWEEP_BATCH: usize = 200;

/// A write whose body is text already, so that nothing is encoded under the lock.
pub(crate) struct Change {
    key: Key,
    condition: Condition,
    effect: Effect,
}

enum Effect {
    Put { body: String, expires_at: Option<i64> },
    Delete,
    Nothing,
}

impl Change {
    pub(crate) fn of(write: Write) -> Result<Self, TableError> {
        table_rules::check_key(write.key())?;
        Ok(match write {
            Write::Put { key, body, expires_at, condition } => Self {
                effect: Effect::Put {
                    body: table_rules::encode_body(&key, &body)?,
                    expires_at: expires_at.map(Timestamp::as_millisecond),
                },
                key,
                condition,
            },
            Write::Delete { key, condition } => Self { key, condition, effect: Effect::Delete },
            Write::Check { key, condition } => Self { key, condition, effect: Effect::Nothing },
        })
    }
}

/// Does one change and gives the item's new version, 0 where there is none.
pub(crate) fn apply(tx: &Transaction<'_>, change: &Change, now: i64) -> Result<u64, Fault> {
    let key = &change.key;
    let current = version(tx, key, now)?;
    let holds = match change.condition {
        Condition::Always => true,
        Condition::Absent => current.is_none(),
        Condition::Exists => current.is_some(),
        Condition::Version(wanted) => current == Some(wanted),
    };
    if !holds {
        return Err(TableError::ConditionFailed { key: key.clone() }.into());
    }
    match &change.effect {
        Effect::Put { body, expires_at } => {
            let next = current.unwrap_or(0) + 1;
            put(tx, key, next, *expires_at, body)?;
            Ok(next)
        }
        Effect::Delete => {
            tx.prepare_cached("DELETE FROM item WHERE pk = ?1 AND sk = ?2")?
                .execute(params![key.pk(), key.sk()])?;
            Ok(0)
        }
        Effect::Nothing => Ok(0),
    }
}

/// Adds to a counter.
pub(crate) fn add(
    tx: &Transaction<'_>,
    key: &Key,
    by: i64,
    expires_at: Option<Timestamp>,
    now: i64,
) -> Result<i64, Fault> {
    let invalid = |message: String| Fault::Table(TableError::Invalid(message));
    let current: Option<(u64, Option<i64>, String)> = tx
        .prepare_cached(
            "SELECT version, expires_at, body FROM item
             WHERE pk = ?1 AND sk = ?2 AND (expires_at IS NULL OR expires_at > ?3)",
        )?
        .query_row(params![key.pk(), key.sk(), now], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let (version, expires_at, before) = match current {
        None => (0, expires_at.map(Timestamp::as_millisecond), 0),
        Some((version, kept, body)) => {
            let body: Option<Value> = serde_json::from_str(&body).ok();
            let n = body.as_ref().and_then(|b| b.get("n")).and_then(Value::as_i64);
            let n = n.ok_or_else(|| invalid(format!("{key} is not a counter")))?;
            (version, kept, n)
        }
    };
    let sum = before
        .checked_add(by)
        .ok_or_else(|| invalid(format!("the counter {key} cannot hold {before} + {by}")))?;
    put(tx, key, version + 1, expires_at, &json!({"n": sum}).to_string())?;
    Ok(sum)
}

/// Removes a batch of expired items and gives their number.
pub(crate) fn sweep(tx: &Transaction<'_>, now: i64) -> Result<usize, Fault> {
    let mut delete = tx.prepare_cached(
        "DELETE FROM item WHERE (pk, sk) IN
         (SELECT pk, sk FROM item WHERE expires_at IS NOT NULL AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
    )?;
    Ok(delete.execute(params![now, SWEEP_BATCH])?)
}

fn version(tx: &Transaction<'_>, key: &Key, now: i64) -> Result<Option<u64>, Fault> {
    let mut select = tx.prepare_cached(
        "SELECT version FROM item WHERE pk = ?1 AND sk = ?2 AND (expires_at IS NULL OR expires_at > ?3)",
    )?;
    Ok(select.query_row(params![key.pk(), key.sk(), now], |row| row.get(0)).optional()?)
}

fn put(
    tx: &Transaction<'_>,
    key: &Key,
    version: u64,
    expires_at: Option<i64>,
    body: &str,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO item (pk, sk, version, expires_at, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (pk, sk) DO UPDATE SET
             version = excluded.version, expires_at = excluded.expires_at, body = excluded.body",
    )?
    .execute(params![key.pk(), key.sk(), version, expires_at, body])?;
    Ok(())
}
