//! Listing and reading providers.

use super::{ApiTools, ProviderView, ServiceError};
use crate::record::ProviderRecord;
use domain::{AccountId, catalog::Head, ports::BlobError};
use std::time::Duration;

/// How many providers one page looks at when it searches for a text.
const MAX_LOOKED_AT: usize = 2000;
/// The largest document that is shown inline, in bytes.
const MAX_INLINE: u64 = 1024 * 1024;
/// How long a link to a larger one works.
const LINK_KEEP: Duration = Duration::from_hours(1);

/// A page of items, and where to go on.
pub type Paged<T> = (Vec<T>, Option<String>);

impl ApiTools {
    /// Lists providers by their age, a page at a time; `q` is looked for in names and descriptions.
    pub async fn list(
        &self,
        account: &AccountId,
        q: Option<&str>,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<Paged<ProviderView>, ServiceError> {
        let q = q.map(str::to_lowercase).filter(|q| !q.is_empty());
        let mut items = Vec::new();
        let mut cursor = cursor;
        let mut looked_at = 0;
        loop {
            // A page is never larger than what is missing, so that its cursor stands right behind the last item.
            let piece = limit - items.len();
            let (heads, next) = self.catalog.list::<ProviderRecord>(account, piece, cursor).await?;
            looked_at += heads.len();
            let wanted = heads.into_iter().filter(|head| q.as_ref().is_none_or(|q| matches(head, q)));
            items.extend(wanted.map(ProviderView::of));
            match next {
                Some(next) if items.len() < limit && looked_at < MAX_LOOKED_AT => cursor = Some(next),
                next => return Ok((items, next)),
            }
        }
    }

    /// One provider, with its document.
    pub async fn get(&self, account: &AccountId, id: &str) -> Result<ProviderView, ServiceError> {
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        let document = head.record.document.clone();
        let mut view = ProviderView::of(head);
        if document.bytes > MAX_INLINE {
            view.openapi_schema_url = Some(self.blobs.link(&document.blob, LINK_KEEP).await?.url);
            return Ok(view);
        }
        match self.blobs.get(&document.blob, MAX_INLINE).await {
            Ok(blob) => view.openapi_schema = Some(String::from_utf8_lossy(&blob.bytes).into_owned()),
            // The tools do not need it, and neither does deleting or replacing it.
            Err(BlobError::NotFound(key)) => tracing::warn!(key, id, "the document of an API is gone"),
            Err(error) => return Err(error.into()),
        }
        Ok(view)
    }

    /// The id of the provider that has a name.
    pub async fn id_of(&self, account: &AccountId, name: &str) -> Result<Option<String>, ServiceError> {
        Ok(self.catalog.id_of(account, name).await?)
    }
}

fn matches(head: &Head<ProviderRecord>, q: &str) -> bool {
    let record = &head.record;
    [&record.name, &record.description, &record.api.title].iter().any(|text| text.to_lowercase().contains(q))
}
