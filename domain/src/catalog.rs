//! Revisions: how a provider with many tools is stored so that readers see the old or the new, never a mix.
//!
//! A provider has one **head** (its record and which revision is current) and, for each revision, one **body**
//! per tool. A new revision's bodies are written whole under an id of their own; then one conditional write
//! swaps the head. The revision before the current one stays until the next swap, so that an assembly which
//! read the old head still finds its bodies. Names are unique within an account.
//!
//! Used by the sources whose tools live in the table; it knows nothing of what is in a record or a body.

use crate::{
    account::AccountId,
    keys::{Key, Kind, Partition},
    ports::{Condition, Item, Page, Query, Table, TableError, Write, query_all},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::sync::Arc;

mod walk;

pub use walk::{Place, Walked};

/// The most bodies one revision holds.
pub const MAX_BODIES: usize = 10_000;

/// Heads and bodies of one kind.
#[derive(Clone)]
pub struct Catalog {
    table: Arc<dyn Table>,
    kind: Kind,
}

/// A provider's record and its current revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Head<R> {
    /// The provider's id.
    pub id: String,
    /// The record itself.
    pub record: R,
    /// Counts the swaps, from 1.
    pub revision: u64,
    /// Names the current revision's bodies; never used twice. Caches are keyed by it.
    pub body_id: String,
    /// How many bodies it has.
    pub bodies: usize,
    /// The item's version, for conditional writes.
    version: u64,
    /// The name it holds.
    name: String,
    previous_body_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    record: Value,
    name: String,
    revision: u64,
    body_id: String,
    bodies: usize,
    #[serde(default)]
    previous_body_id: Option<String>,
}

/// Why a catalog was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Another provider of the account has this name.
    #[error("the name `{0}` is taken: choose another, or update the one that has it")]
    NameTaken(String),
    /// Somebody else changed it in between.
    #[error("`{0}` was changed by someone else at the same time: read it again and repeat the change")]
    Conflict(String),
    /// It is gone.
    #[error("`{0}` does not exist")]
    NotFound(String),
    /// More tools than a revision holds.
    #[error("{0} tools are too many: at most {MAX_BODIES}")]
    TooMany(usize),
    /// A stored record is not what it should be.
    #[error("the stored record of `{id}` is not readable: {reason}")]
    Corrupt {
        /// The record's id.
        id: String,
        /// Why.
        reason: String,
    },
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// A tool's name and what is stored of it.
pub type Body = (String, Value);

impl Catalog {
    /// The catalog of a kind.
    pub fn new(table: Arc<dyn Table>, kind: Kind) -> Self {
        Self { table, kind }
    }

    fn partition(&self, account: &AccountId) -> Partition {
        self.kind.of(account)
    }

    /// Reads heads by id in one round, in the order of `ids`.
    pub async fn heads<R: DeserializeOwned>(
        &self,
        account: &AccountId,
        ids: &[&str],
    ) -> Result<Vec<Option<Head<R>>>, TableError> {
        let partition = self.partition(account);
        let keys: Vec<Key> = ids.iter().map(|id| partition.key(head_sk(id))).collect();
        let items = self.table.get_many(&keys).await?;
        Ok(items.into_iter().map(|item| item.and_then(|i| read_head(&i).ok())).collect())
    }

    /// Reads one head; says when it is not readable.
    pub async fn head<R: DeserializeOwned>(
        &self,
        account: &AccountId,
        id: &str,
    ) -> Result<Head<R>, CatalogError> {
        let item = self.table.get(&self.partition(account).key(head_sk(id))).await?;
        read_head(&item.ok_or_else(|| CatalogError::NotFound(id.to_owned()))?)
    }

    /// The id of the provider that holds a name.
    pub async fn id_of(&self, account: &AccountId, name: &str) -> Result<Option<String>, TableError> {
        let item = self.table.get(&self.partition(account).key(name_sk(name))).await?;
        Ok(item.and_then(|i| i.body.get("id").and_then(Value::as_str).map(str::to_owned)))
    }

    /// Lists heads by id, a page at a time.
    pub async fn list<R: DeserializeOwned>(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Head<R>>, Option<String>), CatalogError> {
        let query = Query::prefix(self.partition(account), "head#").limit(limit).after(cursor);
        let Page { items, next_cursor } = self.table.query(&query).await?;
        let heads = items.iter().map(read_head).collect::<Result<_, _>>()?;
        Ok((heads, next_cursor))
    }

    /// Reads bodies of one revision in one round, in the order of `names`.
    pub async fn bodies<R>(
        &self,
        account: &AccountId,
        wanted: &[(&Head<R>, &str)],
    ) -> Result<Vec<Option<Value>>, TableError> {
        let partition = self.partition(account);
        let key = |(head, name): &(&Head<R>, &str)| partition.key(body_sk(&head.id, &head.body_id, name));
        let keys: Vec<Key> = wanted.iter().map(key).collect();
        Ok(self.table.get_many(&keys).await?.into_iter().map(|item| item.map(|i| i.body)).collect())
    }

    /// Lists a revision's bodies by name, a page at a time.
    pub async fn list_bodies<R>(
        &self,
        account: &AccountId,
        head: &Head<R>,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Body>, Option<String>), TableError> {
        let prefix = body_sk(&head.id, &head.body_id, "");
        let query = Query::prefix(self.partition(account), &prefix).limit(limit).after(cursor);
        let Page { items, next_cursor } = self.table.query(&query).await?;
        let body = |item: Item| (item.key.sk()[prefix.len()..].to_owned(), item.body);
        Ok((items.into_iter().map(body).collect(), next_cursor))
    }

    /// Reads all of a revision's bodies.
    pub async fn all_bodies<R>(&self, account: &AccountId, head: &Head<R>) -> Result<Vec<Body>, TableError> {
        let prefix = body_sk(&head.id, &head.body_id, "");
        let query = Query::prefix(self.partition(account), &prefix).limit(1000);
        let items = query_all(self.table.as_ref(), query, MAX_BODIES).await?;
        Ok(items.into_iter().map(|i| (i.key.sk()[prefix.len()..].to_owned(), i.body)).collect())
    }

    /// Creates a provider with its first revision.
    pub async fn create<R: Serialize + Sync>(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        record: &R,
        bodies: Vec<Body>,
    ) -> Result<u64, CatalogError> {
        let body_id = new_body_id();
        let stored = Stored {
            record: to_value(id, record)?,
            name: name.to_owned(),
            revision: 1,
            body_id: body_id.clone(),
            bodies: bodies.len(),
            previous_body_id: None,
        };
        self.write_bodies(account, id, &body_id, bodies).await?;
        let partition = self.partition(account);
        let writes = vec![
            Write::put_if(partition.key(head_sk(id)), to_value(id, &stored)?, Condition::Absent),
            Write::put_if(partition.key(name_sk(name)), json!({"id": id}), Condition::Absent),
        ];
        let swapped = self.table.transact(writes).await;
        self.settle(account, id, name, &body_id, swapped).await?;
        Ok(1)
    }

    /// Writes a provider's next revision and swaps to it. Readers see all of it or nothing.
    pub async fn publish<R: Serialize + Sync>(
        &self,
        account: &AccountId,
        head: &Head<R>,
        name: &str,
        record: &R,
        bodies: Vec<Body>,
    ) -> Result<u64, CatalogError> {
        let body_id = new_body_id();
        let stored = Stored {
            record: to_value(&head.id, record)?,
            name: name.to_owned(),
            revision: head.revision + 1,
            body_id: body_id.clone(),
            bodies: bodies.len(),
            previous_body_id: Some(head.body_id.clone()),
        };
        self.write_bodies(account, &head.id, &body_id, bodies).await?;
        let swapped = self.swap(account, head, name, &stored).await;
        self.settle(account, &head.id, name, &body_id, swapped).await?;
        if let Some(old) = &head.previous_body_id {
            self.delete_bodies(account, &head.id, old).await?;
        }
        Ok(head.revision + 1)
    }

    /// Changes a provider's record and leaves its revision as it is.
    pub async fn update_record<R: Serialize + Sync>(
        &self,
        account: &AccountId,
        head: &Head<R>,
        name: &str,
        record: &R,
    ) -> Result<(), CatalogError> {
        let stored = Stored {
            record: to_value(&head.id, record)?,
            name: name.to_owned(),
            revision: head.revision,
            body_id: head.body_id.clone(),
            bodies: head.bodies,
            previous_body_id: head.previous_body_id.clone(),
        };
        match self.swap(account, head, name, &stored).await {
            Ok(()) => Ok(()),
            Err(error) => Err(conflict(&head.id, name, error)),
        }
    }

    /// Removes a provider and all that belongs to it.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), CatalogError> {
        let head: Head<Value> = self.head(account, id).await?;
        let partition = self.partition(account);
        let writes = vec![
            Write::Delete { key: partition.key(head_sk(id)), condition: Condition::Version(head.version) },
            Write::delete(partition.key(name_sk(&head.name))),
        ];
        self.table.transact(writes).await.map_err(|e| conflict(id, &head.name, e))?;
        self.delete_prefix(account, &format!("body#{id}#")).await?;
        Ok(())
    }

    async fn swap<R>(
        &self,
        account: &AccountId,
        head: &Head<R>,
        name: &str,
        to: &Stored,
    ) -> Result<(), TableError> {
        let partition = self.partition(account);
        let body = serde_json::to_value(to).map_err(|e| TableError::Invalid(e.to_string()))?;
        let mut writes =
            vec![Write::put_if(partition.key(head_sk(&head.id)), body, Condition::Version(head.version))];
        if name_sk(name) != name_sk(&head.name) {
            writes.push(Write::put_if(
                partition.key(name_sk(name)),
                json!({"id": head.id}),
                Condition::Absent,
            ));
            writes.push(Write::delete(partition.key(name_sk(&head.name))));
        }
        self.table.transact(writes).await
    }

    /// After a swap: where it did not happen, the bodies that were written for it go again.
    async fn settle(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        body_id: &str,
        swapped: Result<(), TableError>,
    ) -> Result<(), CatalogError> {
        let Err(error) = swapped else { return Ok(()) };
        // Only a failed condition proves that nothing was swapped; any other error may hide a success.
        if error.is_conflict()
            && let Err(leftover) = self.delete_bodies(account, id, body_id).await
        {
            tracing::warn!(error = %leftover, id, "bodies of a refused revision were not removed");
        }
        Err(conflict(id, name, error))
    }

    async fn write_bodies(
        &self,
        account: &AccountId,
        id: &str,
        body_id: &str,
        bodies: Vec<Body>,
    ) -> Result<(), CatalogError> {
        if bodies.len() > MAX_BODIES {
            return Err(CatalogError::TooMany(bodies.len()));
        }
        let partition = self.partition(account);
        let write = |(name, body): Body| Write::put(partition.key(body_sk(id, body_id, &name)), body);
        Ok(self.table.write_many(bodies.into_iter().map(write).collect()).await?)
    }

    async fn delete_bodies(&self, account: &AccountId, id: &str, body_id: &str) -> Result<(), TableError> {
        self.delete_prefix(account, &body_sk(id, body_id, "")).await
    }

    async fn delete_prefix(&self, account: &AccountId, prefix: &str) -> Result<(), TableError> {
        loop {
            let query = Query::prefix(self.partition(account), prefix).limit(1000);
            let page = self.table.query(&query).await?;
            let more = page.next_cursor.is_some();
            self.table.write_many(page.items.into_iter().map(|i| Write::delete(i.key)).collect()).await?;
            if !more {
                return Ok(());
            }
        }
    }
}

fn new_body_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

fn head_sk(id: &str) -> String {
    format!("head#{id}")
}

fn name_sk(name: &str) -> String {
    format!("name#{}", name.to_lowercase())
}

fn body_sk(id: &str, body_id: &str, name: &str) -> String {
    format!("body#{id}#{body_id}#{name}")
}

fn to_value(id: &str, record: &impl Serialize) -> Result<Value, CatalogError> {
    serde_json::to_value(record)
        .map_err(|e| CatalogError::Corrupt { id: id.to_owned(), reason: e.to_string() })
}

fn read_head<R: DeserializeOwned>(item: &Item) -> Result<Head<R>, CatalogError> {
    let id = item.key.sk().trim_start_matches("head#").to_owned();
    let corrupt = |e: serde_json::Error| CatalogError::Corrupt { id: id.clone(), reason: e.to_string() };
    let stored = Stored::deserialize(&item.body).map_err(corrupt)?;
    let record = serde_json::from_value(stored.record).map_err(corrupt)?;
    Ok(Head {
        id: id.clone(),
        record,
        revision: stored.revision,
        body_id: stored.body_id,
        bodies: stored.bodies,
        version: item.version,
        name: stored.name,
        previous_body_id: stored.previous_body_id,
    })
}

fn conflict(id: &str, name: &str, error: TableError) -> CatalogError {
    match error {
        TableError::ConditionFailed { key } if key.sk() == name_sk(name) => {
            CatalogError::NameTaken(name.to_owned())
        }
        TableError::ConditionFailed { .. } => CatalogError::Conflict(id.to_owned()),
        other => CatalogError::Table(other),
    }
}
