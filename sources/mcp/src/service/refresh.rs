//! Asks a server for its tools again and takes over what has changed.

use super::{ServerError, ServerView, Servers};
use crate::merge::ChangeSet;
use domain::{AccountId, catalog::CatalogError};
use serde::Serialize;
use std::sync::PoisonError;

/// How often a refresh is begun again because somebody else changed the server meanwhile.
const ATTEMPTS: usize = 3;

/// What a refresh found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Refreshed {
    /// The server afterwards.
    pub server: ServerView,
    /// What has changed against the catalog as it was.
    pub changes: ChangeSet,
}

impl Servers {
    /// Refreshes the catalog of a server. When it does not answer, the catalog stays as it is.
    pub async fn refresh(&self, account: &AccountId, id: &str) -> Result<Refreshed, ServerError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.refresh_once(account, id).await {
                Err(ServerError::Catalog(CatalogError::Conflict(_))) if attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
                Ok(changes) => {
                    return Ok(Refreshed { server: self.get(account, id).await?, changes });
                }
            }
        }
    }

    async fn refresh_once(&self, account: &AccountId, id: &str) -> Result<ChangeSet, ServerError> {
        let head = self.head(account, id).await?;
        if !head.record.enabled {
            return Err(ServerError::Disabled(head.record.name));
        }
        let found = self.discover(account, id, &head.record).await?;
        let old = self.tools_of(account, &head).await?;
        let mut record = head.record.clone();
        let (tools, changes) = self.take(&mut record, old.clone(), found);
        let name = record.name.clone();
        if tools != old {
            self.publish(account, &head, &name, &record, &tools, &changes).await?;
        } else if !same_news(&record, &head.record) {
            self.0.catalog.update_record(account, &head, &name, &record).await?;
        }
        Ok(changes)
    }
}

/// Whether two records differ in nothing but the time they were found.
fn same_news(a: &crate::record::ServerRecord, b: &crate::record::ServerRecord) -> bool {
    let timeless = |record: &crate::record::ServerRecord| {
        let mut found = record.found.clone();
        found.at = None;
        found
    };
    timeless(a) == timeless(b)
}

/// Refreshes a server because it says that its tools have changed; once at a time.
pub(super) fn in_background(servers: &Servers, account: AccountId, id: String) {
    let key = (account, id);
    let running = || servers.0.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
    if !running().insert(key.clone()) {
        return;
    }
    let servers = servers.clone();
    tokio::spawn(async move {
        // Removed first: a change that is told while this runs is another one.
        servers.0.refreshing.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        let (account, id) = key;
        match servers.refresh(&account, &id).await {
            Ok(Refreshed { changes, .. }) if changes.is_empty() => {}
            Ok(_) => tracing::info!(%account, server = id, "an MCP server's tools have changed"),
            Err(error) => {
                tracing::warn!(%account, server = id, %error, "a changed MCP server was not refreshed");
            }
        }
    });
}
