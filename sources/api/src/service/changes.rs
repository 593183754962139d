//! What an update changes: operations added, removed, altered.

use domain::{catalog::Body, schema::canonical_json};
use serde::Serialize;
use std::collections::BTreeMap;

/// The difference between two revisions, by operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changes {
    /// There now, not before.
    pub added: Vec<String>,
    /// There before, not now.
    pub removed: Vec<String>,
    /// Of another definition now.
    pub altered: Vec<String>,
}

impl Changes {
    /// From one revision's bodies to another's.
    pub(crate) fn between(old: &[Body], new: &[Body]) -> Self {
        let by_name = |bodies: &[Body]| -> BTreeMap<String, String> {
            bodies.iter().map(|(name, body)| (name.clone(), canonical_json(body))).collect()
        };
        let (old, new) = (by_name(old), by_name(new));
        let absent = |from: &BTreeMap<String, String>, of: &BTreeMap<String, String>| {
            of.keys().filter(|name| !from.contains_key(*name)).cloned().collect()
        };
        Self {
            added: absent(&old, &new),
            removed: absent(&new, &old),
            altered: new
                .iter()
                .filter(|(name, body)| old.get(*name).is_some_and(|before| before != *body))
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.altered.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_change_is_told_and_the_order_of_keys_is_none() {
        let old = [
            ("a".to_owned(), json!({"x": 1, "y": 2})),
            ("b".to_owned(), json!(1)),
            ("c".to_owned(), json!(1)),
        ];
        let new = [
            ("a".to_owned(), json!({"y": 2, "x": 1})),
            ("c".to_owned(), json!(2)),
            ("d".to_owned(), json!(1)),
        ];
        let changes = Changes::between(&old, &new);
        assert_eq!(
            (changes.added, changes.removed, changes.altered),
            (vec!["d".to_owned()], vec!["b".to_owned()], vec!["c".to_owned()])
        );
        assert!(Changes::between(&old, &old).is_empty());
    }
}
