//! Writes: one, all or none, each, and counters.

mod add;
mod each;
mod expression;
mod one;
mod transaction;

use crate::{
    DynamoDbTable,
    parts::{Group, INLINE_BYTES, TRANSACTION_BYTES},
    record::Content,
};
use domain::{
    keys::Key,
    ports::{Condition, TableError, Write, table_rules},
};
use jiff::Timestamp;
use one::One;
use transaction::Transaction;
use uuid::Uuid;

/// A write whose body is as DynamoDB holds it.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) key: Key,
    pub(crate) condition: Condition,
    pub(crate) effect: Effect,
}

#[derive(Debug)]
pub(crate) enum Effect {
    Put { content: Content, expires: Option<i64> },
    Delete,
    Check,
}

/// Changes, and the parts that were written for them.
struct Prepared {
    changes: Vec<Change>,
    groups: Vec<Group>,
}

fn new_id() -> String {
    Uuid::now_v7().simple().to_string()
}

impl DynamoDbTable {
    pub(crate) async fn write_one(&self, write: Write) -> Result<u64, TableError> {
        if let Write::Check { key, condition } = write {
            return self.check(key, condition).await;
        }
        let Prepared { mut changes, groups } = self.prepare(vec![write], INLINE_BYTES).await?;
        let Some(change) = changes.pop() else { return Ok(0) };
        let write = One::new(change, self.now());
        match self.settle(&write).await {
            Ok((version, replaced)) => {
                self.drop_parts(replaced.into_iter().collect()).await;
                Ok(version)
            }
            Err(ended) => Err(self.give_up(ended, groups, |_| write.change.key.clone()).await),
        }
    }

    pub(crate) async fn write_all_or_none(&self, writes: Vec<Write>) -> Result<(), TableError> {
        let inline = (TRANSACTION_BYTES / writes.len().max(1)).min(INLINE_BYTES);
        let Prepared { changes, groups } = self.prepare(writes, inline).await?;
        let replaced = self.groups_at(&changes).await?;
        let transaction = Transaction::new(changes, self.now());
        if transaction.is_empty() {
            return Ok(());
        }
        match self.settle(&transaction).await {
            Ok(()) => {
                self.drop_parts(replaced).await;
                Ok(())
            }
            Err(ended) => Err(self.give_up(ended, groups, |at| transaction.key(at)).await),
        }
    }

    /// Encodes writes, and writes the parts of bodies with more than `inline` bytes.
    async fn prepare(&self, writes: Vec<Write>, inline: usize) -> Result<Prepared, TableError> {
        let (mut changes, mut large) = (Vec::with_capacity(writes.len()), Vec::new());
        for write in writes {
            table_rules::check_key(write.key())?;
            let (key, condition, effect) = match write {
                Write::Put { key, body, expires_at, condition } => {
                    let text = table_rules::encode_body(&key, &body)?;
                    let expires = expires_at.map(Timestamp::as_millisecond);
                    if text.len() > inline {
                        large.push((changes.len(), text.clone()));
                    }
                    let content = Content::inline(&body, text);
                    (key, condition, Effect::Put { content, expires })
                }
                Write::Delete { key, condition } => (key, condition, Effect::Delete),
                Write::Check { key, condition } => (key, condition, Effect::Check),
            };
            changes.push(Change { key, condition, effect });
        }
        // Nothing is written before all is known to be legal.
        let mut groups = Vec::with_capacity(large.len());
        for (at, text) in large {
            let change: &mut Change = &mut changes[at];
            if let Effect::Put { content, expires } = &mut change.effect {
                let (parts, group) = self.store_parts(&change.key, &text, *expires).await?;
                *content = parts;
                groups.push(group);
            }
        }
        Ok(Prepared { changes, groups })
    }

    /// The error to give, once parts that were written for nothing are removed.
    async fn give_up(
        &self,
        ended: crate::attempt::Ended,
        groups: Vec<Group>,
        key: impl Fn(usize) -> Key,
    ) -> TableError {
        use crate::attempt::Ended;
        match ended {
            // Perhaps it was done: then its parts are in use.
            Ended::Unknown(error) => error,
            Ended::NotDone(error) => {
                self.drop_parts(groups).await;
                error
            }
            Ended::ConditionFailed(at) => {
                self.drop_parts(groups).await;
                TableError::ConditionFailed { key: key(at) }
            }
        }
    }

    /// The parts that the items about to be replaced or removed have now.
    async fn groups_at(&self, changes: &[Change]) -> Result<Vec<Group>, TableError> {
        let written = changes.iter().filter(|change| !matches!(change.effect, Effect::Check));
        let places = written.map(|change| (change.key.pk().to_owned(), change.key.sk().to_owned()));
        let found = self.batch_get(places, crate::batch::Reading::PartsOnly).await?;
        Ok(found.iter().filter_map(|((pk, _), item)| Group::of(pk, item)).collect())
    }

    async fn check(&self, key: Key, condition: Condition) -> Result<u64, TableError> {
        table_rules::check_key(&key)?;
        let version = self.read_record(&key).await?.map(|record| record.version);
        let holds = match condition {
            Condition::Always => true,
            Condition::Absent => version.is_none(),
            Condition::Exists => version.is_some(),
            Condition::Version(wanted) => version == Some(wanted),
        };
        if holds { Ok(0) } else { Err(TableError::ConditionFailed { key }) }
    }
}
