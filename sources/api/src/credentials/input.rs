//! What a user sends as a credential.

use crate::normal::ApiKeyIn;
use domain::secret::MASK;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// A credential as it is sent: one value where the scheme takes one (an API key, a bearer token), else fields.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CredentialInput {
    /// The API key or token of the scheme.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    Value(SecretString),
    /// Field by field.
    Fields(Box<CredentialFields>),
}

/// The fields of a credential. Which are needed depends on its type.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CredentialFields {
    /// What it is; where absent, what the document's scheme of that name asks for.
    #[serde(rename = "type")]
    pub kind: Option<CredentialType>,
    /// API key: where it goes, unless the document says so.
    #[serde(rename = "in")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub location: Option<ApiKeyIn>,
    /// API key: the header's, query parameter's or cookie's name, unless the document says so.
    pub name: Option<String>,
    /// API key: the key.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub value: Option<SecretString>,
    /// Bearer: the token.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub token: Option<SecretString>,
    /// Basic: the user's name.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub username: Option<SecretString>,
    /// Basic: the password; may be empty.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub password: Option<SecretString>,
    /// OAuth 2: the client's id.
    pub client_id: Option<String>,
    /// OAuth 2: the client's secret.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub client_secret: Option<SecretString>,
    /// OAuth 2: where tokens are issued, unless the document says so.
    pub token_url: Option<String>,
    /// OAuth 2: what to ask for; where absent, what the called operation needs.
    pub scopes: Option<Vec<String>>,
    /// OAuth 2: how the client proves itself to the token endpoint.
    pub client_auth: Option<ClientAuth>,
    /// OAuth 2: further fields of the token request, such as `audience`.
    #[serde(default)]
    pub extra: BTreeMap<String, String>,
}

/// What a credential is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CredentialType {
    /// A key in a header, the query or a cookie.
    ApiKey,
    /// `Authorization: Basic`.
    Basic,
    /// `Authorization: Bearer`.
    Bearer,
    /// OAuth 2 client credentials; the token goes into `Authorization: Bearer`.
    #[serde(rename = "oauth2", alias = "oauth2_client_credentials")]
    OAuth2,
}

/// How a client proves itself to a token endpoint (RFC 6749, 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ClientAuth {
    /// By `Authorization: Basic`, as the standard recommends.
    #[default]
    Basic,
    /// In the body of the request.
    Body,
}

impl CredentialInput {
    /// Whether any secret of it is the mask, which keeps what is stored.
    pub(crate) fn is_masked(&self) -> bool {
        let secrets = match self {
            Self::Value(value) => vec![Some(value)],
            Self::Fields(f) => {
                [&f.value, &f.token, &f.username, &f.password, &f.client_secret].map(Option::as_ref).to_vec()
            }
        };
        secrets.into_iter().flatten().any(|secret| secret.expose_secret() == MASK)
    }
}

impl fmt::Debug for CredentialInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialInput(..)")
    }
}

impl fmt::Debug for CredentialFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialFields(..)")
    }
}
