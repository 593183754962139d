//! Large toolsets: a model is shown a search and the tools that were found, not hundreds of schemas.

use domain::{Toolset, ports::ChatTool};
use serde_json::{Value, json};

/// The name of the tool that finds tools.
pub const TOOL_SEARCH: &str = "tool_search";
/// How many tools one search gives.
const FOUND_AT_ONCE: usize = 8;

/// Ranks the tools of a set.
pub trait ToolSearch: Send + Sync {
    /// From how many tools on a set is searched; a smaller one is shown whole.
    fn threshold(&self) -> usize;

    /// The names of the tools that answer a need, best first.
    fn search(&self, toolset: &Toolset, query: &str, limit: usize) -> Vec<String>;
}

/// The search as a model sees it.
pub(super) fn tool(total: usize) -> ChatTool {
    ChatTool {
        name: TOOL_SEARCH.to_owned(),
        description: format!(
            "Finds tools by what they do, among {total}. The tools it names can be called from then on. Use it when \
             none of the tools you have fits."
        ),
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What a tool should do, in a few words"}},
            "required": ["query"]
        }),
    }
}

/// Searches: the names that were found, and what the model is told.
pub(super) fn run(search: &dyn ToolSearch, toolset: &Toolset, args: &Value) -> (Vec<String>, String) {
    let query = args.get("query").and_then(Value::as_str).unwrap_or_default();
    let names = search.search(toolset, query, FOUND_AT_ONCE);
    if names.is_empty() {
        return (names, "No tool was found. Try other words, or do without one.".to_owned());
    }
    let told: Vec<Value> = names
        .iter()
        .filter_map(|name| toolset.get(name))
        .map(|entry| json!({"name": entry.name, "description": entry.spec().description}))
        .collect();
    (names, Value::Array(told).to_string())
}

/// Which tools a run begins with: those that the query itself finds.
pub(super) fn first(search: &dyn ToolSearch, toolset: &Toolset, query: &str) -> Vec<String> {
    search.search(toolset, query, FOUND_AT_ONCE)
}
