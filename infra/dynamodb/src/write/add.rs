//! Counters.

use super::{Change, Effect, new_id, one, one::One};
use crate::{
    DynamoDbTable,
    attempt::{Attempt, Ended, Sent, Trace},
    record::{self, Content, int, string},
};
use aws_sdk_dynamodb::types::ReturnValue;
use domain::{
    keys::Key,
    ports::{Condition, TableError},
};
use jiff::Timestamp;
use std::collections::HashMap;

/// How often a counter is looked at again when others begin and end it at the same time.
const ROUNDS: usize = 16;

/// An addition to a counter that runs.
struct Addition<'a> {
    key: &'a Key,
    by: i64,
    id: String,
    now: i64,
}

impl DynamoDbTable {
    pub(crate) async fn add_to(
        &self,
        key: &Key,
        by: i64,
        expires_at: Option<Timestamp>,
    ) -> Result<i64, TableError> {
        for _ in 0..ROUNDS {
            let addition = Addition { key, by, id: new_id(), now: self.now() };
            match self.settle(&addition).await {
                Ok(sum) => return Ok(sum),
                Err(Ended::NotDone(error) | Ended::Unknown(error)) => return Err(error),
                Err(Ended::ConditionFailed(_)) => {}
            }
            if self.may_begin(key, by).await? && self.begin(key, by, expires_at).await? {
                return Ok(by);
            }
        }
        Err(TableError::Throttled(format!("the counter {key} changes too fast")))
    }

    /// Why an addition could not be done: whether because no counter runs.
    async fn may_begin(&self, key: &Key, by: i64) -> Result<bool, TableError> {
        let invalid = |message: String| Err(TableError::Invalid(message));
        match self.read_record(key).await?.map(|record| record.content) {
            None => Ok(true),
            Some(Content::Number(n)) if n.checked_add(by).is_none() => {
                invalid(format!("the counter {key} cannot hold {n} + {by}"))
            }
            Some(Content::Number(_)) => Ok(false),
            Some(_) => invalid(format!("{key} is not a counter")),
        }
    }

    /// Begins a counter; false when somebody else was faster.
    async fn begin(&self, key: &Key, by: i64, expires_at: Option<Timestamp>) -> Result<bool, TableError> {
        let effect =
            Effect::Put { content: Content::Number(by), expires: expires_at.map(Timestamp::as_millisecond) };
        let change = Change { key: key.clone(), condition: Condition::Absent, effect };
        match self.settle(&One::new(change, self.now())).await {
            Ok((_, replaced)) => {
                self.drop_parts(replaced.into_iter().collect()).await;
                Ok(true)
            }
            Err(Ended::ConditionFailed(_)) => Ok(false),
            Err(Ended::NotDone(error) | Ended::Unknown(error)) => Err(error),
        }
    }
}

impl Attempt for Addition<'_> {
    type Answer = i64;

    async fn send(&self, table: &DynamoDbTable) -> Sent<i64> {
        // Within what 64 bits hold, running, and not done by an earlier attempt.
        let condition = "n BETWEEN :least AND :most AND (attribute_not_exists(x) OR x > :now) AND w <> :w";
        let values = HashMap::from([
            (":by".to_owned(), int(self.by)),
            (":one".to_owned(), int(1)),
            (":w".to_owned(), string(&self.id)),
            (":now".to_owned(), int(self.now)),
            (":least".to_owned(), int(i64::MIN.saturating_sub(self.by.min(0)))),
            (":most".to_owned(), int(i64::MAX.saturating_sub(self.by.max(0)))),
        ]);
        let request = table
            .writes
            .update_item()
            .table_name(&*table.name)
            .set_key(Some(record::key_attributes(self.key.pk(), self.key.sk())))
            .update_expression("SET v = v + :one, w = :w ADD n :by")
            .condition_expression(condition)
            .set_expression_attribute_values(Some(values))
            .return_values(ReturnValue::UpdatedNew);
        match request.send().await {
            Ok(answer) => match answer.attributes.as_ref().and_then(|new| record::number(new, "n")) {
                Some(sum) => Sent::Done(sum),
                None => Sent::Failed(
                    crate::fault::Outcome::Refused,
                    TableError::Unusable(format!("the table gave no sum for {}", self.key)),
                ),
            },
            Err(error) => one::failed(table, error),
        }
    }

    async fn trace(&self, table: &DynamoDbTable) -> Result<Trace<i64>, TableError> {
        let (item, ours) = table.written_by(self.key, &self.id).await?;
        let running = record::number(&item, "x").is_none_or(|at| at > self.now);
        Ok(match record::number(&item, "n") {
            Some(sum) if ours => Trace::Done(sum),
            Some(_) if running => Trace::Unknown,
            // Whatever was added has gone with its counter.
            _ => Trace::NotDone,
        })
    }
}
