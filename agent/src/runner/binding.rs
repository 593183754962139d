//! A toolset as a model sees it: names, descriptions, and schemas in the model's dialect.

use super::search::{self, ToolSearch};
use domain::{
    Dialect, Toolset,
    dialect::{Unrepresentable, project},
    ports::{AgentRequest, ChatTool},
    toolset::ToolEntry,
};
use moka::sync::Cache;
use serde_json::Value;
use std::{collections::HashSet, sync::Arc};

/// How many projections are kept.
const MAX_KEPT: u64 = 4096;

/// Projections that were made before. A schema is known by where it is in memory, and kept alive as long as it is
/// known, so that the place means the schema.
#[derive(Clone)]
pub(super) struct Projections(Cache<(usize, Dialect), Kept>);

type Kept = (domain::Schema, Result<Arc<Value>, Unrepresentable>);

impl Default for Projections {
    fn default() -> Self {
        Self(Cache::new(MAX_KEPT))
    }
}

impl Projections {
    fn of(&self, entry: &ToolEntry, dialect: Dialect) -> Result<Arc<Value>, Unrepresentable> {
        let schema = &entry.spec().args_schema;
        let place = std::ptr::from_ref(schema.value()) as usize;
        let make = || (schema.clone(), project(schema.value(), dialect).map(|made| Arc::new(made.schema)));
        self.0.get_with((place, dialect), make).1
    }
}

/// What of a set the model is shown.
pub(super) struct Binding {
    toolset: Arc<Toolset>,
    dialect: Dialect,
    projections: Projections,
    search: Option<Search>,
}

struct Search {
    by: Arc<dyn ToolSearch>,
    found: HashSet<String>,
}

impl Binding {
    pub(super) fn new(
        request: &AgentRequest,
        by: Option<Arc<dyn ToolSearch>>,
        projections: Projections,
    ) -> Self {
        let toolset = request.toolset.clone();
        let is_large = |by: &Arc<dyn ToolSearch>| toolset.entries().len() >= by.threshold();
        let is_free = toolset.get(search::TOOL_SEARCH).is_none();
        let search = by.filter(|by| is_large(by) && is_free).map(|by| {
            let found = search::first(by.as_ref(), &toolset, &request.query).into_iter().collect();
            Search { by, found }
        });
        Self { dialect: request.model.info.dialect, toolset, projections, search }
    }

    /// The tools of the next turn. One that the model's dialect cannot express is left out and logged.
    pub(super) fn tools(&self) -> Vec<ChatTool> {
        let is_bound =
            |entry: &&ToolEntry| self.search.as_ref().is_none_or(|s| s.found.contains(&entry.name));
        let mut tools: Vec<ChatTool> =
            self.toolset.entries().iter().filter(is_bound).filter_map(|entry| self.tool(entry)).collect();
        tools.extend(self.search.as_ref().map(|_| search::tool(self.toolset.entries().len())));
        tools
    }

    /// Searches for tools; none where the set is shown whole.
    pub(super) fn search(&mut self, name: &str, args: &Value) -> Option<String> {
        let search = self.search.as_mut().filter(|_| name == search::TOOL_SEARCH)?;
        let (names, told) = search::run(search.by.as_ref(), &self.toolset, args);
        search.found.extend(names);
        Some(told)
    }

    fn tool(&self, entry: &ToolEntry) -> Option<ChatTool> {
        match self.projections.of(entry, self.dialect) {
            Ok(parameters) => Some(ChatTool {
                name: entry.name.clone(),
                description: entry.spec().description.clone(),
                parameters: Value::clone(&parameters),
            }),
            Err(error) => {
                tracing::warn!(tool = %entry.reference, dialect = %self.dialect, %error, "a tool is not shown to the model");
                None
            }
        }
    }
}
