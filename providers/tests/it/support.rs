//! What the tests give the tools: a stopped clock, guarded connections that may reach this machine, and
//! stores that are empty.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::ports::{
    Blob, BlobError, BlobInfo, BlobLink, Blobs, Cipher, CipherError, Clock, CredentialError, Credentials,
    Scope, Sealed,
};
use domain::toolset::{ApprovalPolicy, Runtime};
use domain::{
    AccountContext, AccountId, CallContext, Entry, ToolError, ToolKind, ToolOutput, ToolRef, ToolSource as _,
    Toolset,
};
use egress::{Client, Policy};
use jiff::Timestamp;
use providers::{BuiltinSource, ToolDeps};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

/// 2026-12-01 14:44:29 UTC.
pub(crate) const NOW: i64 = 1_796_136_269;

pub(crate) fn deps() -> ToolDeps {
    deps_with(&Value::Null)
}

/// The same for an account that has stored these credentials, by provider.
pub(crate) fn deps_with(credentials: &Value) -> ToolDeps {
    ToolDeps {
        http: Client::new(Policy::strict().with_loopback(true)),
        credentials: Arc::new(Stored(credentials.clone())),
        clock: Arc::new(Stopped),
        blobs: Arc::new(Memory::default()),
    }
}

/// Calls a tool on the road that the product calls it on.
pub(crate) async fn invoke(
    deps: ToolDeps,
    path: &str,
    params: Value,
    args: Value,
    cx: &CallContext,
) -> Result<ToolOutput, ToolError> {
    let runtime = Runtime { blobs: Some(Arc::clone(&deps.blobs)), ..Runtime::default() };
    let source = BuiltinSource::new(deps, Arc::new(Reversed));
    let refs = vec![reference(path, params)];
    let resolved = source.resolve(&refs, &account_context("alice")).await;
    let tools = Toolset::new(refs, resolved, &[], ApprovalPolicy::Never, Arc::new(runtime));
    assert!(tools.problems().is_empty(), "{path}: {:?}", tools.problems());
    tools.invoke(&tools.entries()[0].name, args, cx).await
}

pub(crate) fn source() -> BuiltinSource {
    BuiltinSource::new(deps(), Arc::new(Reversed))
}

pub(crate) fn context() -> CallContext {
    context_for(Duration::from_secs(20))
}

pub(crate) fn context_for(time: Duration) -> CallContext {
    CallContext::new(account("alice"), Entry::Api, "test", time)
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

struct Stored(Value);

#[async_trait]
impl Credentials for Stored {
    async fn get(
        &self,
        _account: &AccountId,
        provider: &str,
    ) -> Result<Option<BTreeMap<String, SecretString>>, CredentialError> {
        let fields = self.0.get(provider).and_then(Value::as_object);
        let secret = |value: &Value| SecretString::from(value.as_str().unwrap().to_owned());
        Ok(fields.map(|fields| fields.iter().map(|(name, value)| (name.clone(), secret(value))).collect()))
    }
}

/// Blobs in memory, with links that tell the key.
#[derive(Default)]
pub(crate) struct Memory(Mutex<BTreeMap<String, Blob>>);

impl Memory {
    /// What is stored, by key.
    pub(crate) fn stored(&self) -> BTreeMap<String, Blob> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Blobs for Memory {
    async fn put(
        &self,
        key: &str,
        bytes: Bytes,
        content_type: &str,
        _: Option<Duration>,
    ) -> Result<(), BlobError> {
        let info =
            BlobInfo { content_type: content_type.to_owned(), size: bytes.len() as u64, expires_at: None };
        self.0.lock().unwrap().insert(key.to_owned(), Blob { info, bytes });
        Ok(())
    }

    async fn get(&self, key: &str, max: u64) -> Result<Blob, BlobError> {
        let found = self.0.lock().unwrap().get(key).cloned();
        let blob = found.ok_or_else(|| BlobError::NotFound(key.to_owned()))?;
        if blob.info.size > max { Err(BlobError::TooLarge { limit: max }) } else { Ok(blob) }
    }

    async fn info(&self, key: &str) -> Result<BlobInfo, BlobError> {
        self.get(key, u64::MAX).await.map(|blob| blob.info)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        self.0.lock().unwrap().remove(key);
        Ok(())
    }

    async fn link(&self, key: &str, keep: Duration) -> Result<BlobLink, BlobError> {
        self.info(key).await?;
        let expires_at = Timestamp::from_second(NOW).unwrap() + keep;
        Ok(BlobLink { url: format!("https://blobs.example/{key}"), expires_at })
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
