//! `password` parameters in stored references: sealed, masked, opened. Opened values never leave this crate.
//!
//! A sealed value is the object `{"$sealed": "…"}` in the place of the text, bound to the account, the tool and
//! the parameter: copied anywhere else it does not open.

use domain::keys::Kind;
use domain::ports::{Cipher, CipherError, Scope, Sealed};
use domain::secret::MASK;
use domain::{AccountId, ProblemCode, ToolRef, Unresolved};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};

use crate::runtime::{Param, ParamKind, ToolEntry};

const SEALED: &str = "$sealed";

/// The params with every sealed value opened.
pub(crate) async fn open(
    entry: &'static ToolEntry,
    reference: &ToolRef,
    cipher: &dyn Cipher,
    account: &AccountId,
) -> Result<Map<String, Value>, Unresolved> {
    let mut params = reference.params.clone();
    for param in passwords(entry) {
        let Some(sealed) = params.get(param.name).and_then(sealed) else {
            continue;
        };
        let secret = cipher
            .open(&scope(entry, param, account), &sealed)
            .await
            .map_err(|error| failed(entry, param, &error))?;
        params.insert(param.name.to_owned(), json!(secret.expose_secret()));
    }
    Ok(params)
}

/// The reference with every plain secret sealed.
pub(crate) async fn seal(
    entry: &'static ToolEntry,
    mut reference: ToolRef,
    cipher: &dyn Cipher,
    account: &AccountId,
) -> Result<ToolRef, Unresolved> {
    for param in passwords(entry) {
        let Some(Value::String(plain)) = reference.params.get(param.name) else {
            continue;
        };
        if plain.is_empty() {
            continue;
        }
        let secret = SecretString::from(plain.clone());
        let sealed = cipher
            .seal(&scope(entry, param, account), &secret)
            .await
            .map_err(|error| failed(entry, param, &error))?;
        reference.params.insert(param.name.to_owned(), json!({ SEALED: sealed }));
    }
    Ok(reference)
}

/// The reference with what is stored in the place of each masked value.
pub(crate) fn keep_masked(entry: &'static ToolEntry, sent: &ToolRef, stored: Option<&ToolRef>) -> ToolRef {
    let mut reference = sent.clone();
    let same = |stored: &&ToolRef| stored.provider_id == sent.provider_id && stored.tool_id == sent.tool_id;
    let Some(stored) = stored.filter(same) else {
        return reference;
    };
    for param in passwords(entry) {
        let is_masked = reference.params.get(param.name).and_then(Value::as_str) == Some(MASK);
        if let (true, Some(kept)) = (is_masked, stored.params.get(param.name)) {
            reference.params.insert(param.name.to_owned(), kept.clone());
        }
    }
    reference
}

/// The reference with every secret masked.
pub(crate) fn mask(entry: &'static ToolEntry, reference: &ToolRef) -> ToolRef {
    let mut masked = reference.clone();
    for param in passwords(entry) {
        if let Some(value) = masked.params.get_mut(param.name) {
            *value = json!(MASK);
        }
    }
    masked
}

fn passwords(entry: &'static ToolEntry) -> impl Iterator<Item = &'static Param> {
    entry.params.iter().filter(|param| param.kind == ParamKind::Password)
}

fn sealed(value: &Value) -> Option<Sealed> {
    value.get(SEALED).and_then(Value::as_str).map(|text| Sealed(text.to_owned()))
}

fn scope(entry: &ToolEntry, param: &Param, account: &AccountId) -> Scope {
    let resource = format!("builtin_tool/{}/{}", entry.provider, entry.name);
    Scope::new(account, Kind::Credential, resource, param.name)
}

fn failed(entry: &ToolEntry, param: &Param, error: &CipherError) -> Unresolved {
    let (provider, tool, name) = (entry.provider, entry.name, param.name);
    if matches!(error, CipherError::DoesNotOpen { .. }) {
        let message = format!("params: the stored `{name}` does not open: set it anew");
        return Unresolved::new(ProblemCode::InvalidParams, message);
    }
    tracing::error!(provider, tool, param = name, %error, "a password parameter was not sealed or opened");
    Unresolved::new(ProblemCode::StoreFailed, format!("params: `{name}` could not be sealed or opened"))
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::ToolKind;

    use super::*;
    use crate::runtime::{Annotations, BuildError, LazySpec, Text};

    const TEXT: Text = Text { en_us: "Paint", zh_hans: "绘画" };
    const KEY: Param =
        Param { name: "key", label: TEXT, help: None, required: false, kind: ParamKind::Password };
    const SIZE: Param = Param {
        name: "size",
        label: TEXT,
        help: None,
        required: false,
        kind: ParamKind::String { default: None },
    };
    static ENTRY: ToolEntry = ToolEntry {
        provider: "paint",
        name: "picture",
        label: TEXT,
        description: TEXT,
        annotations: Annotations::PURE,
        params: &[KEY, SIZE],
        spec: LazySpec::of::<String>(),
        build: |_, _| Err(BuildError::Internal("not built here".to_owned())),
    };

    /// Writes the secret backwards behind its scope: enough to see that scopes are respected.
    struct Reversed;

    #[async_trait]
    impl Cipher for Reversed {
        async fn seal(&self, scope: &Scope, secret: &SecretString) -> Result<Sealed, CipherError> {
            let backwards: String = secret.expose_secret().chars().rev().collect();
            Ok(Sealed(format!("{scope:?}|{backwards}")))
        }

        async fn open(&self, scope: &Scope, sealed: &Sealed) -> Result<SecretString, CipherError> {
            let backwards = sealed.0.strip_prefix(&format!("{scope:?}|"));
            let opened = backwards.map(|text| SecretString::from(text.chars().rev().collect::<String>()));
            opened.ok_or(CipherError::DoesNotOpen { resource: String::new(), field: String::new() })
        }
    }

    fn account(name: &str) -> AccountId {
        AccountId::try_from(name.to_owned()).unwrap()
    }

    fn reference(params: Value) -> ToolRef {
        let mut reference = ToolRef::new(ToolKind::BuiltinTool, "paint", "picture");
        reference.params = serde_json::from_value(params).unwrap();
        reference
    }

    #[tokio::test]
    async fn a_secret_is_sealed_masked_kept_and_opened() {
        let alice = account("alice");
        let sent = reference(json!({"key": "s3cret", "size": "big"}));
        let stored = seal(&ENTRY, sent.clone(), &Reversed, &alice).await.unwrap();
        assert!(!serde_json::to_string(&stored).unwrap().contains("s3cret"));
        assert_eq!(stored.params["size"], "big");

        let shown = mask(&ENTRY, &stored);
        assert_eq!(shown.params["key"], MASK);
        let kept = keep_masked(&ENTRY, &shown, Some(&stored));
        assert_eq!(kept, stored);
        assert_eq!(
            seal(&ENTRY, kept, &Reversed, &alice).await.unwrap(),
            stored,
            "what is sealed is not sealed again"
        );
        assert_eq!(keep_masked(&ENTRY, &shown, None).params["key"], MASK, "nothing is stored to keep");

        assert_eq!(open(&ENTRY, &stored, &Reversed, &alice).await.unwrap(), sent.params);
        assert_eq!(open(&ENTRY, &sent, &Reversed, &alice).await.unwrap(), sent.params, "plain params pass");
    }

    #[tokio::test]
    async fn a_sealed_secret_opens_for_its_account_only() {
        let sent = reference(json!({"key": "s3cret"}));
        let stored = seal(&ENTRY, sent, &Reversed, &account("alice")).await.unwrap();
        let problem = open(&ENTRY, &stored, &Reversed, &account("bob")).await.unwrap_err();
        assert_eq!(problem.code, ProblemCode::InvalidParams);
        assert!(problem.message.contains("`key`") && !problem.message.contains("s3cret"), "{problem}");
    }
}
