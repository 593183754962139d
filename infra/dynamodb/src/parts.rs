//! Bodies too large for one item.
//!
//! Such a body's text is cut into parts, items of the same partition under sort keys that no caller can name.
//! Each write makes a new group of parts before it, and the record then names its group: readers see the old
//! body or the new. Whoever replaced or removed a record removes its parts after that; a reader who finds
//! parts missing reads the record again. A write that dies between leaves parts that nobody names; they cost
//! their storage and nothing else.

use crate::{
    DynamoDbTable,
    batch::{Found, Reading},
    record::{self, Content, Record, text},
};
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use domain::{
    keys::Key,
    ports::{Item, TableError, table_rules},
};
use std::collections::HashMap;
use uuid::Uuid;

/// The most bytes of a body in its own item: the limit is 400 KB, and keys and the rest need room.
pub(crate) const INLINE_BYTES: usize = 350_000;
/// The most bytes of all bodies that one transaction carries: the limit is 4 MB.
pub(crate) const TRANSACTION_BYTES: usize = 3_500_000;
/// The most bytes of one part.
const PART_BYTES: usize = 380_000;
/// How often a record is read again when its parts are gone.
const READS: usize = 5;

/// A group of parts that has been, or will be, written.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) pk: String,
    pub(crate) id: String,
    pub(crate) count: usize,
}

impl Group {
    /// The group that a stored item names.
    pub(crate) fn of(pk: &str, attributes: &record::Attributes) -> Option<Self> {
        let (id, count) = record::parts_of(attributes)?;
        Some(Self { pk: pk.to_owned(), id, count })
    }

    fn places(&self) -> impl Iterator<Item = (String, String)> {
        let sk = |at: usize| format!("{}{}#{at:04}", table_rules::RESERVED, self.id);
        (0..self.count).map(move |at| (self.pk.clone(), sk(at)))
    }

    /// The body's text, if every part is there.
    fn join(&self, found: &Found) -> Option<String> {
        self.places().map(|place| found.get(&place).and_then(|item| text(item, "b"))).collect()
    }
}

impl DynamoDbTable {
    /// Writes a body's parts, and gives what the record is to hold.
    pub(crate) async fn store_parts(
        &self,
        key: &Key,
        body: &str,
        expires: Option<i64>,
    ) -> Result<(Content, Group), TableError> {
        let parts = cut(body);
        let group =
            Group { pk: key.pk().to_owned(), id: Uuid::now_v7().simple().to_string(), count: parts.len() };
        let puts = group.places().zip(parts).map(|((pk, sk), part)| {
            let mut item = record::key_attributes(&pk, &sk);
            item.insert("b".to_owned(), record::string(part));
            for (name, value) in expires.into_iter().flat_map(record::expiry) {
                item.insert(name.to_owned(), value);
            }
            put(item)
        });
        let puts = puts.collect::<Result<Vec<_>, _>>()?;
        self.batch_write(puts).await?;
        let content = Content::Parts { group: group.id.clone(), count: group.count };
        Ok((content, group))
    }

    /// Removes parts that no record names any more. Their being left is no failure of what was asked for.
    pub(crate) async fn drop_parts(&self, groups: Vec<Group>) {
        let deletes = groups.iter().flat_map(Group::places).map(|(pk, sk)| delete(&pk, &sk));
        let removed = match deletes.collect::<Result<Vec<_>, _>>() {
            Ok(deletes) => self.batch_write(deletes).await,
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, table = %self.name, "parts of a replaced body were not removed");
        }
    }

    /// Completes records with their parts, if they have any.
    pub(crate) async fn complete(&self, records: Vec<Record>) -> Result<Vec<Option<Item>>, TableError> {
        let groups: Vec<Option<Group>> = records.iter().map(group_of).collect();
        let places = groups.iter().flatten().flat_map(Group::places).collect::<Vec<_>>();
        let found =
            if places.is_empty() { HashMap::new() } else { self.batch_get(places, Reading::Whole).await? };
        let mut items = Vec::with_capacity(records.len());
        for (record, group) in records.into_iter().zip(groups) {
            items.push(match group.map(|group| group.join(&found)) {
                None => Some(record.item(None)?),
                Some(Some(body)) => Some(record.item(Some(&body))?),
                Some(None) => self.read_again(record.key).await?,
            });
        }
        Ok(items)
    }

    /// Reads a record whose parts were gone: somebody has replaced it meanwhile.
    async fn read_again(&self, key: Key) -> Result<Option<Item>, TableError> {
        for _ in 0..READS {
            let Some(record) = self.read_record(&key).await? else {
                return Ok(None);
            };
            let Some(group) = group_of(&record) else {
                return record.item(None).map(Some);
            };
            let found = self.batch_get(group.places(), Reading::Whole).await?;
            if let Some(body) = group.join(&found) {
                return record.item(Some(&body)).map(Some);
            }
        }
        Err(TableError::Unusable(format!("parts of the stored body of {key} are missing")))
    }
}

fn group_of(record: &Record) -> Option<Group> {
    match &record.content {
        Content::Parts { group, count } => {
            Some(Group { pk: record.key.pk().to_owned(), id: group.clone(), count: *count })
        }
        _ => None,
    }
}

pub(crate) fn put(item: record::Attributes) -> Result<WriteRequest, TableError> {
    let put = PutRequest::builder().set_item(Some(item)).build();
    let put = put.map_err(|e| TableError::Failed(Box::new(e)))?;
    Ok(WriteRequest::builder().put_request(put).build())
}

pub(crate) fn delete(pk: &str, sk: &str) -> Result<WriteRequest, TableError> {
    let key = record::key_attributes(pk, sk);
    let delete = DeleteRequest::builder().set_key(Some(key)).build();
    let delete = delete.map_err(|e| TableError::Failed(Box::new(e)))?;
    Ok(WriteRequest::builder().delete_request(delete).build())
}

/// Cuts a text into parts between characters.
fn cut(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let text = "\u{1f600}".repeat(300_000);
        let parts = cut(&text);
        assert_eq!(parts.concat(), text);
        assert!(parts.len() == 4 && parts.iter().all(|part| part.len() <= PART_BYTES));
        assert!(cut("").is_empty());
    }
}
