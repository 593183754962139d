//! Shows servers and their tools.

use super::{ServerError, ServerView, Servers, ToolView, health::Health};
use crate::{definition::StoredTool, record::ServerRecord};
use domain::{AccountId, catalog::Head};

/// A page of a list and where it goes on.
pub type Page<T> = (Vec<T>, Option<String>);

impl Servers {
    /// Shows a server.
    pub async fn get(&self, account: &AccountId, id: &str) -> Result<ServerView, ServerError> {
        let head = self.head(account, id).await?;
        let health = self.0.health.read(account, &[id]).await?.pop();
        Ok(ServerView::new(&head, health.unwrap_or_default()))
    }

    /// Shows the servers of an account, a page at a time; with `text`, those whose name or description has it.
    pub async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
        text: Option<&str>,
    ) -> Result<Page<ServerView>, ServerError> {
        let page = self.0.catalog.list(account, limit, cursor).await?;
        let (heads, next): (Vec<Head<ServerRecord>>, _) = page;
        let wanted = text.unwrap_or_default().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let heads: Vec<_> =
            heads.into_iter().filter(|h| has(&h.record.name) || has(&h.record.description)).collect();
        let ids: Vec<&str> = heads.iter().map(|h| h.id.as_str()).collect();
        let healths: Vec<Health> = self.0.health.read(account, &ids).await?;
        let views = heads.iter().zip(healths).map(|(h, health)| ServerView::new(h, health));
        Ok((views.collect(), next))
    }

    /// The id of the server that has this id or name.
    pub async fn find(&self, account: &AccountId, id_or_name: &str) -> Result<String, ServerError> {
        match self.0.catalog.id_of(account, id_or_name).await? {
            Some(id) => Ok(id),
            None => Ok(self.head(account, id_or_name).await?.id),
        }
    }

    /// Shows the tools of a server, a page at a time; with `text`, those whose name or description has it.
    pub async fn tools(
        &self,
        account: &AccountId,
        id: &str,
        limit: usize,
        cursor: Option<String>,
        text: Option<&str>,
    ) -> Result<Page<ToolView>, ServerError> {
        let head = self.head(account, id).await?;
        let (bodies, next) = self.0.catalog.list_bodies(account, &head, limit, cursor).await?;
        let wanted = text.unwrap_or_default().to_lowercase();
        let views = bodies
            .into_iter()
            .filter_map(|(_, body)| serde_json::from_value::<StoredTool>(body).ok())
            .filter(|tool| !tool.removed)
            .filter_map(|tool| ToolView::new(&tool, &head.record))
            .filter(|view| view.matches(&wanted))
            .collect();
        Ok((views, next))
    }
}
