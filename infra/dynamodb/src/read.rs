//! Reads: strongly consistent, and never an expired item.

use crate::{
    DynamoDbTable,
    batch::Reading,
    fault::fault,
    record::{self, Attributes, Record, string},
};
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use domain::{
    keys::Key,
    ports::{
        Item, Order, Page, Query, Range, TableError,
        table_rules::{RESERVED, Span, cursor_after},
    },
};
use std::collections::HashMap;

/// After how many requests a page is given as it is, although more follow: most of what was read had expired.
const ROUNDS: usize = 8;

impl DynamoDbTable {
    pub(crate) async fn read_one(&self, key: &Key) -> Result<Option<Item>, TableError> {
        match self.read_record(key).await? {
            Some(record) => Ok(self.complete(vec![record]).await?.pop().flatten()),
            None => Ok(None),
        }
    }

    pub(crate) async fn read_record(&self, key: &Key) -> Result<Option<Record>, TableError> {
        let request = self
            .reads
            .get_item()
            .table_name(&*self.name)
            .set_key(Some(record::key_attributes(key.pk(), key.sk())))
            .consistent_read(true);
        let answer = request.send().await.map_err(|e| fault(&self.name, e))?;
        let now = self.now();
        let read = answer.item.map(|item| Record::live(key.clone(), &item, now));
        Ok(read.transpose()?.flatten())
    }

    pub(crate) async fn read_many(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        let place = |key: &Key| (key.pk().to_owned(), key.sk().to_owned());
        let found = self.batch_get(keys.iter().map(place), Reading::Whole).await?;
        let now = self.now();
        let mut records = Vec::new();
        let mut at = Vec::with_capacity(keys.len());
        for key in keys {
            let read = found.get(&place(key)).map(|item| Record::live(key.clone(), item, now));
            at.push(read.transpose()?.flatten().map(|record| {
                records.push(record);
                records.len() - 1
            }));
        }
        let items = self.complete(records).await?;
        Ok(at.into_iter().map(|at| items.get(at?)?.clone()).collect())
    }

    pub(crate) async fn read_page(&self, query: &Query, span: Span) -> Result<Page, TableError> {
        let now = self.now();
        let mut records: Vec<Record> = Vec::new();
        let mut after = span.after.map(|sk| record::key_attributes(query.partition.as_str(), &sk));
        for _ in 0..ROUNDS {
            // One more than is wanted, to know whether more follow.
            let wanted = query.limit + 1 - records.len();
            let request = self.range(query, now).set_exclusive_start_key(after);
            let limit = i32::try_from(wanted).unwrap_or(i32::MAX);
            let answer = request.limit(limit).send().await.map_err(|e| fault(&self.name, e))?;
            for item in answer.items.into_iter().flatten() {
                let sk = record::text(&item, "sk").unwrap_or_default();
                records.extend(Record::live(query.partition.key(sk), &item, now)?);
            }
            after = answer.last_evaluated_key.filter(|key| !key.is_empty());
            if records.len() > query.limit || after.is_none() {
                break;
            }
        }
        let next_cursor = if records.len() > query.limit {
            records.truncate(query.limit);
            records.last().map(|record| cursor_after(record.key.sk()))
        } else {
            after.as_ref().and_then(|key| record::text(key, "sk")).map(cursor_after)
        };
        let items = self.complete(records).await?.into_iter().flatten().collect();
        Ok(Page { items, next_cursor })
    }

    fn range(&self, query: &Query, now: i64) -> QueryFluentBuilder {
        let (text, bounds) = sort_key_condition(&query.range);
        let mut values: Attributes = HashMap::from([
            (":pk".to_owned(), string(query.partition.as_str())),
            (":now".to_owned(), record::int(now)),
        ]);
        values.extend(bounds.into_iter().map(|(name, sk)| (name.to_owned(), string(&sk))));
        self.reads
            .query()
            .table_name(&*self.name)
            .key_condition_expression(format!("pk = :pk AND {text}"))
            .filter_expression("attribute_not_exists(x) OR x > :now")
            .set_expression_attribute_values(Some(values))
            .scan_index_forward(query.order == Order::Ascending)
            .consistent_read(true)
    }
}

/// The condition on the sort key: one, as DynamoDB wants it, and never one that takes parts of bodies.
fn sort_key_condition(range: &Range) -> (&'static str, Vec<(&'static str, String)>) {
    let last = || RESERVED.to_string();
    match range {
        Range::Prefix(prefix) if !prefix.is_empty() => {
            ("begins_with(sk, :from)", vec![(":from", prefix.clone())])
        }
        Range::All | Range::Prefix(_) => ("sk < :to", vec![(":to", last())]),
        Range::Between(from, to) => {
            // Only the reserved character alone sorts before all parts and after all else.
            let to = if *to < last() { to.clone() } else { last() };
            match from.as_str() {
                "" => ("sk <= :to", vec![(":to", to)]),
                from => ("sk BETWEEN :from AND :to", vec![(":from", from.to_owned()), (":to", to)]),
            }
        }
    }
}
