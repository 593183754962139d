//! Seals the secrets of a server; a masked value keeps the sealed one it stands for.

use super::{ServerError, Servers};
use crate::{connector::scope_of, input::pointer, record::Transport};
use domain::{
    AccountId,
    ports::Sealed,
    secret::{Kept, MASK, keep_masked},
};
use secrecy::SecretString;
use std::collections::BTreeMap;

impl Servers {
    /// Seals the values of `field` (`headers` or `env`). Masked ones are taken from `before`, which is given
    /// only where it leads to the same place: a secret stored for one place is never sent to another.
    pub(super) async fn seal(
        &self,
        account: &AccountId,
        id: &str,
        field: &str,
        sent: BTreeMap<String, String>,
        before: Option<&Transport>,
    ) -> Result<BTreeMap<String, Sealed>, ServerError> {
        let none = BTreeMap::new();
        let stored = match before.map(Transport::secrets) {
            Some((kind, values)) if kind == field => values,
            _ => &none,
        };
        let masked = sent.iter().find(|(name, value)| *value == MASK && !stored.contains_key(*name));
        if let Some((name, _)) = masked {
            return Err(ServerError::invalid(
                format!("/{field}/{}", pointer(name)),
                "was sent masked, but no value is stored for it at this address or command: send the value itself",
            ));
        }
        let kept = keep_masked(sent, stored)
            .map_err(|e| ServerError::invalid(format!("/{field}/{}", pointer(&e.0)), e.to_string()))?;
        let mut sealed = BTreeMap::new();
        for (name, value) in kept {
            let value = match value {
                Kept::Stored(value) => value,
                Kept::New(text) => {
                    let scope = scope_of(account, id, field, &name);
                    self.0.cipher.seal(&scope, &SecretString::from(text)).await?
                }
            };
            sealed.insert(name, value);
        }
        Ok(sealed)
    }
}
