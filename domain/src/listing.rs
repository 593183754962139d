//! Listing tools: what can be referred to, for people and for editors. Assembly never needs it.

use crate::{
    account::AccountId,
    catalog::{Catalog, CatalogError, Head, Place},
    reference::{ToolKind, ToolRef},
    source::AccountContext,
    tool::Annotations,
};
use async_trait::async_trait;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The most stored tools one page looks at when it searches for a text.
const MAX_LOOKED_AT: usize = 5000;
const PIECE: usize = 500;

/// A tool as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolListing {
    /// How to refer to it. `params` are empty: an instance's author chooses them.
    #[serde(rename = "ref")]
    pub reference: ToolRef,
    /// The provider's or server's readable name.
    pub provider_name: String,
    /// The tool's own name.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does.
    pub description: String,
    /// How it behaves, by our own judgement.
    pub annotations: Annotations,
    /// Whether it can be called; a tool may be switched off.
    pub enabled: bool,
}

impl ToolListing {
    /// Whether a search text stands in its names or description, in any case. An empty text always does.
    pub fn matches(&self, q: &str) -> bool {
        let q = q.to_lowercase();
        [&self.provider_name, &self.name, &self.title, &self.description]
            .iter()
            .any(|text| text.to_lowercase().contains(&q))
    }
}

/// Which page of a list.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Only tools that have this text in their names or description.
    pub q: Option<String>,
    /// How many items at most.
    pub limit: usize,
    /// The last page's `next_cursor`, to go on after it.
    pub cursor: Option<String>,
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPage {
    /// The items; may be fewer than the limit although more follow.
    pub items: Vec<ToolListing>,
    /// Where to go on; none when this was the last page.
    pub next_cursor: Option<String>,
}

/// Lists the tools of one kind that an account may refer to.
#[async_trait]
pub trait ToolLister: Send + Sync {
    /// The kind it lists.
    fn kind(&self) -> ToolKind;

    /// A page of them, in an order that stays.
    async fn list(&self, cx: &AccountContext, request: &ListRequest) -> Result<ListPage, CatalogError>;
}

/// Lists the tools of a [`Catalog`]; `listing` makes an item of a head and a body, or leaves it out.
pub async fn list_catalog<R: DeserializeOwned>(
    catalog: &Catalog,
    account: &AccountId,
    request: &ListRequest,
    listing: impl Fn(&Head<R>, &str, Value) -> Option<ToolListing>,
) -> Result<ListPage, CatalogError> {
    let mut after = request.cursor.as_deref().map(read_cursor).transpose()?;
    let mut items = Vec::new();
    let mut looked_at = 0;
    loop {
        let piece = match &request.q {
            Some(_) => PIECE,
            None => request.limit - items.len(),
        };
        let walked = catalog.walk::<R>(account, after.as_ref(), piece).await?;
        let ended = walked.len() < piece;
        looked_at += walked.len();
        for (head, (name, body)) in walked {
            after = Some(Place(head.id.clone(), name.clone()));
            let wanted = |item: &ToolListing| request.q.as_ref().is_none_or(|q| item.matches(q));
            items.extend(listing(&head, &name, body).filter(wanted));
            if items.len() >= request.limit {
                return Ok(ListPage { items, next_cursor: after.as_ref().map(write_cursor) });
            }
        }
        if ended {
            return Ok(ListPage { items, next_cursor: None });
        }
        if looked_at >= MAX_LOOKED_AT {
            return Ok(ListPage { items, next_cursor: after.as_ref().map(write_cursor) });
        }
    }
}

fn write_cursor(place: &Place) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(place).unwrap_or_default())
}

fn read_cursor(cursor: &str) -> Result<Place, CatalogError> {
    let invalid = || crate::ports::TableError::Invalid("`cursor` is not one that a list gave".into());
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    Ok(serde_json::from_slice(&bytes).map_err(|_| invalid())?)
}
