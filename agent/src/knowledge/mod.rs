//! Datasets: what an agent may look up.
//!
//! | module | purpose |
//! |---|---|
//! | [`record`] | what is stored of a dataset and its documents |
//! | `store` | datasets and documents in the table |
//! | [`split`] | a text to passages |
//! | [`index`] | passages ranked by BM25, Chinese included |
//! | `external` | a knowledge service elsewhere, by Dify's External Knowledge protocol |
//!
//! [`Knowledge`] is all of it behind the `Retriever` port. It knows no model and no agent.

mod external;
pub mod index;
pub mod record;
pub mod split;
mod store;

use async_trait::async_trait;
use domain::{
    AccountId,
    ports::{Cipher, CipherError, Clock, DatasetInfo, Passage, RetrieveError, Retriever, Table, TableError},
};
use futures::future::try_join_all;
use index::Index;
use moka::sync::Cache;
use record::Dataset;
use std::{fmt, sync::Arc};

/// How many bytes of indexed text are kept in memory.
const CACHED_BYTES: u64 = 64 * 1024 * 1024;
/// The most passages of one answer.
const MAX_PASSAGES: usize = 50;

/// Datasets of all accounts.
#[derive(Clone)]
pub struct Knowledge {
    table: Arc<dyn Table>,
    cipher: Arc<dyn Cipher>,
    clock: Arc<dyn Clock>,
    http: egress::Client,
    /// By dataset and revision: a new revision is another index.
    indexes: Cache<(AccountId, String, u64), Arc<Index>>,
}

/// Why a dataset was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// There is none.
    #[error("{0} was not found")]
    NotFound(String),
    /// What was sent cannot be stored.
    #[error("`{field}` is wrong: {message}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// Documents belong to the service elsewhere.
    #[error("the dataset `{0}` is kept by a service elsewhere: add documents there")]
    Elsewhere(String),
    /// The dataset would be too large.
    #[error("the dataset holds at most {limit}: delete documents, or begin another dataset")]
    Full {
        /// What, and how much of it.
        limit: &'static str,
    },
    /// Somebody else changed it in between.
    #[error("the dataset `{0}` was changed by someone else at the same time: repeat the change")]
    Conflict(String),
    /// A stored record is not what it should be.
    #[error("the stored record `{0}` is not readable")]
    Corrupt(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The key of the service could not be sealed or opened.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// The service elsewhere failed.
    #[error("the knowledge service failed: {0}")]
    Service(String),
}

impl Knowledge {
    /// Datasets in a table; services elsewhere are asked through `http`.
    pub fn new(
        table: Arc<dyn Table>,
        cipher: Arc<dyn Cipher>,
        clock: Arc<dyn Clock>,
        http: egress::Client,
    ) -> Self {
        let weight = |_: &_, index: &Arc<Index>| u32::try_from(index.bytes()).unwrap_or(u32::MAX);
        let indexes = Cache::builder().max_capacity(CACHED_BYTES).weigher(weight).build();
        Self { table, cipher, clock, http, indexes }
    }

    /// The best passages of one dataset for a query, best first.
    pub async fn search(
        &self,
        account: &AccountId,
        id: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Passage>, KnowledgeError> {
        let dataset = self.get(account, id).await?;
        self.search_one(account, &dataset, query, limit.min(MAX_PASSAGES)).await
    }

    async fn search_one(
        &self,
        account: &AccountId,
        dataset: &Dataset,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Passage>, KnowledgeError> {
        match &dataset.external {
            Some(service) => {
                let key = self.open_key(account, &dataset.id, service).await?;
                external::retrieve(&self.http, service, key.as_ref(), query, limit).await
            }
            None => Ok(self.index(account, dataset).await?.search(query, limit)),
        }
    }

    async fn index(&self, account: &AccountId, dataset: &Dataset) -> Result<Arc<Index>, KnowledgeError> {
        let key = (account.clone(), dataset.id.clone(), dataset.revision);
        if let Some(index) = self.indexes.get(&key) {
            return Ok(index);
        }
        let passages = self.passages(account, dataset).await?;
        let built = tokio::task::spawn_blocking(move || Arc::new(Index::build(passages))).await;
        let index = built.map_err(|error| KnowledgeError::Service(format!("indexing failed: {error}")))?;
        self.indexes.insert(key, index.clone());
        Ok(index)
    }
}

#[async_trait]
impl Retriever for Knowledge {
    async fn retrieve(
        &self,
        account: &AccountId,
        datasets: &[String],
        query: &str,
        limit: usize,
    ) -> Result<Vec<Passage>, RetrieveError> {
        let limit = limit.min(MAX_PASSAGES);
        let found = self.get_many(account, datasets).await.map_err(failed)?;
        let found = found
            .into_iter()
            .zip(datasets)
            .map(|(dataset, id)| dataset.ok_or_else(|| RetrieveError::NotFound(id.clone())));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        let searches = found.iter().map(|dataset| self.search_one(account, dataset, query, limit));
        let mut passages: Vec<Passage> =
            try_join_all(searches).await.map_err(failed)?.into_iter().flatten().collect();
        passages.sort_by(|a, b| b.score.total_cmp(&a.score));
        passages.truncate(limit);
        Ok(passages)
    }

    async fn describe(
        &self,
        account: &AccountId,
        datasets: &[String],
    ) -> Result<Vec<Option<DatasetInfo>>, RetrieveError> {
        let found = self.get_many(account, datasets).await.map_err(failed)?;
        let info = |dataset: Dataset| DatasetInfo {
            id: dataset.id,
            name: dataset.name,
            description: dataset.description,
        };
        Ok(found.into_iter().map(|dataset| dataset.map(info)).collect())
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Knowledge").finish_non_exhaustive()
    }
}

fn failed(error: KnowledgeError) -> RetrieveError {
    match error {
        KnowledgeError::NotFound(what) => RetrieveError::NotFound(what),
        other => RetrieveError::Failed(other.to_string()),
    }
}
