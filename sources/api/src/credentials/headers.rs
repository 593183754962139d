//! The provider's own headers: sent with every request, sealed like credentials.

use super::CredentialProblem;
use crate::{compile::policy::is_of_the_connection, execute::headers as rules};
use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher, Scope, Sealed},
    secret::MASK,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// How many headers a provider may have.
const MAX_HEADERS: usize = 50;
/// The longest value, in bytes.
const MAX_VALUE: usize = 16 * 1024;

/// A header as it is sent: exactly these two keys.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeaderInput {
    /// Its name.
    pub key: String,
    /// Its value; the mask keeps the stored one.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub value: SecretString,
}

impl HeaderInput {
    /// Whether it keeps what is stored.
    pub(crate) fn is_masked(&self) -> bool {
        self.value.expose_secret() == MASK
    }
}

/// A header as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredHeader {
    /// Its name, as the user wrote it.
    pub key: String,
    /// Its value.
    pub value: Sealed,
}

impl StoredHeader {
    /// The place its value is sealed for.
    pub(crate) fn scope(account: &AccountId, provider: &str, key: &str) -> Scope {
        let field = format!("headers/{}", key.to_ascii_lowercase());
        Scope::new(account, Kind::ApiTool, provider, field)
    }
}

/// Seals headers; a masked value keeps what is stored under its name.
pub(crate) async fn seal_headers(
    cipher: &dyn Cipher,
    account: &AccountId,
    provider: &str,
    sent: Vec<HeaderInput>,
    stored: &[StoredHeader],
) -> Result<Vec<StoredHeader>, CredentialProblem> {
    let problem = |name: &str, reason: &str| CredentialProblem::Header {
        name: name.to_owned(),
        reason: reason.to_owned(),
    };
    if sent.len() > MAX_HEADERS {
        return Err(problem("headers", "are too many: at most 50"));
    }
    let mut seen = BTreeSet::new();
    let mut sealed = Vec::with_capacity(sent.len());
    for HeaderInput { key, value } in sent {
        check(&key, &value).map_err(|reason| problem(&key, reason))?;
        if !seen.insert(key.to_ascii_lowercase()) {
            return Err(problem(&key, "is given twice"));
        }
        let kept = || stored.iter().find(|old| old.key.eq_ignore_ascii_case(&key));
        let value = match (value.expose_secret() == MASK, kept()) {
            (true, Some(old)) => old.value.clone(),
            (true, None) => {
                return Err(problem(&key, "was sent masked, but no value is stored for it: send the value"));
            }
            (false, _) => {
                let scope = StoredHeader::scope(account, provider, &key);
                cipher.seal(&scope, &value).await?
            }
        };
        sealed.push(StoredHeader { key, value });
    }
    Ok(sealed)
}

fn check(key: &str, value: &SecretString) -> Result<(), &'static str> {
    if rules::name(key).is_none() {
        return Err("is not a header's name");
    }
    if is_of_the_connection(key) {
        return Err("belongs to the connection and cannot be set");
    }
    if value.expose_secret().len() > MAX_VALUE || rules::value(value.expose_secret()).is_none() {
        return Err("has a value that no header can carry: no line breaks, at most 16 KiB");
    }
    Ok(())
}

impl fmt::Debug for HeaderInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderInput").field("key", &self.key).finish_non_exhaustive()
    }
}
