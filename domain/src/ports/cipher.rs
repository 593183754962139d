//! `Cipher`: seals secrets at rest, bound to whose they are and where they stand.

use crate::{account::AccountId, keys::Kind};
use async_trait::async_trait;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a sealed value belongs. A value moved elsewhere does not open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Whose it is.
    pub account: AccountId,
    /// What kind of record holds it. Data keys are per account and kind.
    pub kind: Kind,
    /// The record's id.
    pub resource: String,
    /// The field within the record.
    pub field: String,
}

impl Scope {
    /// The scope of one field of a record.
    pub fn new(
        account: &AccountId,
        kind: Kind,
        resource: impl Into<String>,
        field: impl Into<String>,
    ) -> Self {
        Self { account: account.clone(), kind, resource: resource.into(), field: field.into() }
    }

    /// The additional authenticated data that binds a ciphertext to this scope; unambiguous.
    pub fn associated_data(&self) -> Vec<u8> {
        let mut data = Vec::new();
        for part in [self.account.as_str(), self.kind.prefix(), &self.resource, &self.field] {
            data.extend_from_slice(&(part.len() as u64).to_be_bytes());
            data.extend_from_slice(part.as_bytes());
        }
        data
    }
}

/// A sealed value, as it is stored: text that says nothing without the key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(pub String);

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(..)")
    }
}

/// Why a value was not sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum CipherError {
    /// The value was sealed for another place, or altered, or under another key.
    #[error(
        "the sealed value of `{field}` in `{resource}` does not open: it was altered, moved, or sealed with another key"
    )]
    DoesNotOpen {
        /// The record.
        resource: String,
        /// The field.
        field: String,
    },
    /// The key cannot be used: missing, corrupt, disabled, forbidden.
    #[error("the encryption key cannot be used: {0}")]
    KeyUnusable(String),
    /// Anything else.
    #[error("the cipher failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Seals and opens secrets. AES-256-GCM under a data key per account and kind.
#[async_trait]
pub trait Cipher: Send + Sync {
    /// Seals a secret for a place. Sealing twice gives two different texts.
    async fn seal(&self, scope: &Scope, secret: &SecretString) -> Result<Sealed, CipherError>;

    /// Opens what was sealed for the same place.
    async fn open(&self, scope: &Scope, sealed: &Sealed) -> Result<SecretString, CipherError>;
}
