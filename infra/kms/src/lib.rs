//! The [`Cipher`] port over AWS KMS: envelope encryption.
//!
//! KMS makes a data key per account and kind, with both as its encryption context, so that a role's policy can
//! be limited to kinds. Values are sealed under it by AES-256-GCM with the scope as associated data, and carry
//! the wrapped data key with them. Data keys are kept in memory for minutes, a bounded number of them; KMS's
//! own rotation changes nothing here, since a wrapped key says which version wrapped it.
//!
//! It knows KMS and the ciphertext; never what a secret is for.

mod envelope;
mod fault;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_kms::{
    Client,
    config::{retry::RetryConfig, timeout::TimeoutConfig},
    primitives::Blob,
    types::DataKeySpec,
};
use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher, CipherError, Scope, Sealed},
};
use envelope::{DataKey, Envelope};
use fault::{Fault, failed};
use moka::sync::Cache;
use secrecy::SecretString;
use std::{collections::HashMap, fmt, sync::Arc, time::Duration};
use zeroize::Zeroize as _;

/// How long a data key is used before KMS is asked again: so long may a disabled key still open.
const KEEP: Duration = Duration::from_mins(5);
/// How many data keys are kept, for sealing and for opening each.
const KEPT: u64 = 1000;
/// How long one request may take before it is repeated.
const ATTEMPT: Duration = Duration::from_secs(5);

/// A cipher whose master key is in KMS.
#[derive(Clone)]
pub struct KmsCipher {
    client: Client,
    key: Arc<str>,
    sealing: Cache<(AccountId, Kind), Arc<DataKey>>,
    opening: Cache<(AccountId, Kind, Vec<u8>), Arc<DataKey>>,
}

impl fmt::Debug for KmsCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KmsCipher").field("key", &self.key).finish_non_exhaustive()
    }
}

impl KmsCipher {
    /// The cipher of a key, by its ARN. Nothing is sent before the first use.
    pub fn new(config: &SdkConfig, key: &str) -> Self {
        let config = aws_sdk_kms::config::Builder::from(config)
            .retry_config(RetryConfig::standard().with_max_attempts(4))
            .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT).build());
        Self {
            client: Client::from_conf(config.build()),
            key: key.into(),
            sealing: Cache::builder().max_capacity(KEPT).time_to_live(KEEP).build(),
            opening: Cache::builder().max_capacity(KEPT).time_to_live(KEEP).build(),
        }
    }

    async fn sealing_key(&self, scope: &Scope) -> Result<Arc<DataKey>, CipherError> {
        let of = (scope.account.clone(), scope.kind);
        if let Some(key) = self.sealing.get(&of) {
            return Ok(key);
        }
        let request = self
            .client
            .generate_data_key()
            .key_id(&*self.key)
            .key_spec(DataKeySpec::Aes256)
            .set_encryption_context(Some(context(scope)));
        let made = request.send().await.map_err(|e| Fault::of(&self.key, scope, e).into_error())?;
        let wrapped = made.ciphertext_blob.ok_or_else(|| failed("KMS gave no wrapped key"))?;
        let key = data_key(made.plaintext, wrapped.into_inner())?;
        self.sealing.insert(of, key.clone());
        Ok(key)
    }

    async fn opening_key(&self, scope: &Scope, wrapped: &[u8]) -> Result<Arc<DataKey>, CipherError> {
        let of = (scope.account.clone(), scope.kind, wrapped.to_vec());
        if let Some(key) = self.opening.get(&of) {
            return Ok(key);
        }
        let request = self
            .client
            .decrypt()
            .key_id(&*self.key)
            .ciphertext_blob(Blob::new(wrapped))
            .set_encryption_context(Some(context(scope)));
        let opened = request.send().await.map_err(|e| Fault::of(&self.key, scope, e).into_error())?;
        let key = data_key(opened.plaintext, wrapped.to_vec())?;
        self.opening.insert(of, key.clone());
        Ok(key)
    }
}

#[async_trait]
impl Cipher for KmsCipher {
    async fn seal(&self, scope: &Scope, secret: &SecretString) -> Result<Sealed, CipherError> {
        let key = self.sealing_key(scope).await?;
        Ok(Sealed(key.seal(scope, secret)?.to_text()?))
    }

    async fn open(&self, scope: &Scope, sealed: &Sealed) -> Result<SecretString, CipherError> {
        let closed =
            || CipherError::DoesNotOpen { resource: scope.resource.clone(), field: scope.field.clone() };
        let envelope = Envelope::of_text(&sealed.0).ok_or_else(closed)?;
        let key = self.opening_key(scope, envelope.wrapped()).await?;
        key.open(scope, &envelope).ok_or_else(closed)
    }
}

/// Stands in CloudTrail in clear: ids only.
fn context(scope: &Scope) -> HashMap<String, String> {
    HashMap::from([
        ("account".to_owned(), scope.account.to_string()),
        ("kind".to_owned(), scope.kind.prefix().to_owned()),
    ])
}

fn data_key(plaintext: Option<Blob>, wrapped: Vec<u8>) -> Result<Arc<DataKey>, CipherError> {
    let mut plaintext = plaintext.map(Blob::into_inner).unwrap_or_default();
    let key = DataKey::new(&plaintext, wrapped);
    plaintext.zeroize();
    key.map(Arc::new).ok_or_else(|| failed("KMS gave a data key of another size"))
}
