//! `Retriever`: passages of an account's datasets that answer a query.

use crate::account::AccountId;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A passage that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Its text.
    pub text: String,
    /// The document's title.
    pub title: String,
    /// How well it answers; higher is better, comparable within one answer only.
    pub score: f64,
    /// What else the service says of it.
    pub metadata: Map<String, Value>,
}

/// What a dataset is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetInfo {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What is in it, for a model that may search it.
    pub description: String,
}

/// Why nothing could be looked up.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The dataset does not exist.
    #[error("there is no dataset `{0}`")]
    NotFound(String),
    /// The service behind it failed.
    #[error("the dataset's service failed: {0}")]
    Failed(String),
}

/// Searches datasets.
#[async_trait]
pub trait Retriever: Send + Sync {
    /// The best `limit` passages of the datasets for a query, best first.
    async fn retrieve(
        &self,
        account: &AccountId,
        datasets: &[String],
        query: &str,
        limit: usize,
    ) -> Result<Vec<Passage>, RetrieveError>;

    /// What is known of datasets, in the order of `datasets`; none for one that the account does not have.
    async fn describe(
        &self,
        account: &AccountId,
        datasets: &[String],
    ) -> Result<Vec<Option<DatasetInfo>>, RetrieveError> {
        let _ = account;
        Ok(datasets.iter().map(|_| None).collect())
    }
}
