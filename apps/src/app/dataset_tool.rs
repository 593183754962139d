//! `dataset_retrieval(query)`: an app's datasets as a tool.

use super::config::RetrievalConfig;
use async_trait::async_trait;
use domain::{
    Annotations, CallContext, Origin, Schema, Tool, ToolError, ToolKind, ToolOutput, ToolRef, ToolSpec,
    ports::{DatasetInfo, RetrieveError, Retriever},
};
use serde_json::{Value, json};
use std::{fmt::Write as _, sync::Arc};

/// The tool's name.
pub(crate) const NAME: &str = "dataset_retrieval";
/// What a search without a result says.
const NOTHING_FOUND: &str = "知识库内没有检索到对应内容";

/// Searches an app's datasets.
pub(crate) struct DatasetTool {
    spec: ToolSpec,
    retriever: Arc<dyn Retriever>,
    datasets: Vec<String>,
    config: RetrievalConfig,
}

impl DatasetTool {
    pub(crate) fn new(
        retriever: Arc<dyn Retriever>,
        datasets: Vec<DatasetInfo>,
        config: RetrievalConfig,
    ) -> Self {
        let mut description = String::from("Searches the knowledge that this app was given. It is about:");
        for dataset in &datasets {
            let _ = write!(description, "\n- {}", dataset.name);
            if !dataset.description.is_empty() {
                let _ = write!(description, ": {}", dataset.description);
            }
        }
        let spec = ToolSpec {
            name: NAME.to_owned(),
            title: "Search the datasets".to_owned(),
            description,
            args_schema: Schema::new(json!({
                "type": "object",
                "properties": {"query": {"type": "string", "minLength": 1, "description": "What to look for, in whole words"}},
                "required": ["query"]
            })),
            output_schema: None,
            annotations: Annotations::PURE,
            origin: Origin { kind: ToolKind::BuiltinTool, provider_name: "datasets".to_owned(), revision: 0 },
        };
        let datasets = datasets.into_iter().map(|dataset| dataset.id).collect();
        Self { spec, retriever, datasets, config }
    }
}

/// The reference that stands for the tool in a toolset; nothing resolves it.
pub(crate) fn reference() -> ToolRef {
    ToolRef::new(ToolKind::BuiltinTool, "datasets", NAME)
}

#[async_trait]
impl Tool for DatasetTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Value, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let query = args.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = self.retriever.retrieve(&cx.account, &self.datasets, query, self.config.limit).await;
        let mut passages = found.map_err(|error| match error {
            RetrieveError::NotFound(id) => ToolError::NotFound { what: format!("the dataset `{id}`") },
            RetrieveError::Failed(reason) => ToolError::Unreachable { reason },
        })?;
        passages.retain(|passage| self.config.min_score.is_none_or(|least| passage.score >= least));
        if passages.is_empty() {
            return Ok(ToolOutput::structured(NOTHING_FOUND, json!({"passages": []})));
        }
        let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
        Ok(ToolOutput::structured(texts.join("\n\n"), json!({"passages": passages})))
    }
}
