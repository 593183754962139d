//! Lists: how they are asked for and answered.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The longest page.
pub const MAX_LIMIT: usize = 1000;
const DEFAULT_LIMIT: usize = 100;

/// Which page of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// How many items at most, 1 to 1000; 100 where it is left out.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// The last page's `next_cursor`, to go on after it.
    pub cursor: Option<String>,
    /// Only items that have this text in their name or description.
    pub q: Option<String>,
}

impl ListQuery {
    /// The page size, within its bounds.
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
    }
}

/// A page of a list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where to go on; null when this was the last page.
    pub next_cursor: Option<String>,
}

impl<T> List<T> {
    /// A list that is whole on one page.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }
}
