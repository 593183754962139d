//! API keys: made once, shown once, kept as a hash.
//!
//! A key is `haft_{id}_{secret}` with 256 random bits. The table knows its SHA-256 alone: one item is found by the
//! hash (who is asking?), one by the account (which keys are there?). Both are written and removed together.

use domain::{
    AccountId, Role,
    keys::{Key, Kind, Lookup},
    ports::{Clock, Condition, Item, Query, Table, TableError, Write},
};
use jiff::Timestamp;
use moka::sync::Cache;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::{fmt, sync::Arc, time::Duration};

/// How long a key that was found is trusted without looking again: a key revoked by another process works
/// for at most this long.
const TRUSTED_FOR: Duration = Duration::from_secs(10);
const TRUSTED_KEYS: u64 = 10_000;
/// The shortest key an operator may bring along, in characters.
const MIN_OWN_KEY: usize = 32;
const MAX_KEY: usize = 256;
const MAX_NAME: usize = 100;

/// What is known of a key. The key itself is not among it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Its id, which is also the second part of the key.
    pub id: String,
    /// Whose data it opens.
    pub account: AccountId,
    /// What its holder may do.
    pub role: Role,
    /// What it is for, in its maker's words.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// The one app it is limited to.
    #[serde(default)]
    pub app_id: Option<String>,
}

/// A key to make.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What it is for.
    pub name: String,
    /// What its holder may do.
    pub role: Role,
    /// From when on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// The one app it is limited to.
    pub app_id: Option<String>,
}

/// Why a key was not made, found or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key opens nothing.
    #[error("the API key is not known: it was mistyped or revoked, or it has expired")]
    Unknown,
    /// There is no key of this id.
    #[error("the account has no key `{0}`")]
    NotFound(String),
    /// A key may not revoke itself, so that an account always keeps an admin.
    #[error("a key cannot revoke itself: use another admin key")]
    OwnKey,
    /// What was asked for is not possible.
    #[error("`{field}` is wrong: {message}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A stored record is not what it should be.
    #[error("the stored record of the key `{0}` is not readable")]
    Corrupt(String),
    /// The machine gives no random numbers.
    #[error("no random numbers could be had: {0}")]
    Entropy(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// The keys of all accounts.
pub struct Keys {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
    trusted: Cache<String, Arc<ApiKey>>,
}

impl Keys {
    /// Keys in a table.
    pub fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        let trusted = Cache::builder().max_capacity(TRUSTED_KEYS).time_to_live(TRUSTED_FOR).build();
        Self { table, clock, trusted }
    }

    /// Whose key this is and what it may do.
    pub async fn verify(&self, presented: &str) -> Result<Arc<ApiKey>, KeyError> {
        if presented.len() > MAX_KEY {
            return Err(KeyError::Unknown);
        }
        let hash = hash_of(presented);
        let key = match self.trusted.get(&hash) {
            Some(key) => key,
            None => self.look_up(hash).await?,
        };
        if key.expires_at.is_some_and(|end| end <= self.clock.now()) {
            return Err(KeyError::Unknown);
        }
        Ok(key)
    }

    async fn look_up(&self, hash: String) -> Result<Arc<ApiKey>, KeyError> {
        let item = self.table.get(&lookup_key(&hash)).await?.ok_or(KeyError::Unknown)?;
        let key = Arc::new(read::<ApiKey>(&item)?);
        self.trusted.insert(hash, key.clone());
        Ok(key)
    }

    /// Makes a key. Its text is told here and never again.
    pub async fn create(&self, account: &AccountId, new: NewKey) -> Result<(ApiKey, SecretString), KeyError> {
        let text = generate()?;
        let key = self.register(account, new, &text).await?;
        Ok((key, text))
    }

    /// Registers a key whose text already exists, such as one that the operator brought along.
    pub async fn register(
        &self,
        account: &AccountId,
        new: NewKey,
        text: &SecretString,
    ) -> Result<ApiKey, KeyError> {
        let (key, writes) = self.prepare(account, new, text)?;
        self.table.transact(writes).await?;
        Ok(key)
    }

    /// A key, and the writes that make it known.
    pub(crate) fn prepare(
        &self,
        account: &AccountId,
        new: NewKey,
        text: &SecretString,
    ) -> Result<(ApiKey, Vec<Write>), KeyError> {
        self.check(&new, text)?;
        let key = ApiKey {
            id: id_of(text.expose_secret()),
            account: account.clone(),
            role: new.role,
            name: new.name,
            created_at: self.clock.now(),
            expires_at: new.expires_at,
            app_id: new.app_id,
        };
        let hash = hash_of(text.expose_secret());
        let record = serde_json::to_value(&key).map_err(|_| KeyError::Corrupt(key.id.clone()))?;
        let put =
            |at, body| Write::Put { key: at, body, expires_at: key.expires_at, condition: Condition::Absent };
        let listed = json!({"key": record, "hash": hash});
        let writes = vec![put(lookup_key(&hash), record), put(listing_key(account, &key.id), listed)];
        Ok((key, writes))
    }

    fn check(&self, new: &NewKey, text: &SecretString) -> Result<(), KeyError> {
        let invalid = |field, message: String| Err(KeyError::Invalid { field, message });
        let characters = new.name.chars().count();
        if characters == 0 || characters > MAX_NAME || new.name.chars().any(char::is_control) {
            return invalid(
                "name",
                format!("use 1 to {MAX_NAME} characters, none of them a control character"),
            );
        }
        if new.expires_at.is_some_and(|end| end <= self.clock.now()) {
            return invalid("expires_at", "it has passed".into());
        }
        let text = text.expose_secret();
        if !(MIN_OWN_KEY..=MAX_KEY).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_graphic()) {
            let message = format!("a key has {MIN_OWN_KEY} to {MAX_KEY} visible ASCII characters");
            return invalid("key", message);
        }
        Ok(())
    }

    /// The keys of an account, a page at a time.
    pub async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<ApiKey>, Option<String>), KeyError> {
        let query = Query::prefix(Kind::Account.of(account), "key#").limit(limit).after(cursor);
        let page = self.table.query(&query).await?;
        let keys = page.items.iter().map(|item| read::<Listed>(item).map(|l| l.key));
        Ok((keys.collect::<Result<_, _>>()?, page.next_cursor))
    }

    /// Revokes a key. `by` is the key that asks for it.
    pub async fn revoke(&self, account: &AccountId, id: &str, by: &str) -> Result<(), KeyError> {
        if id == by {
            return Err(KeyError::OwnKey);
        }
        let at = listing_key(account, id);
        let not_found = || KeyError::NotFound(id.to_owned());
        let item = self.table.get(&at).await?.ok_or_else(not_found)?;
        let hash = read::<Listed>(&item)?.hash;
        self.table.transact(vec![Write::delete(lookup_key(&hash)), Write::delete(at)]).await?;
        self.trusted.invalidate(&hash);
        Ok(())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

/// A new key's text.
pub fn generate() -> Result<SecretString, KeyError> {
    let mut bytes = [0_u8; 40];
    getrandom::fill(&mut bytes).map_err(|e| KeyError::Entropy(e.to_string()))?;
    let (id, secret) = bytes.split_at(8);
    Ok(format!("haft_{}_{}", hex::encode(id), hex::encode(secret)).into())
}

#[derive(Deserialize)]
struct Listed {
    key: ApiKey,
    hash: String,
}

fn read<T: serde::de::DeserializeOwned>(item: &Item) -> Result<T, KeyError> {
    T::deserialize(&item.body).map_err(|_| KeyError::Corrupt(item.key.sk().to_owned()))
}

fn hash_of(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// The id that stands in a key of ours; of a key that was brought along, the beginning of its hash.
fn id_of(text: &str) -> String {
    let ours = text.strip_prefix("haft_").and_then(|rest| rest.split_once('_'));
    match ours {
        Some((id, _)) if id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()) => id.to_owned(),
        _ => hash_of(text)[..16].to_owned(),
    }
}

fn lookup_key(hash: &str) -> Key {
    Lookup::ApiKey(hash).partition().key("key")
}

fn listing_key(account: &AccountId, id: &str) -> Key {
    Kind::Account.of(account).key(format!("key#{id}"))
}
