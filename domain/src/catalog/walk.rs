//! Walking through every body of every provider of an account, a piece at a time.

use super::{Body, Catalog, CatalogError, Head, body_sk, head_sk, read_head};
use crate::{
    account::AccountId,
    ports::{Order, Query, Range},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// How many heads are read at once.
const HEADS: usize = 100;

/// Where a walk stands: the body it saw last. It keeps its meaning when a revision is swapped meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub String, pub String);

/// A body with the head it belongs to.
pub type Walked<R> = (Arc<Head<R>>, Body);

impl Catalog {
    /// The next `limit` bodies after a place, by provider id and then by name; fewer only at the end.
    pub async fn walk<R: DeserializeOwned>(
        &self,
        account: &AccountId,
        after: Option<&Place>,
        limit: usize,
    ) -> Result<Vec<Walked<R>>, CatalogError> {
        let first = after.map_or_else(|| "head#".to_owned(), |place| head_sk(&place.0));
        let mut heads = Query {
            partition: self.partition(account),
            range: Range::Between(first, "head#\u{10FFFF}".to_owned()),
            order: Order::Ascending,
            limit: HEADS,
            cursor: None,
        };
        let mut walked = Vec::new();
        loop {
            let page = self.table.query(&heads).await?;
            for item in &page.items {
                let head = Arc::new(read_head::<R>(item)?);
                let last = after.filter(|place| place.0 == head.id).map(|place| place.1.as_str());
                self.walk_head(account, &head, last, limit, &mut walked).await?;
                if walked.len() >= limit {
                    return Ok(walked);
                }
            }
            match page.next_cursor {
                Some(cursor) => heads.cursor = Some(cursor),
                None => return Ok(walked),
            }
        }
    }

    async fn walk_head<R>(
        &self,
        account: &AccountId,
        head: &Arc<Head<R>>,
        last: Option<&str>,
        limit: usize,
        walked: &mut Vec<Walked<R>>,
    ) -> Result<(), CatalogError> {
        let prefix = body_sk(&head.id, &head.body_id, "");
        let first = last.map_or_else(|| prefix.clone(), |name| format!("{prefix}{name}\u{1}"));
        let mut query = Query {
            partition: self.partition(account),
            range: Range::Between(first, format!("{prefix}\u{10FFFF}")),
            order: Order::Ascending,
            limit: 1000,
            cursor: None,
        };
        loop {
            query.limit = (limit - walked.len()).min(1000);
            let page = self.table.query(&query).await?;
            for item in page.items {
                let name = item.key.sk()[prefix.len()..].to_owned();
                walked.push((head.clone(), (name, item.body)));
            }
            match page.next_cursor {
                Some(cursor) if walked.len() < limit => query.cursor = Some(cursor),
                _ => return Ok(()),
            }
        }
    }
}
