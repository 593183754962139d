//! `Models`: the language models an account has set up, by id; and who makes a client of what is stored.

use crate::{
    account::AccountId,
    dialect::Dialect,
    ports::{ChatError, ChatModel, Usage},
};
use async_trait::async_trait;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc, time::Duration};

/// What is known of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// The record's id.
    pub id: String,
    /// The name that people read.
    pub name: String,
    /// Whether it calls tools itself; else it is asked in words to write calls down.
    pub calls_tools: bool,
    /// The dialect its schemas are put into.
    pub dialect: Dialect,
    /// How many tokens it reads at most.
    pub context_tokens: u64,
    /// What it costs, where that was told.
    pub price: Option<Price>,
}

/// What a model costs, for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Price {
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
}

impl Price {
    /// What a turn costs.
    pub fn of(self, usage: Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
        let (input, output) = (usage.input_tokens as f64, usage.output_tokens as f64);
        (self.input * input + self.output * output) / 1_000_000.0
    }
}

/// A model, ready to be asked.
#[derive(Clone)]
pub struct OpenModel {
    /// What is known of it.
    pub info: ModelInfo,
    /// Its client.
    pub chat: Arc<dyn ChatModel>,
}

impl fmt::Debug for OpenModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenModel").field("info", &self.info).finish_non_exhaustive()
    }
}

/// Why a model cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelError {
    /// The account has none of this id.
    #[error("there is no model `{0}`: add it under /models, or choose another")]
    NotFound(String),
    /// It could not be made ready.
    #[error("the model `{id}` cannot be used: {reason}")]
    Failed {
        /// The model's id.
        id: String,
        /// Why, without secrets.
        reason: String,
    },
}

/// The language models of an account.
#[async_trait]
pub trait Models: Send + Sync {
    /// The model of an id.
    async fn model(&self, account: &AccountId, id: &str) -> Result<OpenModel, ModelError>;
}

/// Where a model is and how it is spoken to.
#[derive(Clone, Debug)]
pub struct ModelEndpoint {
    /// The address before `/chat/completions`.
    pub base_url: String,
    /// The key, where the service wants one.
    pub api_key: Option<SecretString>,
    /// The model's name at the service.
    pub model: String,
    /// The dialect its schemas are put into.
    pub dialect: Dialect,
    /// The longest wait for anything new.
    pub timeout: Duration,
}

/// Makes clients of models. Nothing is connected before the first turn.
pub trait ModelFactory: Send + Sync {
    /// A client of an endpoint.
    ///
    /// # Errors
    /// When the address is none, or may not be connected to.
    fn open(&self, endpoint: ModelEndpoint) -> Result<Arc<dyn ChatModel>, ChatError>;
}
