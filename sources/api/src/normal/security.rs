//! How callers of an API prove who they are. Descriptions only: no credential is ever in here.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A security scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SecurityScheme {
    /// A key under a name of its own.
    ApiKey {
        /// The header's, query parameter's or cookie's name.
        name: String,
        /// Where it goes.
        location: ApiKeyIn,
    },
    /// `Authorization: Basic`.
    Basic,
    /// `Authorization: Bearer`.
    Bearer,
    /// OAuth 2; the token goes into `Authorization: Bearer`.
    #[serde(rename = "oauth2")]
    OAuth2 {
        /// Ways to get a token.
        flows: Vec<OAuthFlow>,
    },
    /// OpenID Connect; the token goes into `Authorization: Bearer`.
    OpenIdConnect {
        /// Its discovery document.
        url: String,
    },
    /// A client certificate, which is not supported.
    MutualTls,
    /// Something else (`digest`, …), which is not supported; a provider header may do instead.
    Other {
        /// What the document calls it.
        name: String,
    },
}

/// Where an API key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiKeyIn {
    /// A header.
    Header,
    /// A query parameter.
    Query,
    /// A cookie.
    Cookie,
}

/// A way to get an OAuth 2 token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OAuthFlow {
    /// Which one.
    pub kind: OAuthFlowKind,
    /// Where a person allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_url: Option<String>,
    /// Where tokens are issued. May be relative to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// Where tokens are refreshed, if elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_url: Option<String>,
    /// What can be asked for, with what it means.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub scopes: IndexMap<String, String>,
}

/// The OAuth 2 flows documents name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OAuthFlowKind {
    /// By the client's own id and secret (2.0: `application`).
    ClientCredentials,
    /// By a person's consent (2.0: `accessCode`).
    AuthorizationCode,
    /// By a person's consent, in the browser alone.
    Implicit,
    /// By a person's name and password.
    Password,
}

/// The use of a scheme by an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeUse {
    /// The scheme's name: a key of [`super::Api::security_schemes`].
    pub scheme: String,
    /// The scopes (or roles) that are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}
