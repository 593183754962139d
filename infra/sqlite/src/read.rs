//! The statements that read. An expired item is never given.

use crate::fault::Fault;
use domain::{
    keys::Key,
    ports::{
        Item, Order, Page, Query, TableError,
        table_rules::{Span, cursor_after},
    },
};
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params, types::Value as Sql};
use std::ops::Bound;

/// A page ends early once its bodies have this many bytes.
const PAGE_BYTES: usize = 4 << 20;

pub(crate) fn get_many(tx: &Transaction<'_>, keys: Vec<Key>, now: i64) -> Result<Vec<Option<Item>>, Fault> {
    let mut select = tx.prepare_cached(
        "SELECT version, expires_at, body FROM item
         WHERE pk = ?1 AND sk = ?2 AND (expires_at IS NULL OR expires_at > ?3)",
    )?;
    let mut read = |key: Key| {
        let found = select.query_row(params![key.pk(), key.sk(), now], |row| Stored::of(row, 0));
        found.optional()?.map(|stored| stored.item(key)).transpose()
    };
    keys.into_iter().map(&mut read).collect()
}

pub(crate) fn query(tx: &Transaction<'_>, query: &Query, span: Span, now: i64) -> Result<Page, Fault> {
    let mut sql = String::from(
        "SELECT sk, version, expires_at, body FROM item
         WHERE pk = ?1 AND (expires_at IS NULL OR expires_at > ?2)",
    );
    let mut values = vec![Sql::from(query.partition.as_str().to_owned()), Sql::from(now)];
    for (bound, inclusive, exclusive) in [(span.lower, ">=", ">"), (span.upper, "<=", "<")] {
        let (operator, sk) = match bound {
            Bound::Included(sk) => (inclusive, sk),
            Bound::Excluded(sk) => (exclusive, sk),
            Bound::Unbounded => continue,
        };
        values.push(Sql::from(sk));
        sql.extend([" AND sk ", operator, " ?", &values.len().to_string()]);
    }
    sql.push_str(match query.order {
        Order::Ascending => " ORDER BY sk",
        Order::Descending => " ORDER BY sk DESC",
    });
    let mut select = tx.prepare_cached(&sql)?;
    let mut rows = select.query(rusqlite::params_from_iter(values))?;
    let (mut page, mut bytes) = (Page::default(), 0);
    while let Some(row) = rows.next()? {
        if page.items.len() == query.limit || bytes >= PAGE_BYTES {
            page.next_cursor = page.items.last().map(|item| cursor_after(item.key.sk()));
            break;
        }
        let stored = Stored::of(row, 1)?;
        bytes += stored.body.len();
        page.items.push(stored.item(query.partition.key(row.get::<_, String>(0)?))?);
    }
    Ok(page)
}

struct Stored {
    version: u64,
    expires_at: Option<i64>,
    body: String,
}

impl Stored {
    fn of(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self { version: row.get(first)?, expires_at: row.get(first + 1)?, body: row.get(first + 2)? })
    }

    fn item(self, key: Key) -> Result<Item, Fault> {
        let corrupt =
            |what: &str| Fault::Table(TableError::Unusable(format!("the {what} of {key} is not readable")));
        let body = serde_json::from_str(&self.body).map_err(|_| corrupt("body"))?;
        let expires_at =
            self.expires_at.map(Timestamp::from_millisecond).transpose().map_err(|_| corrupt("expiry"))?;
        Ok(Item { version: self.version, expires_at, body, key })
    }
}
