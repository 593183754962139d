//! Batches: any number of keys or writes, in requests of what DynamoDB takes, each repeated until nothing is
//! left unprocessed.

use crate::{
    DynamoDbTable,
    backoff::Backoff,
    fault::{Outcome, fault, outcome, throttled},
    record::{Attributes, text},
};
use aws_sdk_dynamodb::types::{KeysAndAttributes, WriteRequest};
use domain::ports::TableError;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use std::collections::{HashMap, HashSet};

const GET_BATCH: usize = 100;
const WRITE_BATCH: usize = 25;
/// How many batches are under way at a time.
const AT_ONCE: usize = 8;

/// What is read of each item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// All of it, as the last write left it.
    Whole,
    /// Where its parts are, as it was a moment ago at the latest.
    PartsOnly,
}

/// Items by partition and sort key.
pub(crate) type Found = HashMap<(String, String), Attributes>;

impl DynamoDbTable {
    /// Reads items. Duplicate keys are read once.
    pub(crate) async fn batch_get(
        &self,
        keys: impl IntoIterator<Item = (String, String)>,
        reading: Reading,
    ) -> Result<Found, TableError> {
        let keys: Vec<(String, String)> = keys.into_iter().collect::<HashSet<_>>().into_iter().collect();
        let batches: Vec<Vec<Attributes>> = keys
            .chunks(GET_BATCH)
            .map(|batch| batch.iter().map(|(pk, sk)| crate::record::key_attributes(pk, sk)).collect())
            .collect();
        let answers = stream::iter(batches).map(|batch| self.get_batch(batch, reading));
        let answers: Vec<Vec<Attributes>> = answers.buffer_unordered(AT_ONCE).try_collect().await?;
        let keyed = |item: Attributes| {
            let place = (text(&item, "pk")?.to_owned(), text(&item, "sk")?.to_owned());
            Some((place, item))
        };
        Ok(answers.into_iter().flatten().filter_map(keyed).collect())
    }

    async fn get_batch(
        &self,
        keys: Vec<Attributes>,
        reading: Reading,
    ) -> Result<Vec<Attributes>, TableError> {
        let mut items = Vec::with_capacity(keys.len());
        let mut left = keys;
        let mut backoff = Backoff::default();
        loop {
            let mut wanted =
                KeysAndAttributes::builder().set_keys(Some(left)).consistent_read(reading == Reading::Whole);
            if reading == Reading::PartsOnly {
                wanted = wanted.projection_expression("pk, sk, g, p");
            }
            let wanted = wanted.build().map_err(|e| TableError::Failed(Box::new(e)))?;
            let request = self.reads.batch_get_item().request_items(&*self.name, wanted);
            let answer = request.send().await.map_err(|e| fault(&self.name, e))?;
            items.extend(answer.responses.into_iter().flatten().flat_map(|(_, found)| found));
            left = answer.unprocessed_keys.into_iter().flatten().flat_map(|(_, rest)| rest.keys).collect();
            if left.is_empty() {
                return Ok(items);
            }
            if !backoff.pause().await {
                return Err(throttled(&self.name, "UnprocessedKeys"));
            }
        }
    }

    /// Does unconditional puts and deletes, each to another key.
    pub(crate) async fn batch_write(&self, writes: Vec<WriteRequest>) -> Result<(), TableError> {
        let batches: Vec<Vec<WriteRequest>> = writes.chunks(WRITE_BATCH).map(<[_]>::to_vec).collect();
        stream::iter(batches)
            .map(|batch| self.write_batch(batch))
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    async fn write_batch(&self, writes: Vec<WriteRequest>) -> Result<(), TableError> {
        let mut left = writes;
        let mut backoff = Backoff::default();
        loop {
            let request = self.writes.batch_write_item().request_items(&*self.name, left.clone());
            match request.send().await {
                Ok(answer) => {
                    left =
                        answer.unprocessed_items.into_iter().flatten().flat_map(|(_, rest)| rest).collect();
                    if left.is_empty() {
                        return Ok(());
                    }
                    if !backoff.pause().await {
                        return Err(throttled(&self.name, "UnprocessedItems"));
                    }
                }
                // Writing the same once more changes nothing, so also what may have been done is repeated.
                Err(error) => {
                    if outcome(&error) == Outcome::Refused || !backoff.pause().await {
                        return Err(fault(&self.name, error));
                    }
                }
            }
        }
    }
}
