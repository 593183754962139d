//! One put or delete.

use super::{Change, Effect, expression, new_id};
use crate::{
    DynamoDbTable,
    attempt::{Attempt, Sent, Trace},
    fault::{fault, outcome},
    parts::Group,
    record::{self, Attributes, Content},
};
use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    types::ReturnValue,
};
use domain::ports::{Condition, TableError};

pub(crate) struct One {
    pub(crate) change: Change,
    id: String,
    now: i64,
}

/// The new version, and the parts of what was replaced.
type Done = (u64, Option<Group>);

impl One {
    pub(crate) fn new(change: Change, now: i64) -> Self {
        Self { change, id: new_id(), now }
    }

    async fn put(&self, table: &DynamoDbTable, content: &Content, expires: Option<i64>) -> Sent<Done> {
        let key = &self.change.key;
        let said = expression::put(content, expires, self.change.condition, &self.id, self.now);
        let request = table
            .writes
            .update_item()
            .table_name(&*table.name)
            .set_key(Some(record::key_attributes(key.pk(), key.sk())))
            .update_expression(said.update)
            .set_condition_expression(said.condition)
            .set_expression_attribute_names(Some(expression::names()))
            .set_expression_attribute_values(Some(said.values))
            .return_values(ReturnValue::AllOld);
        match request.send().await {
            Ok(answer) => Sent::Done(self.replaced(answer.attributes.as_ref())),
            Err(error) => failed(table, error),
        }
    }

    async fn delete(&self, table: &DynamoDbTable) -> Sent<Done> {
        let key = &self.change.key;
        let (condition, values) = record::condition(self.change.condition, self.now).unzip();
        let request = table
            .writes
            .delete_item()
            .table_name(&*table.name)
            .set_key(Some(record::key_attributes(key.pk(), key.sk())))
            .set_condition_expression(condition)
            .set_expression_attribute_values(values)
            .return_values(ReturnValue::AllOld);
        match request.send().await {
            Ok(answer) => Sent::Done((0, self.replaced(answer.attributes.as_ref()).1)),
            Err(error) => failed(table, error),
        }
    }

    fn replaced(&self, before: Option<&Attributes>) -> Done {
        let version = match self.change.condition {
            Condition::Absent => None,
            _ => before.and_then(|item| record::number(item, "v")),
        };
        let version = version.and_then(|v| u64::try_from(v).ok()).unwrap_or(0) + 1;
        (version, before.and_then(|item| Group::of(self.change.key.pk(), item)))
    }
}

impl Attempt for One {
    type Answer = Done;

    async fn send(&self, table: &DynamoDbTable) -> Sent<Done> {
        match &self.change.effect {
            Effect::Put { content, expires } => self.put(table, content, *expires).await,
            Effect::Delete => self.delete(table).await,
            Effect::Check => Sent::Done((0, None)),
        }
    }

    async fn trace(&self, table: &DynamoDbTable) -> Result<Trace<Done>, TableError> {
        let (item, ours) = table.written_by(&self.change.key, &self.id).await?;
        let version = record::number(&item, "v").and_then(|v| u64::try_from(v).ok());
        Ok(match version {
            Some(version) if ours => Trace::Done((version, None)),
            _ => Trace::Unknown,
        })
    }
}

pub(super) fn failed<T, E>(table: &DynamoDbTable, error: SdkError<E, HttpResponse>) -> Sent<T>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    if error.code() == Some("ConditionalCheckFailedException") {
        return Sent::ConditionFailed(0);
    }
    let outcome = outcome(&error);
    Sent::Failed(outcome, fault(&table.name, error))
}
