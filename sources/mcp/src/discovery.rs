//! Discovery: reads a server's whole list of tools, page by page, and each tool by itself.

use crate::{
    client::{call::CallOptions, error::CallError},
    connector::{Connector, Target},
    definition::{Definition, Skipped},
};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

/// How many pages are read.
const MAX_PAGES: usize = 200;
/// How many tools are taken.
const MAX_TOOLS: usize = 5000;
/// How large all definitions together may be, in bytes of JSON.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// How many tools that cannot be used are named.
const MAX_SKIPPED: usize = 200;
/// The longest text of what is skipped.
const MAX_REASON: usize = 300;

/// What a server offers.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    pub(crate) era: String,
    pub(crate) server: Option<Value>,
    /// The definitions that can be used, by name, as they came.
    pub(crate) tools: Vec<(String, Value)>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) notes: Vec<String>,
    pub(crate) took: Duration,
}

/// Asks a server for its tools.
pub(crate) async fn discover(
    connector: &Connector,
    target: &Target,
    timeout: Duration,
) -> Result<Discovery, CallError> {
    let started = Instant::now();
    let options = CallOptions::within(timeout);
    let mut list = List::default();
    let mut cursor: Option<String> = None;
    let mut cursors = HashSet::new();
    for page in 0.. {
        let params = match &cursor {
            Some(cursor) => json!({"cursor": cursor}),
            None => json!({}),
        };
        let reply = connector.ask(target, "tools/list", params, &options).await?;
        (list.found.era, list.found.server) = (reply.era, reply.server.or(list.found.server.take()));
        let next = list.take_page(reply.result)?;
        let Some(next) = next else { break };
        if !cursors.insert(next.clone()) {
            list.note("the server gave the same paging cursor again; reading stopped there");
            break;
        }
        if page + 1 >= MAX_PAGES || list.is_full() {
            list.note(&format!(
                "the list goes on; reading stopped after {} tools on {} pages",
                list.found.tools.len(),
                page + 1
            ));
            break;
        }
        cursor = Some(next);
    }
    list.found.took = started.elapsed();
    Ok(list.found)
}

#[derive(Default)]
struct List {
    found: Discovery,
    names: HashSet<String>,
    bytes: usize,
    seen: usize,
}

impl List {
    /// Takes a page and gives the cursor of the next.
    fn take_page(&mut self, result: Value) -> Result<Option<String>, CallError> {
        let Value::Object(mut page) = result else {
            return Err(CallError::protocol("its list of tools is not an object"));
        };
        let Some(Value::Array(tools)) = page.remove("tools") else {
            return Err(CallError::protocol("its list of tools has no array `tools`"));
        };
        for tool in tools {
            self.seen += 1;
            if self.is_full() {
                break;
            }
            self.take_tool(tool);
        }
        Ok(match page.remove("nextCursor") {
            Some(Value::String(cursor)) if !cursor.is_empty() => Some(cursor),
            _ => None,
        })
    }

    fn take_tool(&mut self, tool: Value) {
        match Definition::read(&tool) {
            Ok(definition) if self.names.insert(definition.name.clone()) => {
                self.bytes += serde_json::to_vec(&tool).map_or(0, |bytes| bytes.len());
                self.found.tools.push((definition.name, tool));
            }
            Ok(definition) => self.skip(definition.name, "the list has another tool of this name before it"),
            Err(reason) => {
                let name = tool.get("name").and_then(Value::as_str);
                let name = name.map_or_else(|| format!("#{}", self.seen), shortened);
                self.skip(name, &reason);
            }
        }
    }

    fn skip(&mut self, name: String, reason: &str) {
        if self.found.skipped.len() < MAX_SKIPPED {
            self.found.skipped.push(Skipped { name, reason: shortened(reason) });
        } else {
            self.note("more tools cannot be used than are named here");
        }
    }

    fn note(&mut self, text: &str) {
        if !self.found.notes.iter().any(|note| note == text) {
            self.found.notes.push(text.to_owned());
        }
    }

    fn is_full(&self) -> bool {
        self.found.tools.len() >= MAX_TOOLS || self.bytes >= MAX_BYTES
    }
}

fn shortened(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_tool_loses_no_other() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let mut list = List::default();
        let page = json!({"tools":[tool("a"), {"name":"b"}, 7, tool("a"), tool("c")],"nextCursor":"2"});
        assert_eq!(list.take_page(page).unwrap().as_deref(), Some("2"));
        let names: Vec<_> = list.found.tools.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        let skipped: Vec<_> = list.found.skipped.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(skipped, ["b", "#3", "a"]);
        assert!(list.take_page(json!({"tools":{}})).is_err());
        assert!(list.take_page(json!([])).is_err());
        assert_eq!(list.take_page(json!({"tools":[],"nextCursor":null})).unwrap(), None);
    }
}
