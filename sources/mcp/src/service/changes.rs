//! What servers change: a history, and the definitions that wait for a person's approval.

use super::{ServerError, ServerView, Servers};
use crate::{
    definition::changed_fields,
    input::pointer,
    merge::{self, ChangeSet},
    scan::Flag,
};
use domain::{
    AccountId,
    keys::Kind,
    ports::{Query, Write, query_all},
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How long a change is remembered.
const KEEP: SignedDuration = SignedDuration::from_hours(24 * 90);
/// How many changes of a server are deleted with it at most.
const MAX_HISTORY: usize = 100_000;

/// What changed at one revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeEntry {
    /// The revision that brought it.
    pub revision: u64,
    /// When.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub changes: ChangeSet,
}

/// A changed definition that waits for approval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PendingChange {
    /// The tool.
    pub name: String,
    /// Which fields differ.
    pub fields: Vec<String>,
    /// The definition in use, as it came.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub approved: Value,
    /// The definition that waits, as it came.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub proposed: Value,
    /// The hash of the definition that waits.
    pub hash: String,
    /// What is suspicious in it.
    pub flags: Vec<Flag>,
}

/// The changes of a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changes {
    /// The catalog's revision: give it with an approval, so that what is approved is what was seen.
    pub revision: u64,
    /// The definitions that wait for approval.
    pub pending: Vec<PendingChange>,
    /// What has changed, newest first.
    pub items: Vec<ChangeEntry>,
    /// Where the history goes on.
    pub next_cursor: Option<String>,
}

impl Servers {
    /// Shows what a server has changed.
    pub async fn changes(
        &self,
        account: &AccountId,
        id: &str,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<Changes, ServerError> {
        let head = self.head(account, id).await?;
        let query = Query::prefix(Kind::McpServer.of(account), prefix(id));
        let page = self.0.table.query(&query.descending().limit(limit).after(cursor)).await?;
        let items = page.items.into_iter();
        let pending =
            if head.record.found.pending == 0 { Vec::new() } else { self.pending(account, &head).await? };
        Ok(Changes {
            revision: head.revision,
            pending,
            items: items.filter_map(|i| serde_json::from_value(i.body).ok()).collect(),
            next_cursor: page.next_cursor,
        })
    }

    /// Takes changed definitions into use: those named, or all. With `revision`, only if the catalog is still
    /// at it.
    pub async fn approve(
        &self,
        account: &AccountId,
        id: &str,
        names: Option<&[String]>,
        revision: Option<u64>,
    ) -> Result<ServerView, ServerError> {
        let head = self.head(account, id).await?;
        if revision.is_some_and(|seen| seen != head.revision) {
            return Err(ServerError::RevisionChanged { current: head.revision });
        }
        let mut tools = self.tools_of(account, &head).await?;
        for (i, name) in names.unwrap_or_default().iter().enumerate() {
            let waits = tools.get(name).is_some_and(|tool| tool.pending.is_some());
            if !waits {
                let path = format!("/names/{}", pointer(&i.to_string()));
                return Err(ServerError::invalid(path, format!("`{name}` has no change that waits")));
            }
        }
        if !merge::approve(&mut tools, names).is_empty() {
            let mut record = head.record.clone();
            (record.found.tools, record.found.pending) = merge::count(&tools);
            let name = record.name.clone();
            self.publish(account, &head, &name, &record, &tools, &ChangeSet::default()).await?;
        }
        self.get(account, id).await
    }

    async fn pending(
        &self,
        account: &AccountId,
        head: &domain::catalog::Head<crate::record::ServerRecord>,
    ) -> Result<Vec<PendingChange>, ServerError> {
        let tools = self.tools_of(account, head).await?;
        let waiting = tools.into_iter().filter_map(|(name, tool)| {
            let pending = tool.pending?;
            Some(PendingChange {
                name,
                fields: changed_fields(&tool.definition, &pending.definition),
                approved: tool.definition,
                proposed: pending.definition,
                hash: pending.hash,
                flags: pending.flags,
            })
        });
        Ok(waiting.collect())
    }

    pub(super) async fn record_changes(
        &self,
        account: &AccountId,
        id: &str,
        revision: u64,
        changes: &ChangeSet,
    ) -> Result<(), ServerError> {
        let at = self.0.clock.now();
        let entry = ChangeEntry { revision, at, changes: changes.clone() };
        let put = Write::Put {
            key: Kind::McpServer.of(account).key(format!("{}{revision:012}", prefix(id))),
            body: json!(entry),
            expires_at: at.checked_add(KEEP).ok(),
            condition: domain::ports::Condition::Always,
        };
        self.0.table.write(put).await?;
        Ok(())
    }

    pub(super) async fn delete_changes(&self, account: &AccountId, id: &str) -> Result<(), ServerError> {
        let query = Query::prefix(Kind::McpServer.of(account), prefix(id)).limit(1000);
        let items = query_all(self.0.table.as_ref(), query, MAX_HISTORY).await?;
        let deletes = items.into_iter().map(|item| Write::delete(item.key)).collect();
        self.0.table.write_many(deletes).await?;
        Ok(())
    }
}

fn prefix(id: &str) -> String {
    format!("change#{id}#")
}
