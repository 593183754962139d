//! A config as the toolset that every channel uses: its tools, its datasets, its workflows, in this order.

use super::{
    AppConfig,
    dataset_tool::{self, DatasetTool},
    references::{References, own_names},
};
use domain::{
    AccountContext, AccountId, ToolKind, Toolset,
    ports::{Assembler as _, Assembly, RetrieveError},
};
use std::sync::Arc;

impl References {
    /// Assembles a config. What could not be taken is in [`Toolset::problems`], by its place in [`AppConfig::refs`].
    ///
    /// # Errors
    /// When the datasets cannot be looked up: an agent that does not know that it knows something answers wrong.
    pub async fn toolset(&self, account: &AccountId, config: &AppConfig) -> Result<Toolset, RetrieveError> {
        let cx = AccountContext::new(account.clone());
        let assembly =
            Assembly { refs: config.refs(), approval: config.approval, reserved_names: own_names() };
        let (toolset, dataset_tool) =
            tokio::join!(self.assembler().assemble(assembly, &cx), self.dataset_tool(account, config));
        let mut toolset = toolset;
        if let Some(tool) = dataset_tool? {
            let is_workflow =
                |entry: &domain::toolset::ToolEntry| entry.reference.kind == ToolKind::WorkflowTool;
            let before_workflows = toolset.entries().iter().take_while(|entry| !is_workflow(entry)).count();
            if toolset.insert(before_workflows, dataset_tool::reference(), Arc::new(tool)).is_err() {
                tracing::error!("the name of the dataset tool was given away although it is reserved");
            }
        }
        Ok(toolset)
    }

    async fn dataset_tool(
        &self,
        account: &AccountId,
        config: &AppConfig,
    ) -> Result<Option<DatasetTool>, RetrieveError> {
        let Some(retriever) = self.retriever().filter(|_| !config.datasets.is_empty()) else {
            return Ok(None);
        };
        let found: Vec<_> =
            retriever.describe(account, &config.datasets).await?.into_iter().flatten().collect();
        if found.is_empty() {
            return Ok(None);
        }
        Ok(Some(DatasetTool::new(retriever.clone(), found, config.retrieval_config)))
    }
}
