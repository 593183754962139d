//! `dataset_retrieval`: passages of the account's datasets.

use super::{NodeError, outputs};
use crate::graph::kinds::DatasetRetrieval;
use domain::{
    AccountId,
    ports::{RetrieveError, Retriever},
};
use serde_json::{Map, Value, json};

/// Searches, best first.
pub(crate) async fn retrieve(
    retriever: &dyn Retriever,
    account: &AccountId,
    node: &DatasetRetrieval,
    inputs: &Map<String, Value>,
) -> Result<Map<String, Value>, NodeError> {
    let query = inputs.get("query").and_then(Value::as_str).unwrap_or_default();
    let config = &node.retrieval_config;
    let found = retriever.retrieve(account, &node.dataset_ids, query, config.limit).await;
    let mut passages = found.map_err(|error| match error {
        RetrieveError::NotFound(_) => NodeError::new("dataset_not_found", error.to_string()),
        RetrieveError::Failed(_) => NodeError::passing("retrieval_failed", error.to_string()),
    })?;
    passages.retain(|passage| config.min_score.is_none_or(|least| passage.score >= least));
    let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    Ok(outputs([("combine_documents", texts.join("\n").into()), ("documents", json!(passages))]))
}
