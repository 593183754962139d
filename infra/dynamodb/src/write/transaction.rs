//! All of several writes, or none.

use super::{Change, Effect, expression, new_id, one};
use crate::{
    DynamoDbTable,
    attempt::{Attempt, Sent, Trace},
    fault::{Outcome, is_throttle, throttled},
    record,
};
use aws_sdk_dynamodb::{
    error::BuildError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{CancellationReason, ConditionCheck, Delete, TransactWriteItem, Update},
};
use domain::{
    keys::Key,
    ports::{Condition, TableError},
};

pub(crate) struct Transaction {
    changes: Vec<Change>,
    id: String,
    now: i64,
}

impl Transaction {
    pub(crate) fn new(mut changes: Vec<Change>, now: i64) -> Self {
        // A check of nothing is nothing to send.
        changes.retain(|c| !matches!((&c.effect, c.condition), (Effect::Check, Condition::Always)));
        Self { changes, id: new_id(), now }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn key(&self, at: usize) -> Key {
        self.changes[at].key.clone()
    }

    fn item(&self, table: &str, change: &Change) -> Result<TransactWriteItem, BuildError> {
        let key = Some(record::key_attributes(change.key.pk(), change.key.sk()));
        let (condition, values) = record::condition(change.condition, self.now).unzip();
        let item = TransactWriteItem::builder();
        Ok(match &change.effect {
            Effect::Put { content, expires } => {
                let said = expression::put(content, *expires, change.condition, &self.id, self.now);
                let update = Update::builder()
                    .table_name(table)
                    .set_key(key)
                    .update_expression(said.update)
                    .set_condition_expression(said.condition)
                    .set_expression_attribute_names(Some(expression::names()))
                    .set_expression_attribute_values(Some(said.values));
                item.update(update.build()?)
            }
            Effect::Delete => {
                let delete = Delete::builder()
                    .table_name(table)
                    .set_key(key)
                    .set_condition_expression(condition)
                    .set_expression_attribute_values(values);
                item.delete(delete.build()?)
            }
            Effect::Check => {
                let check = ConditionCheck::builder()
                    .table_name(table)
                    .set_key(key)
                    .set_condition_expression(condition)
                    .set_expression_attribute_values(values);
                item.condition_check(check.build()?)
            }
        }
        .build())
    }
}

impl Attempt for Transaction {
    type Answer = ();

    async fn send(&self, table: &DynamoDbTable) -> Sent<()> {
        let items = self.changes.iter().map(|change| self.item(&table.name, change));
        let items = match items.collect::<Result<Vec<_>, _>>() {
            Ok(items) => items,
            Err(error) => return Sent::Failed(Outcome::Refused, TableError::Failed(Box::new(error))),
        };
        let request = table.writes.transact_write_items().set_transact_items(Some(items));
        let Err(error) = request.send().await else {
            return Sent::Done(());
        };
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                why_cancelled(&table.name, cancelled.cancellation_reasons())
            }
            _ => one::failed(table, error),
        }
    }

    async fn trace(&self, table: &DynamoDbTable) -> Result<Trace<()>, TableError> {
        let put = self.changes.iter().find(|c| matches!(c.effect, Effect::Put { .. }));
        let done = match put {
            Some(change) => table.written_by(&change.key, &self.id).await?.1,
            None => false,
        };
        Ok(if done { Trace::Done(()) } else { Trace::Unknown })
    }
}

fn why_cancelled(table: &str, reasons: &[CancellationReason]) -> Sent<()> {
    let code = |reason: &CancellationReason| reason.code().unwrap_or_default().to_owned();
    if let Some(at) = reasons.iter().position(|r| code(r) == "ConditionalCheckFailed") {
        return Sent::ConditionFailed(at);
    }
    if let Some(reason) = reasons.iter().find(|r| is_throttle(&code(r))) {
        return Sent::Failed(Outcome::Throttled, throttled(table, &code(reason)));
    }
    let said: Vec<String> = reasons
        .iter()
        .filter(|r| code(r) != "None")
        .map(|r| format!("{}: {}", code(r), r.message().unwrap_or("no reason given")))
        .collect();
    Sent::Failed(Outcome::Refused, TableError::Invalid(said.join("; ")))
}
