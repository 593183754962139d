//! The builtin tools as lists of all kinds show them.

use async_trait::async_trait;
use domain::{
    AccountContext, ListPage, ListRequest, ToolKind, ToolLister, ToolListing, ToolRef, ToolSpec,
    catalog::CatalogError, ports::TableError,
};

use crate::{catalogue, source::BuiltinSource};

#[async_trait]
impl ToolLister for BuiltinSource {
    fn kind(&self) -> ToolKind {
        ToolKind::BuiltinTool
    }

    async fn list(&self, _cx: &AccountContext, request: &ListRequest) -> Result<ListPage, CatalogError> {
        let invalid = || TableError::Invalid("`cursor` is not one that a list gave".into());
        let start: usize = match &request.cursor {
            Some(cursor) => cursor.parse().map_err(|_| invalid())?,
            None => 0,
        };
        let wanted = |item: &ToolListing| request.q.as_ref().is_none_or(|q| item.matches(q));
        let mut found =
            catalogue::specs().map(|(provider, spec)| listing(provider, spec)).filter(wanted).skip(start);
        let items: Vec<_> = found.by_ref().take(request.limit).collect();
        let next_cursor = found.next().map(|_| (start + items.len()).to_string());
        Ok(ListPage { items, next_cursor })
    }
}

fn listing(provider: &str, spec: &ToolSpec) -> ToolListing {
    ToolListing {
        reference: ToolRef::new(ToolKind::BuiltinTool, provider, &spec.name),
        provider_name: spec.origin.provider_name.clone(),
        name: spec.name.clone(),
        title: spec.title.clone(),
        description: spec.description.clone(),
        annotations: spec.annotations,
        enabled: true,
    }
}
