//! Language models of an account: where they are, and their keys, sealed.
//!
//! Records lie with the credentials. A client is made of a record when a model is asked for, and kept as long as the
//! record stays the same.

use async_trait::async_trait;
use domain::{
    AccountId, Dialect,
    keys::{Key, Kind},
    ports::{
        ChatError, ChatModel, Cipher, CipherError, Clock, Condition, Item, ModelEndpoint, ModelError,
        ModelFactory, ModelInfo, Models, OpenModel, Price, Query, Scope, Sealed, Table, TableError, Write,
    },
    secret::MASK,
};
use jiff::Timestamp;
use moka::sync::Cache;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{fmt, sync::Arc, time::Duration};
use url::Url;

/// The feature of models that call tools themselves.
pub const TOOL_CALL: &str = "tool_call";
const FEATURES: &[&str] = &[TOOL_CALL, "vision", "thinking"];
const MAX_NAME: usize = 100;
const MAX_MODEL: usize = 200;
const MAX_KEY: usize = 4096;
const DEFAULT_TIMEOUT_S: u64 = 120;
const DEFAULT_CONTEXT: u64 = 32_768;
const MAX_CLIENTS: u64 = 1000;
const PREFIX: &str = "model#";

/// How a model's service is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ModelKind {
    /// OpenAI's chat completions, and what is compatible with them.
    #[default]
    #[serde(rename = "openai")]
    OpenAi,
}

/// A model as it is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewModel {
    /// The name that people read.
    pub name: String,
    /// How its service is spoken to.
    #[serde(default)]
    pub kind: ModelKind,
    /// The address before `/chat/completions`.
    pub base_url: String,
    /// The key; left out where the service wants none. A masked one keeps what is stored.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub api_key: Option<SecretString>,
    /// The model's name at the service.
    pub model: String,
    /// What it can do: `tool_call`, `vision`, `thinking`. Where it is left out, it calls tools.
    #[serde(default)]
    pub features: Option<Vec<String>>,
    /// The dialect its schemas are put into; found by the address where it is left out.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// How many tokens it reads at most; 32768 where it is left out.
    #[serde(default)]
    pub context_tokens: Option<u64>,
    /// What a million tokens cost.
    #[serde(default)]
    pub price: Option<Price>,
    /// The longest wait for anything new, in seconds; 120 where it is left out.
    #[serde(default)]
    pub timeout_s: Option<u64>,
}

/// A model as it is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelView {
    /// Its id.
    pub id: String,
    /// The name that people read.
    pub name: String,
    /// How its service is spoken to.
    pub kind: ModelKind,
    /// The address before `/chat/completions`.
    pub base_url: String,
    /// Masked; left out where none is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// The model's name at the service.
    pub model: String,
    /// What it can do.
    pub features: Vec<String>,
    /// The dialect its schemas are put into.
    pub dialect: Dialect,
    /// How many tokens it reads at most.
    pub context_tokens: u64,
    /// What a million tokens cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The longest wait for anything new, in seconds.
    pub timeout_s: u64,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// Why a model was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelStoreError {
    /// There is none.
    #[error("there is no model `{0}`")]
    NotFound(String),
    /// What was sent cannot be stored.
    #[error("`{field}` is wrong: {message}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// Somebody else changed it in between.
    #[error(
        "the model `{0}` was changed by someone else at the same time: read it again and repeat the change"
    )]
    Conflict(String),
    /// A stored record is not what it should be.
    #[error("the stored model `{0}` is not readable")]
    Corrupt(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The key could not be sealed.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

#[derive(Clone, Serialize, Deserialize)]
struct Record {
    name: String,
    kind: ModelKind,
    base_url: String,
    api_key: Option<Sealed>,
    model: String,
    features: Vec<String>,
    dialect: Dialect,
    context_tokens: u64,
    price: Option<Price>,
    timeout_s: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Stores models, and opens them.
#[derive(Clone)]
pub struct ModelStore {
    table: Arc<dyn Table>,
    cipher: Arc<dyn Cipher>,
    clock: Arc<dyn Clock>,
    factory: Arc<dyn ModelFactory>,
    /// By id and version of the record.
    clients: Cache<(AccountId, String, u64, Timestamp), Arc<dyn ChatModel>>,
}

impl ModelStore {
    /// A store over a table and a cipher; clients are made by `factory`.
    pub fn new(
        table: Arc<dyn Table>,
        cipher: Arc<dyn Cipher>,
        clock: Arc<dyn Clock>,
        factory: Arc<dyn ModelFactory>,
    ) -> Self {
        let clients =
            Cache::builder().max_capacity(MAX_CLIENTS).time_to_idle(Duration::from_secs(600)).build();
        Self { table, cipher, clock, factory, clients }
    }

    /// Stores a new model.
    pub async fn create(&self, account: &AccountId, new: NewModel) -> Result<ModelView, ModelStoreError> {
        let id = format!("mdl_{}", uuid::Uuid::now_v7().simple());
        let record = self.record(account, &id, new, None).await?;
        self.put(account, &id, &record, Condition::Absent).await?;
        Ok(view(&id, record))
    }

    /// Changes a model.
    pub async fn update(
        &self,
        account: &AccountId,
        id: &str,
        new: NewModel,
    ) -> Result<ModelView, ModelStoreError> {
        let (stored, version) = self.read(account, id).await?;
        let record = self.record(account, id, new, Some(&stored)).await?;
        self.put(account, id, &record, Condition::Version(version)).await?;
        Ok(view(id, record))
    }

    /// A model.
    pub async fn get(&self, account: &AccountId, id: &str) -> Result<ModelView, ModelStoreError> {
        Ok(view(id, self.read(account, id).await?.0))
    }

    /// The account's models, a page at a time.
    pub async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<ModelView>, Option<String>), ModelStoreError> {
        let query = Query::prefix(Kind::Credential.of(account), PREFIX).limit(limit).after(cursor);
        let page = self.table.query(&query).await?;
        let shown = |item: &Item| Ok(view(&item.key.sk()[PREFIX.len()..], parse(item)?));
        Ok((page.items.iter().map(shown).collect::<Result<_, ModelStoreError>>()?, page.next_cursor))
    }

    /// Forgets a model. Apps that use it say so from then on.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), ModelStoreError> {
        let write = Write::Delete { key: key_of(account, id), condition: Condition::Exists };
        match self.table.write(write).await {
            Err(error) if error.is_conflict() => Err(ModelStoreError::NotFound(id.to_owned())),
            other => Ok(other.map(|_| ())?),
        }
    }

    /// The record that `new` asks for. A masked key keeps the stored one, as long as the address stays at its host: a key
    /// is never sent to a host that it was not given for.
    async fn record(
        &self,
        account: &AccountId,
        id: &str,
        new: NewModel,
        stored: Option<&Record>,
    ) -> Result<Record, ModelStoreError> {
        let url = check(&new)?;
        let now = self.clock.now();
        let dialect = new.dialect.unwrap_or_else(|| dialect_of(&url));
        let timeout_s = new.timeout_s.unwrap_or(DEFAULT_TIMEOUT_S);
        let endpoint = ModelEndpoint {
            base_url: new.base_url.clone(),
            api_key: None,
            model: new.model.clone(),
            dialect,
            timeout: Duration::from_secs(timeout_s),
        };
        self.factory.open(endpoint).map_err(|error| invalid("base_url", error.to_string()))?;
        let api_key = match &new.api_key {
            Some(key) if key.expose_secret() == MASK => Some(kept_key(stored, &url)?),
            Some(key) if key.expose_secret().is_empty() => None,
            Some(key) => Some(self.cipher.seal(&scope(account, id), key).await?),
            None => None,
        };
        Ok(Record {
            name: new.name,
            kind: new.kind,
            base_url: new.base_url,
            api_key,
            model: new.model,
            features: new.features.unwrap_or_else(|| vec![TOOL_CALL.to_owned()]),
            dialect,
            context_tokens: new.context_tokens.unwrap_or(DEFAULT_CONTEXT),
            price: new.price,
            timeout_s,
            created_at: stored.map_or(now, |stored| stored.created_at),
            updated_at: now,
        })
    }

    async fn put(
        &self,
        account: &AccountId,
        id: &str,
        record: &Record,
        condition: Condition,
    ) -> Result<(), ModelStoreError> {
        let body = serde_json::to_value(record).map_err(|_| ModelStoreError::Corrupt(id.to_owned()))?;
        match self.table.write(Write::put_if(key_of(account, id), body, condition)).await {
            Err(error) if error.is_conflict() => Err(ModelStoreError::Conflict(id.to_owned())),
            other => Ok(other.map(|_| ())?),
        }
    }

    async fn read(&self, account: &AccountId, id: &str) -> Result<(Record, u64), ModelStoreError> {
        let item = self.table.get(&key_of(account, id)).await?;
        let item = item.ok_or_else(|| ModelStoreError::NotFound(id.to_owned()))?;
        Ok((parse(&item)?, item.version))
    }

    async fn client(
        &self,
        account: &AccountId,
        id: &str,
        record: &Record,
        version: u64,
    ) -> Result<Arc<dyn ChatModel>, ModelStoreError> {
        let key = (account.clone(), id.to_owned(), version, record.updated_at);
        if let Some(client) = self.clients.get(&key) {
            return Ok(client);
        }
        let api_key = match &record.api_key {
            Some(sealed) => Some(self.cipher.open(&scope(account, id), sealed).await?),
            None => None,
        };
        let endpoint = ModelEndpoint {
            base_url: record.base_url.clone(),
            api_key,
            model: record.model.clone(),
            dialect: record.dialect,
            timeout: Duration::from_secs(record.timeout_s),
        };
        let client =
            self.factory.open(endpoint).map_err(|error: ChatError| invalid("base_url", error.to_string()))?;
        self.clients.insert(key, client.clone());
        Ok(client)
    }
}

#[async_trait]
impl Models for ModelStore {
    async fn model(&self, account: &AccountId, id: &str) -> Result<OpenModel, ModelError> {
        let failed = |error: ModelStoreError| match error {
            ModelStoreError::NotFound(id) => ModelError::NotFound(id),
            other => ModelError::Failed { id: id.to_owned(), reason: other.to_string() },
        };
        let (record, version) = self.read(account, id).await.map_err(failed)?;
        let chat = self.client(account, id, &record, version).await.map_err(failed)?;
        let info = ModelInfo {
            id: id.to_owned(),
            calls_tools: record.features.iter().any(|feature| feature == TOOL_CALL),
            name: record.name,
            dialect: record.dialect,
            context_tokens: record.context_tokens,
            price: record.price,
        };
        Ok(OpenModel { info, chat })
    }
}

impl fmt::Debug for ModelStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelStore").finish_non_exhaustive()
    }
}

fn check(new: &NewModel) -> Result<Url, ModelStoreError> {
    let characters = new.name.trim().chars().count();
    if characters == 0 || characters > MAX_NAME {
        return Err(invalid("name", format!("use 1 to {MAX_NAME} characters")));
    }
    if new.model.trim().is_empty() || new.model.len() > MAX_MODEL {
        return Err(invalid("model", format!("use 1 to {MAX_MODEL} bytes")));
    }
    if new.api_key.as_ref().is_some_and(|key| key.expose_secret().len() > MAX_KEY) {
        return Err(invalid("api_key", format!("a key has at most {MAX_KEY} bytes")));
    }
    let features = new.features.iter().flatten();
    if let Some(unknown) = features.clone().find(|feature| !FEATURES.contains(&feature.as_str())) {
        let unknown: String = unknown.chars().take(40).collect();
        return Err(invalid("features", format!("`{unknown}` is none of: {}", FEATURES.join(", "))));
    }
    if new.timeout_s.is_some_and(|seconds| !(1..=600).contains(&seconds)) {
        return Err(invalid("timeout_s", "use 1 to 600".into()));
    }
    if new.context_tokens.is_some_and(|tokens| !(512..=10_000_000).contains(&tokens)) {
        return Err(invalid("context_tokens", "use 512 to 10000000".into()));
    }
    if new.price.is_some_and(|price| !(price.input >= 0.0 && price.output >= 0.0)) {
        return Err(invalid("price", "prices are not negative".into()));
    }
    let url = Url::parse(new.base_url.trim()).map_err(|error| invalid("base_url", error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err(invalid("base_url", "use an http or https address".into())),
    }
}

fn kept_key(stored: Option<&Record>, url: &Url) -> Result<Sealed, ModelStoreError> {
    let same =
        |stored: &&Record| Url::parse(stored.base_url.trim()).is_ok_and(|old| old.origin() == url.origin());
    let kept = stored.filter(same).and_then(|stored| stored.api_key.clone());
    kept.ok_or_else(|| {
        invalid(
            "api_key",
            "it was sent masked, but none is stored for this address: send the key itself".into(),
        )
    })
}

/// The dialect of the services that are known by their address.
fn dialect_of(url: &Url) -> Dialect {
    let host = url.host_str().unwrap_or_default();
    let known = [
        ("dashscope", Dialect::Qwen),
        (".maas.aliyuncs.com", Dialect::Qwen),
        ("moonshot", Dialect::Moonshot),
        ("googleapis.com", Dialect::Gemini),
        ("anthropic.com", Dialect::Anthropic),
    ];
    known.iter().find(|(mark, _)| host.contains(mark)).map_or(Dialect::OpenAi, |(_, dialect)| *dialect)
}

fn view(id: &str, record: Record) -> ModelView {
    ModelView {
        id: id.to_owned(),
        name: record.name,
        kind: record.kind,
        base_url: record.base_url,
        api_key: record.api_key.map(|_| MASK.to_owned()),
        model: record.model,
        features: record.features,
        dialect: record.dialect,
        context_tokens: record.context_tokens,
        price: record.price,
        timeout_s: record.timeout_s,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

fn invalid(field: &'static str, message: String) -> ModelStoreError {
    ModelStoreError::Invalid { field, message }
}

fn key_of(account: &AccountId, id: &str) -> Key {
    Kind::Credential.of(account).key(format!("{PREFIX}{id}"))
}

fn scope(account: &AccountId, id: &str) -> Scope {
    Scope::new(account, Kind::Credential, format!("model/{id}"), "api_key")
}

fn parse<T: DeserializeOwned>(item: &Item) -> Result<T, ModelStoreError> {
    T::deserialize(&item.body).map_err(|_| ModelStoreError::Corrupt(item.key.sk().to_owned()))
}
