//! Credentials: an account's own keys for builtin providers and models, sealed, and masked on every read.

use async_trait::async_trait;
use domain::{
    AccountId,
    keys::{Key, Kind},
    ports::{
        Cipher, CipherError, Clock, Condition, CredentialError, Credentials, Item, Query, Scope, Sealed,
        Table, TableError, Write,
    },
    secret::{Kept, MASK, MaskWithoutValue, keep_masked},
};
use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};

const MAX_FIELDS: usize = 32;
const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 16 * 1024;

/// What may be told of a provider's stored credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedCredentials {
    /// The provider.
    pub provider: String,
    /// The fields that are stored, their values masked.
    pub fields: BTreeMap<String, String>,
    /// When they were last written.
    pub updated_at: Timestamp,
}

/// Why credentials were not read or written.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// Nothing is stored.
    #[error("no credentials are stored for `{0}`")]
    NotFound(String),
    /// What was sent cannot be stored.
    #[error("`{field}` is wrong: {message}")]
    Invalid {
        /// Which field, or `provider`.
        field: String,
        /// What is wrong with it. Never the value.
        message: String,
    },
    /// A stored record is not what it should be.
    #[error("the stored credentials of `{0}` are not readable: delete them and store them again")]
    Corrupt(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// They could not be sealed or opened.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

/// Stores credentials in a table, sealed field by field.
pub struct CredentialStore {
    table: Arc<dyn Table>,
    cipher: Arc<dyn Cipher>,
    clock: Arc<dyn Clock>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    fields: BTreeMap<String, Sealed>,
    updated_at: Timestamp,
}

impl CredentialStore {
    /// A store over a table and a cipher.
    pub fn new(table: Arc<dyn Table>, cipher: Arc<dyn Cipher>, clock: Arc<dyn Clock>) -> Self {
        Self { table, cipher, clock }
    }

    /// Stores a provider's fields in place of those that were there. A masked value keeps the stored one.
    pub async fn put(
        &self,
        account: &AccountId,
        provider: &str,
        fields: BTreeMap<String, String>,
    ) -> Result<MaskedCredentials, CredentialsError> {
        check(provider, &fields)?;
        let key = key_of(account, provider);
        let item = self.table.get(&key).await?;
        let condition = item.as_ref().map_or(Condition::Absent, |i| Condition::Version(i.version));
        let stored = match &item {
            Some(item) => read(item)?.fields,
            None => BTreeMap::new(),
        };
        let kept =
            keep_masked(fields, &stored).map_err(|MaskWithoutValue(field)| CredentialsError::Invalid {
                field,
                message: "it was sent masked, but nothing is stored for it: send the value itself".into(),
            })?;
        let mut sealed = BTreeMap::new();
        for (name, value) in kept {
            let value = match value {
                Kept::Stored(value) => value,
                Kept::New(value) => {
                    let scope = scope_of(account, provider, &name);
                    self.cipher.seal(&scope, &SecretString::from(value)).await?
                }
            };
            sealed.insert(name, value);
        }
        let record = Record { fields: sealed, updated_at: self.clock.now() };
        let body =
            serde_json::to_value(&record).map_err(|_| CredentialsError::Corrupt(provider.to_owned()))?;
        self.table.write(Write::put_if(key, body, condition)).await?;
        Ok(masked(provider, record))
    }

    /// What is stored for a provider, masked.
    pub async fn describe(
        &self,
        account: &AccountId,
        provider: &str,
    ) -> Result<MaskedCredentials, CredentialsError> {
        let item = self.table.get(&key_of(account, provider)).await?;
        let item = item.ok_or_else(|| CredentialsError::NotFound(provider.to_owned()))?;
        Ok(masked(provider, read(&item)?))
    }

    /// What is stored for all providers, masked, a page at a time.
    pub async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<MaskedCredentials>, Option<String>), CredentialsError> {
        let query = Query::prefix(Kind::Credential.of(account), PREFIX).limit(limit).after(cursor);
        let page = self.table.query(&query).await?;
        let describe = |item: &Item| Ok(masked(&item.key.sk()[PREFIX.len()..], read(item)?));
        Ok((page.items.iter().map(describe).collect::<Result<_, CredentialsError>>()?, page.next_cursor))
    }

    /// Forgets a provider's credentials.
    pub async fn delete(&self, account: &AccountId, provider: &str) -> Result<(), CredentialsError> {
        let write = Write::Delete { key: key_of(account, provider), condition: Condition::Exists };
        match self.table.write(write).await {
            Err(error) if error.is_conflict() => Err(CredentialsError::NotFound(provider.to_owned())),
            other => Ok(other.map(|_| ())?),
        }
    }
}

#[async_trait]
impl Credentials for CredentialStore {
    async fn get(
        &self,
        account: &AccountId,
        provider: &str,
    ) -> Result<Option<BTreeMap<String, SecretString>>, CredentialError> {
        let Some(item) = self.table.get(&key_of(account, provider)).await? else {
            return Ok(None);
        };
        let record = read(&item).map_err(|_| CredentialError::Corrupt(provider.to_owned()))?;
        let mut opened = BTreeMap::new();
        for (name, sealed) in record.fields {
            let value = self.cipher.open(&scope_of(account, provider, &name), &sealed).await?;
            opened.insert(name, value);
        }
        Ok(Some(opened))
    }
}

impl fmt::Debug for CredentialStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialStore").finish_non_exhaustive()
    }
}

const PREFIX: &str = "provider#";

fn key_of(account: &AccountId, provider: &str) -> Key {
    Kind::Credential.of(account).key(format!("{PREFIX}{provider}"))
}

fn scope_of(account: &AccountId, provider: &str, field: &str) -> Scope {
    Scope::new(account, Kind::Credential, provider, field)
}

fn read(item: &Item) -> Result<Record, CredentialsError> {
    Record::deserialize(&item.body)
        .map_err(|_| CredentialsError::Corrupt(item.key.sk()[PREFIX.len()..].to_owned()))
}

fn masked(provider: &str, record: Record) -> MaskedCredentials {
    MaskedCredentials {
        provider: provider.to_owned(),
        fields: record.fields.into_keys().map(|name| (name, MASK.to_owned())).collect(),
        updated_at: record.updated_at,
    }
}

fn check(provider: &str, fields: &BTreeMap<String, String>) -> Result<(), CredentialsError> {
    let invalid =
        |field: &str, message: String| Err(CredentialsError::Invalid { field: field.to_owned(), message });
    let legal_byte = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let legal = |name: &str| !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(legal_byte);
    let names = format!("use 1 to {MAX_NAME} letters, digits, `_`, `-` or `.`");
    if !legal(provider) {
        return invalid("provider", names);
    }
    if fields.is_empty() || fields.len() > MAX_FIELDS {
        return invalid("", format!("send 1 to {MAX_FIELDS} fields"));
    }
    for (name, value) in fields {
        if !legal(name) {
            return invalid(name, names);
        }
        if value.is_empty() || value.len() > MAX_VALUE {
            return invalid(name, format!("a value has 1 to {MAX_VALUE} bytes"));
        }
    }
    Ok(())
}
