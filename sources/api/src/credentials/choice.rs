//! Which credentials a call needs, and which of them are missing.

use super::{StoredCredential, StoredHeader};
use crate::normal::{Api, ApiKeyIn, Location, Operation, SchemeUse, SecurityScheme, Withheld};
use std::collections::BTreeMap;

/// The credentials of one call.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Choice<'a> {
    /// What to put into the request.
    pub(crate) uses: Vec<Use<'a>>,
    /// What the document asks for and nobody has stored, in words; the call is made all the same, since many
    /// documents ask for more than their API does.
    pub(crate) missing: Option<String>,
}

/// A credential to put into a request.
#[derive(Debug, PartialEq)]
pub(crate) struct Use<'a> {
    /// The name it is stored under.
    pub(crate) name: &'a str,
    /// What is stored.
    pub(crate) credential: &'a StoredCredential,
    /// The document's scheme of that name.
    pub(crate) scheme: Option<&'a SecurityScheme>,
    /// The scopes the operation needs.
    pub(crate) scopes: &'a [String],
}

/// What a provider has stored.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) api: &'a Api,
    pub(crate) credentials: &'a BTreeMap<String, StoredCredential>,
    pub(crate) headers: &'a [StoredHeader],
    /// Whether any operation of the document asks for a scheme. Where none does although schemes are declared,
    /// the document forgot to say so, and every credential goes with every call.
    pub(crate) asks: bool,
}

/// Chooses the first way in for which everything is stored, else the one for which most is.
///
/// Credentials under names that the document does not know go with every call.
pub(crate) fn choose<'a>(operation: &'a Operation, stored: Stored<'a>) -> Choice<'a> {
    let always = stored
        .credentials
        .iter()
        .filter(|(name, _)| !stored.asks || !stored.api.security_schemes.contains_key(*name))
        .map(|(name, credential)| stored.used(name, credential, &[]));
    let mut choice = Choice { uses: always.collect(), missing: None };
    let missing_of = |way: &&Vec<SchemeUse>| way.iter().filter(|s| !stored.has(s)).count();
    let nonempty = operation.security.iter().filter(|way| !way.is_empty());
    let best = nonempty.min_by_key(missing_of);
    let anonymous = operation.security.iter().any(Vec::is_empty);
    let mut missing = Vec::new();
    if let Some(way) = best
        && (missing_of(&way) == 0 || !anonymous)
    {
        for needed in way {
            match stored.credentials.get(&needed.scheme) {
                Some(credential) if stored.asks => {
                    choice.uses.push(stored.used(&needed.scheme, credential, &needed.scopes));
                }
                Some(_) => {}
                None if stored.has(needed) => {}
                None => missing.push(stored.describe(&needed.scheme)),
            }
        }
    }
    let withheld = operation.withheld.iter();
    missing.extend(
        withheld
            .filter(|w| w.required && !gives(&choice.uses, stored.headers, w))
            .map(|w| format!("the {} `{}`", w.location.as_str(), w.name)),
    );
    missing.dedup();
    choice.missing = (!missing.is_empty()).then(|| missing.join(" and "));
    choice
}

impl<'a> Stored<'a> {
    fn used(self, name: &'a str, credential: &'a StoredCredential, scopes: &'a [String]) -> Use<'a> {
        Use { name, credential, scheme: self.api.security_schemes.get(name), scopes }
    }

    /// Whether a scheme's credential is stored, or a header of the provider stands for it.
    fn has(self, needed: &SchemeUse) -> bool {
        if self.credentials.contains_key(&needed.scheme) {
            return true;
        }
        let header = match self.api.security_schemes.get(&needed.scheme) {
            Some(SecurityScheme::ApiKey { name, location: ApiKeyIn::Header }) => name.as_str(),
            Some(SecurityScheme::ApiKey { .. } | SecurityScheme::MutualTls) | None => return false,
            Some(_) => "authorization",
        };
        self.headers.iter().any(|own| own.key.eq_ignore_ascii_case(header))
    }

    fn describe(self, scheme: &str) -> String {
        let what = match self.api.security_schemes.get(scheme) {
            Some(SecurityScheme::ApiKey { name, location }) => {
                let place = match location {
                    ApiKeyIn::Header => "header",
                    ApiKeyIn::Query => "query parameter",
                    ApiKeyIn::Cookie => "cookie",
                };
                format!("an API key in the {place} `{name}`")
            }
            Some(SecurityScheme::Basic) => "a user name and password".into(),
            Some(SecurityScheme::Bearer | SecurityScheme::OpenIdConnect { .. }) => "a bearer token".into(),
            Some(SecurityScheme::OAuth2 { .. }) => "an OAuth 2 client or a bearer token".into(),
            Some(SecurityScheme::MutualTls) => "a client certificate, which is not supported".into(),
            Some(SecurityScheme::Other { name }) => format!("`{name}`, which is not supported"),
            None => "not described in the document".into(),
        };
        format!("`{scheme}` ({what})")
    }
}

/// Whether something that is sent stands where a withheld value belongs.
fn gives(uses: &[Use<'_>], headers: &[StoredHeader], withheld: &Withheld) -> bool {
    let is_header = withheld.location == Location::Header;
    let same = |name: &str| {
        if is_header { name.eq_ignore_ascii_case(&withheld.name) } else { name == withheld.name }
    };
    let credential = |used: &Use<'_>| match used.credential {
        StoredCredential::ApiKey { location, name, .. } => {
            location_of(*location) == withheld.location && same(name)
        }
        _ => is_header && same("authorization"),
    };
    uses.iter().any(credential) || (is_header && headers.iter().any(|own| same(&own.key)))
}

/// Where an API key goes, as a location of parameters.
pub(crate) const fn location_of(place: ApiKeyIn) -> Location {
    match place {
        ApiKeyIn::Header => Location::Header,
        ApiKeyIn::Query => Location::Query,
        ApiKeyIn::Cookie => Location::Cookie,
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
