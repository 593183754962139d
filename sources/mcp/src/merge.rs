//! A new list of tools against the stored one: what is used from now on, and what has changed.

use crate::{
    definition::{Pending, StoredTool, changed_fields, hash},
    record::ChangePolicy,
    scan,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many tools that are not listed any more are remembered.
const MAX_REMEMBERED: usize = 4000;

/// The stored tools of a server by name.
pub(crate) type Tools = BTreeMap<String, StoredTool>;

/// What a discovery changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeSet {
    /// Tools that were not there before.
    pub added: Vec<String>,
    /// Tools that are not listed any more.
    pub removed: Vec<String>,
    /// Tools whose definition is another.
    pub altered: Vec<Altered>,
}

/// A tool whose definition has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Altered {
    /// Its name.
    pub name: String,
    /// Which fields differ.
    pub fields: Vec<String>,
    /// Whether the new definition waits for approval; otherwise it is in use.
    pub pending: bool,
}

impl ChangeSet {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.altered.is_empty()
    }
}

/// Puts a discovered list over the stored one.
pub(crate) fn merge(mut old: Tools, found: Vec<(String, Value)>, policy: ChangePolicy) -> (Tools, ChangeSet) {
    let mut tools = Tools::new();
    let mut changes = ChangeSet::default();
    for (name, definition) in found {
        let tool = match old.remove(&name) {
            None => {
                changes.added.push(name.clone());
                StoredTool::new(definition)
            }
            Some(stored) => meet(&name, stored, definition, policy, &mut changes),
        };
        tools.insert(name, tool);
    }
    let mut room = MAX_REMEMBERED;
    for (name, mut stored) in old {
        if !stored.removed {
            changes.removed.push(name.clone());
        }
        // Under review a tool that comes back later must still match what was approved.
        if policy == ChangePolicy::Review && room > 0 {
            room -= 1;
            stored.removed = true;
            stored.pending = None;
            tools.insert(name, stored);
        }
    }
    (tools, changes)
}

fn meet(
    name: &str,
    stored: StoredTool,
    definition: Value,
    policy: ChangePolicy,
    changes: &mut ChangeSet,
) -> StoredTool {
    let new_hash = hash(&definition);
    if stored.removed {
        changes.added.push(name.to_owned());
    }
    if new_hash == stored.hash {
        return StoredTool { definition, pending: None, removed: false, ..stored };
    }
    let review = policy == ChangePolicy::Review;
    let known = stored.pending.as_ref().is_some_and(|p| p.hash == new_hash);
    if !(review && known) {
        changes.altered.push(Altered {
            name: name.to_owned(),
            fields: changed_fields(&stored.definition, &definition),
            pending: review,
        });
    }
    if !review {
        return StoredTool::new(definition);
    }
    StoredTool {
        pending: Some(Pending { flags: scan::scan(&definition), hash: new_hash, definition }),
        removed: false,
        ..stored
    }
}

/// Takes pending definitions into use: those named, or all. Gives the names that had one.
pub(crate) fn approve(tools: &mut Tools, names: Option<&[String]>) -> Vec<String> {
    let mut approved = Vec::new();
    for (name, tool) in tools.iter_mut() {
        if names.is_some_and(|names| !names.contains(name)) {
            continue;
        }
        if let Some(pending) = tool.pending.take() {
            tool.definition = pending.definition;
            tool.hash = pending.hash;
            tool.flags = pending.flags;
            approved.push(name.clone());
        }
    }
    approved
}

/// How many tools can be used, and how many wait for approval.
pub(crate) fn count(tools: &Tools) -> (usize, usize) {
    let usable = tools.values().filter(|t| !t.removed);
    (usable.clone().count(), usable.filter(|t| t.pending.is_some()).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, description: &str) -> (String, Value) {
        (name.to_owned(), json!({"name":name,"description":description,"inputSchema":{"type":"object"}}))
    }

    fn description(tools: &Tools, name: &str) -> String {
        tools[name].definition["description"].as_str().unwrap().to_owned()
    }

    #[test]
    fn under_review_the_approved_definition_stays_until_approval() {
        let review = ChangePolicy::Review;
        let (tools, changes) = merge(Tools::new(), vec![tool("a", "1"), tool("b", "1")], review);
        assert_eq!(changes.added, ["a", "b"]);
        let (tools, changes) = merge(tools, vec![tool("a", "2"), tool("b", "1")], review);
        assert_eq!((description(&tools, "a").as_str(), count(&tools)), ("1", (2, 1)));
        assert!(changes.altered[0].pending && changes.altered[0].fields == ["description"]);
        let (mut tools, changes) = merge(tools, vec![tool("a", "2"), tool("b", "1")], review);
        assert!(changes.is_empty(), "the same change is told once");
        assert_eq!(approve(&mut tools, Some(&["b".into()])), Vec::<String>::new());
        assert_eq!(approve(&mut tools, None), ["a"]);
        assert_eq!((description(&tools, "a").as_str(), count(&tools)), ("2", (2, 0)));
    }

    #[test]
    fn a_tool_does_not_come_back_as_another() {
        let review = ChangePolicy::Review;
        let (tools, _) = merge(Tools::new(), vec![tool("a", "good")], review);
        let (tools, changes) = merge(tools, vec![], review);
        assert_eq!((changes.removed, count(&tools)), (vec!["a".to_owned()], (0, 0)));
        let (tools, _) = merge(tools, vec![tool("a", "evil")], review);
        assert_eq!((description(&tools, "a").as_str(), count(&tools)), ("good", (1, 1)));
    }

    #[test]
    fn a_server_that_takes_a_change_back_leaves_nothing_pending() {
        let review = ChangePolicy::Review;
        let (tools, _) = merge(Tools::new(), vec![tool("a", "1")], review);
        let (tools, _) = merge(tools, vec![tool("a", "2")], review);
        let (tools, _) = merge(tools, vec![tool("a", "1")], review);
        assert_eq!(count(&tools), (1, 0));
    }

    #[test]
    fn under_accept_changes_are_used_at_once() {
        let accept = ChangePolicy::Accept;
        let (tools, _) = merge(Tools::new(), vec![tool("a", "1"), tool("b", "1")], accept);
        let (tools, changes) = merge(tools, vec![tool("a", "2")], accept);
        assert_eq!((tools.len(), description(&tools, "a").as_str()), (1, "2"));
        assert!(!changes.altered[0].pending && changes.removed == ["b"]);
    }
}
