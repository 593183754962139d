//! Where stored secrets may be sent.
//!
//! Who may change a document could have its requests go to a server of his own, and with them secrets that he
//! was never shown. So secrets that were given for some origins are kept only as long as those do.

use super::{ProviderInput, ServiceError};
use crate::{
    credentials::{StoredCredential, token_urls},
    normal::Operation,
    record::ProviderRecord,
};
use std::collections::BTreeSet;
use url::Url;

/// Which secrets a request gives anew, none of them masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resent {
    headers: bool,
    credentials: bool,
}

impl Resent {
    pub(super) fn of(input: &ProviderInput) -> Self {
        let headers = input.headers.as_ref().is_some_and(|all| all.iter().all(|h| !h.is_masked()));
        let credentials = input.credentials.as_ref().is_some_and(|all| all.values().all(|c| !c.is_masked()));
        Self { headers, credentials }
    }
}

/// The origins that the secrets of a changed provider may be sent to.
///
/// # Errors
/// [`ServiceError::OriginChanged`] where kept secrets would go somewhere new.
pub(super) fn kept_origins(
    old: &ProviderRecord,
    new: &ProviderRecord,
    operations: &[Operation],
    resent: Resent,
) -> Result<Vec<String>, ServiceError> {
    let now = origins(new, operations);
    let keeps_headers = !resent.headers && !new.headers.is_empty();
    let keeps_credentials = !resent.credentials && !new.credentials.is_empty();
    if !keeps_headers && !keeps_credentials {
        return Ok(now.into_iter().collect());
    }
    let known: BTreeSet<String> = old.origins.iter().cloned().collect();
    let strange: Vec<&str> = now.difference(&known).map(String::as_str).collect();
    if !strange.is_empty() {
        return Err(ServiceError::OriginChanged { origins: strange.join(", ") });
    }
    // Going back to an origin that they were given for is no change.
    Ok(known.into_iter().collect())
}

/// Where a provider's requests and token requests go.
pub(super) fn origins(record: &ProviderRecord, operations: &[Operation]) -> BTreeSet<String> {
    let mut bases: Vec<Url> = Vec::new();
    for operation in operations {
        if let Ok(base) = record.base_of(operation)
            && !bases.contains(&base)
        {
            bases.push(base);
        }
    }
    let declared = record.api.security_schemes.values().flat_map(token_urls);
    let stored = record.credentials.values().filter_map(StoredCredential::token_url);
    let tokens: Vec<&str> = declared.chain(stored).collect();
    let issuers = bases.iter().flat_map(|base| tokens.iter().filter_map(|url| base.join(url).ok()));
    issuers.chain(bases.iter().cloned()).map(|url| url.origin().ascii_serialization()).collect()
}
