//! Many unconditional writes, in batches.

use super::{Change, Effect, Prepared, new_id};
use crate::{
    DynamoDbTable,
    parts::{INLINE_BYTES, delete, put},
    record::{self, int, string},
};
use aws_sdk_dynamodb::types::WriteRequest;
use domain::ports::{TableError, Write};
use jiff::Timestamp;
use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
};

impl DynamoDbTable {
    pub(crate) async fn write_each(&self, writes: Vec<Write>) -> Result<(), TableError> {
        let Prepared { changes, .. } = self.prepare(last_of_each_key(writes), INLINE_BYTES).await?;
        let replaced = self.groups_at(&changes).await?;
        let id = new_id();
        let requests = changes.iter().map(|change| request(change, &id)).collect::<Result<Vec<_>, _>>()?;
        self.batch_write(requests).await?;
        self.drop_parts(replaced).await;
        Ok(())
    }
}

/// A batch takes each key once: the last write counts.
fn last_of_each_key(writes: Vec<Write>) -> Vec<Write> {
    let mut seen = HashSet::new();
    let mut kept: Vec<Write> = writes.into_iter().rev().filter(|w| seen.insert(w.key().clone())).collect();
    kept.reverse();
    kept
}

fn request(change: &Change, id: &str) -> Result<WriteRequest, TableError> {
    let Effect::Put { content, expires } = &change.effect else {
        return delete(change.key.pk(), change.key.sk());
    };
    let mut item = record::key_attributes(change.key.pk(), change.key.sk());
    let held = content.attributes().into_iter().chain(expires.iter().flat_map(|at| record::expiry(*at)));
    item.extend(held.map(|(name, value)| (name.to_owned(), value)));
    item.insert("v".to_owned(), int(leap()));
    item.insert("w".to_owned(), string(id));
    put(item)
}

/// A version that no earlier write of the key has had. A batch cannot count on from the one before it, so the
/// version leaps to the time in microseconds.
fn leap() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = u64::try_from(Timestamp::now().as_microsecond()).unwrap_or(1);
    let next = |last: u64| Some(now.max(last + 1));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    now.max(last.unwrap_or_default() + 1)
}
