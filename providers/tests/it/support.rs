//! What the tests give the tools: a stopped clock, guarded connections that may reach this machine, and
//! stores that are empty.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::ports::{
    Blob, BlobError, BlobInfo, BlobLink, Blobs, Cipher, CipherError, Clock, CredentialError, Credentials,
    Scope, Sealed,
};
use domain::{AccountContext, AccountId, CallContext, Entry, ToolKind, ToolRef};
use egress::{Client, Policy};
use jiff::Timestamp;
use providers::{BuiltinSource, ToolDeps};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

/// 2026-12-01 14:44:29 UTC.
pub(crate) const NOW: i64 = 1_796_136_269;

pub(crate) fn deps() -> ToolDeps {
    ToolDeps {
        http: Client::new(Policy::strict().with_loopback(true)),
        credentials: Arc::new(Nothing),
        clock: Arc::new(Stopped),
        blobs: Arc::new(Nothing),
    }
}

pub(crate) fn source() -> BuiltinSource {
    BuiltinSource::new(deps(), Arc::new(Reversed))
}

pub(crate) fn context() -> CallContext {
    CallContext::new(account("alice"), Entry::Api, "test", Duration::from_secs(20))
}

pub(crate) fn account(name: &str) -> AccountId {
    AccountId::try_from(name.to_owned()).unwrap()
}

pub(crate) fn account_context(name: &str) -> AccountContext {
    AccountContext::new(account(name))
}

/// A reference to a builtin tool.
pub(crate) fn reference(path: &str, params: Value) -> ToolRef {
    let (provider, tool) = path.split_once('/').unwrap();
    let mut reference = ToolRef::new(ToolKind::BuiltinTool, provider, tool);
    reference.params = serde_json::from_value(params).unwrap();
    reference
}

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(NOW).unwrap()
    }
}

struct Nothing;

#[async_trait]
impl Credentials for Nothing {
    async fn get(
        &self,
        _account: &AccountId,
        _provider: &str,
    ) -> Result<Option<BTreeMap<String, SecretString>>, CredentialError> {
        Ok(None)
    }
}

#[async_trait]
impl Blobs for Nothing {
    async fn put(&self, _: &str, _: Bytes, _: &str, _: Option<Duration>) -> Result<(), BlobError> {
        Err(BlobError::ReadOnly("no tool of these tests writes".to_owned()))
    }

    async fn get(&self, key: &str, _: u64) -> Result<Blob, BlobError> {
        Err(BlobError::NotFound(key.to_owned()))
    }

    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError> {
        Err(BlobError::NotFound(key.to_owned()))
    }

    async fn delete(&self, _: &str) -> Result<(), BlobError> {
        Ok(())
    }

    async fn link(&self, key: &str, _: Duration) -> Result<BlobLink, BlobError> {
        Err(BlobError::NotFound(key.to_owned()))
    }

    async fn upload_link(&self, key: &str, _: u64, _: Duration) -> Result<BlobLink, BlobError> {
        Err(BlobError::NotFound(key.to_owned()))
    }
}

/// Enough of a cipher to see that scopes are respected: it writes the secret backwards behind its scope.
pub(crate) struct Reversed;

#[async_trait]
impl Cipher for Reversed {
    async fn seal(&self, scope: &Scope, secret: &SecretString) -> Result<Sealed, CipherError> {
        let backwards: String = secret.expose_secret().chars().rev().collect();
        Ok(Sealed(format!("{scope:?}|{backwards}")))
    }

    async fn open(&self, scope: &Scope, sealed: &Sealed) -> Result<SecretString, CipherError> {
        match sealed.0.strip_prefix(&format!("{scope:?}|")) {
            Some(backwards) => Ok(SecretString::from(backwards.chars().rev().collect::<String>())),
            None => {
                Err(CipherError::DoesNotOpen { resource: scope.resource.clone(), field: scope.field.clone() })
            }
        }
    }
}
