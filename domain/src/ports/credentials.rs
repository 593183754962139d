//! `Credentials`: an account's own keys for builtin providers and models.

use crate::{
    account::AccountId,
    ports::{CipherError, TableError},
};
use async_trait::async_trait;
use secrecy::SecretString;
use std::collections::BTreeMap;

/// Why stored credentials could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// They did not open.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// The record is not what it should be.
    #[error("the stored credentials of `{0}` are not readable")]
    Corrupt(String),
}

/// Looks up an account's credentials. Opened values live only as long as the call that needs them.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The fields an account has stored for a provider; none when it has stored nothing.
    async fn get(
        &self,
        account: &AccountId,
        provider: &str,
    ) -> Result<Option<BTreeMap<String, SecretString>>, CredentialError>;
}
