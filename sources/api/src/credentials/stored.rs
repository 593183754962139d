//! How a credential is kept: sealed field by field; and the masked view of it.

use super::{ClientAuth, CredentialFields, CredentialInput, CredentialProblem, CredentialType};
use crate::{
    compile::policy::is_of_the_connection,
    execute::headers as rules,
    normal::{ApiKeyIn, OAuthFlow, OAuthFlowKind, SecurityScheme},
};
use domain::{
    AccountId,
    keys::Kind,
    ports::{Cipher, Scope, Sealed},
    secret::MASK,
};
use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many credentials a provider may have.
const MAX_CREDENTIALS: usize = 32;

/// A credential as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StoredCredential {
    /// A key in a header, the query or a cookie.
    ApiKey {
        /// Where it goes.
        location: ApiKeyIn,
        /// The header's, query parameter's or cookie's name.
        name: String,
        /// The key.
        value: Sealed,
    },
    /// `Authorization: Basic`. The name is sealed too: some APIs take their key in its place.
    Basic {
        /// The user's name.
        username: Sealed,
        /// The password.
        password: Sealed,
    },
    /// `Authorization: Bearer`.
    Bearer {
        /// The token.
        token: Sealed,
    },
    /// OAuth 2 client credentials.
    #[serde(rename = "oauth2")]
    OAuth2 {
        /// The client's id.
        client_id: String,
        /// The client's secret.
        client_secret: Sealed,
        /// Where tokens are issued, unless the document says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_url: Option<String>,
        /// What to ask for, unless the operation says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scopes: Option<Vec<String>>,
        /// How the client proves itself.
        #[serde(default)]
        client_auth: ClientAuth,
        /// Further fields of the token request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        extra: BTreeMap<String, String>,
    },
}

/// What is shown of a credential. Sent back as it is, it keeps what is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CredentialView {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: Option<CredentialType>,
    /// API key: where it goes.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub location: Option<ApiKeyIn>,
    /// API key: its name on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// OAuth 2: the client's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// OAuth 2: where tokens are issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// OAuth 2: what is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// OAuth 2: how the client proves itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_auth: Option<ClientAuth>,
    /// OAuth 2: further fields of the token request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, String>,
    /// API key, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<&'static str>,
    /// Bearer: the token, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<&'static str>,
    /// Basic: the user's name, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<&'static str>,
    /// Basic: the password, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<&'static str>,
    /// OAuth 2: the client's secret, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<&'static str>,
}

impl StoredCredential {
    /// The place a field is sealed for.
    pub(crate) fn scope(account: &AccountId, provider: &str, name: &str, field: &str) -> Scope {
        Scope::new(account, Kind::ApiTool, provider, format!("credentials/{name}/{field}"))
    }

    /// The sealed fields by their names.
    fn sealed(&self) -> Vec<(&'static str, &Sealed)> {
        match self {
            Self::ApiKey { value, .. } => vec![("value", value)],
            Self::Basic { username, password } => vec![("username", username), ("password", password)],
            Self::Bearer { token } => vec![("token", token)],
            Self::OAuth2 { client_secret, .. } => vec![("client_secret", client_secret)],
        }
    }

    /// Where its tokens are issued, where the user said so.
    pub(crate) fn token_url(&self) -> Option<&str> {
        match self {
            Self::OAuth2 { token_url, .. } => token_url.as_deref(),
            _ => None,
        }
    }

    /// What is shown of it.
    pub fn view(&self) -> CredentialView {
        let masked = Some(MASK);
        match self {
            Self::ApiKey { location, name, .. } => CredentialView {
                kind: Some(CredentialType::ApiKey),
                location: Some(*location),
                name: Some(name.clone()),
                value: masked,
                ..CredentialView::default()
            },
            Self::Basic { .. } => CredentialView {
                kind: Some(CredentialType::Basic),
                username: masked,
                password: masked,
                ..CredentialView::default()
            },
            Self::Bearer { .. } => CredentialView {
                kind: Some(CredentialType::Bearer),
                token: masked,
                ..CredentialView::default()
            },
            Self::OAuth2 { client_id, token_url, scopes, client_auth, extra, .. } => CredentialView {
                kind: Some(CredentialType::OAuth2),
                client_id: Some(client_id.clone()),
                client_secret: masked,
                token_url: token_url.clone(),
                scopes: scopes.clone(),
                client_auth: Some(*client_auth),
                extra: extra.clone(),
                ..CredentialView::default()
            },
        }
    }
}

/// Where tokens of a scheme are issued, the client credentials flow's address first.
pub(crate) fn token_urls(scheme: &SecurityScheme) -> Vec<&str> {
    let SecurityScheme::OAuth2 { flows } = scheme else {
        return Vec::new();
    };
    let mut flows: Vec<&OAuthFlow> = flows.iter().collect();
    flows.sort_by_key(|flow| flow.kind != OAuthFlowKind::ClientCredentials);
    flows.into_iter().filter_map(|flow| flow.token_url.as_deref()).collect()
}

/// Seals what was sent. A masked secret keeps what is stored under the same name.
pub(crate) async fn seal_all(
    cipher: &dyn Cipher,
    account: &AccountId,
    provider: &str,
    sent: BTreeMap<String, CredentialInput>,
    stored: &BTreeMap<String, StoredCredential>,
    schemes: &IndexMap<String, SecurityScheme>,
) -> Result<BTreeMap<String, StoredCredential>, CredentialProblem> {
    if sent.len() > MAX_CREDENTIALS {
        return Err(CredentialProblem::unfit("credentials", "are too many: at most 32"));
    }
    let mut sealed = BTreeMap::new();
    for (name, input) in sent {
        let sealer = Sealer {
            cipher,
            account,
            provider,
            name: &name,
            old: stored.get(&name),
            scheme: schemes.get(&name),
        };
        let credential = sealer.credential(input, schemes).await?;
        sealed.insert(name, credential);
    }
    Ok(sealed)
}

struct Sealer<'a> {
    cipher: &'a dyn Cipher,
    account: &'a AccountId,
    provider: &'a str,
    name: &'a str,
    old: Option<&'a StoredCredential>,
    scheme: Option<&'a SecurityScheme>,
}

impl Sealer<'_> {
    async fn credential(
        &self,
        input: CredentialInput,
        schemes: &IndexMap<String, SecurityScheme>,
    ) -> Result<StoredCredential, CredentialProblem> {
        let fields = match input {
            CredentialInput::Fields(fields) => *fields,
            CredentialInput::Value(value) => match self.old {
                Some(old) if value.expose_secret() == MASK => return Ok(old.clone()),
                _ => self.fields_of(value, schemes)?,
            },
        };
        match self.kind_of(&fields, schemes)? {
            CredentialType::ApiKey => self.api_key(fields).await,
            CredentialType::Basic => {
                let username = self.needed(fields.username, "username")?;
                let password = fields.password.unwrap_or_else(|| SecretString::from(""));
                Ok(StoredCredential::Basic {
                    username: self.seal("username", &username).await?,
                    password: self.seal("password", &password).await?,
                })
            }
            CredentialType::Bearer => {
                let token = self.needed(fields.token.or(fields.value), "token")?;
                Ok(StoredCredential::Bearer { token: self.seal("token", &token).await? })
            }
            CredentialType::OAuth2 => self.oauth2(fields).await,
        }
    }

    /// What a single value stands for under this name.
    fn fields_of(
        &self,
        value: SecretString,
        schemes: &IndexMap<String, SecurityScheme>,
    ) -> Result<CredentialFields, CredentialProblem> {
        let empty = CredentialFields::default();
        match self.scheme {
            Some(SecurityScheme::ApiKey { .. }) => Ok(CredentialFields { value: Some(value), ..empty }),
            Some(
                SecurityScheme::Bearer | SecurityScheme::OAuth2 { .. } | SecurityScheme::OpenIdConnect { .. },
            ) => Ok(CredentialFields { kind: Some(CredentialType::Bearer), token: Some(value), ..empty }),
            Some(SecurityScheme::Basic) => Err(self.unfit("needs `username` and `password`")),
            _ => self.kind_of(&empty, schemes).map(|_| empty),
        }
    }

    fn kind_of(
        &self,
        fields: &CredentialFields,
        schemes: &IndexMap<String, SecurityScheme>,
    ) -> Result<CredentialType, CredentialProblem> {
        let given = if fields.client_id.is_some() {
            Some(CredentialType::OAuth2)
        } else if fields.username.is_some() {
            Some(CredentialType::Basic)
        } else if fields.token.is_some() {
            Some(CredentialType::Bearer)
        } else {
            None
        };
        let by_scheme = || match self.scheme? {
            SecurityScheme::ApiKey { .. } => Some(CredentialType::ApiKey),
            SecurityScheme::Basic => Some(CredentialType::Basic),
            SecurityScheme::Bearer | SecurityScheme::OpenIdConnect { .. } => Some(CredentialType::Bearer),
            SecurityScheme::OAuth2 { .. } => Some(CredentialType::OAuth2),
            SecurityScheme::MutualTls | SecurityScheme::Other { .. } => None,
        };
        let complete_key = fields.location.is_some() && fields.name.is_some();
        fields
            .kind
            .or(given)
            .or_else(by_scheme)
            .or(complete_key.then_some(CredentialType::ApiKey))
            .ok_or_else(|| self.unfit(&self.why_unknown(schemes)))
    }

    fn why_unknown(&self, schemes: &IndexMap<String, SecurityScheme>) -> String {
        match self.scheme {
            Some(SecurityScheme::MutualTls) => "is for a client certificate, which is not supported".into(),
            Some(SecurityScheme::Other { name }) => {
                format!("is for `{name}`, which is not supported: a header of the provider may do instead")
            }
            _ if schemes.is_empty() => {
                "must say its `type`: the document declares no security schemes".into()
            }
            _ => {
                let known: Vec<_> = schemes.keys().map(|name| format!("`{name}`")).collect();
                format!(
                    "is none of the document's security schemes ({}): use one of these names, or say its `type`",
                    known.join(", ")
                )
            }
        }
    }

    async fn api_key(&self, fields: CredentialFields) -> Result<StoredCredential, CredentialProblem> {
        let declared = match self.scheme {
            Some(SecurityScheme::ApiKey { name, location }) => Some((name, *location)),
            _ => None,
        };
        let location = fields.location.or(declared.map(|(_, location)| location));
        let name = fields.name.or(declared.map(|(name, _)| name.clone()));
        let (Some(location), Some(name)) = (location, name) else {
            return Err(self.unfit("must say where the key goes: `in` (header, query or cookie) and `name`"));
        };
        if location == ApiKeyIn::Header && (rules::name(&name).is_none() || is_of_the_connection(&name)) {
            return Err(self.unfit(&format!("cannot go into the header `{name}`")));
        }
        let value = self.needed(fields.value.or(fields.token), "value")?;
        Ok(StoredCredential::ApiKey { location, name, value: self.seal("value", &value).await? })
    }

    async fn oauth2(&self, fields: CredentialFields) -> Result<StoredCredential, CredentialProblem> {
        let client_id =
            fields.client_id.filter(|id| !id.is_empty()).ok_or_else(|| self.unfit("needs `client_id`"))?;
        let client_secret = self.needed(fields.client_secret, "client_secret")?;
        let declared = self.scheme.is_some_and(|scheme| !token_urls(scheme).is_empty());
        match &fields.token_url {
            None if !declared => {
                return Err(
                    self.unfit("needs `token_url`: the document does not say where tokens are issued")
                );
            }
            Some(url) if url::Url::parse(url).is_err() => {
                return Err(self.unfit("has a `token_url` that is not an absolute address"));
            }
            _ => {}
        }
        Ok(StoredCredential::OAuth2 {
            client_id,
            client_secret: self.seal("client_secret", &client_secret).await?,
            token_url: fields.token_url,
            scopes: fields.scopes,
            client_auth: fields.client_auth.unwrap_or_default(),
            extra: fields.extra,
        })
    }

    fn needed(&self, secret: Option<SecretString>, field: &str) -> Result<SecretString, CredentialProblem> {
        secret
            .filter(|secret| !secret.expose_secret().is_empty())
            .ok_or_else(|| self.unfit(&format!("needs `{field}`")))
    }

    async fn seal(&self, field: &'static str, secret: &SecretString) -> Result<Sealed, CredentialProblem> {
        if secret.expose_secret() == MASK {
            let kept = self.old.and_then(|old| {
                let mut fields = old.sealed().into_iter();
                fields.find(|(name, _)| *name == field).map(|(_, sealed)| sealed.clone())
            });
            return kept.ok_or_else(|| {
                self.unfit(&format!("was sent with a masked `{field}`, but none is stored: send the value"))
            });
        }
        let scope = StoredCredential::scope(self.account, self.provider, self.name, field);
        Ok(self.cipher.seal(&scope, secret).await?)
    }

    fn unfit(&self, reason: &str) -> CredentialProblem {
        CredentialProblem::unfit(self.name, reason)
    }
}
