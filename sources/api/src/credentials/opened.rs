//! Opening the chosen credentials for one call.

use super::{
    Choice, ClientAuth, StoredCredential, StoredHeader, Tokens, choice::Use, oauth::TokenRequest, token_urls,
};
use crate::{
    execute::{headers as rules, request::Additions},
    normal::ApiKeyIn,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::{
    AccountId, ToolError,
    ports::{Cipher, CipherError, Sealed},
};
use http::header;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use url::Url;

/// Whose credentials are opened, and with what.
#[derive(Clone, Copy)]
pub(crate) struct Opener<'a> {
    pub(crate) account: &'a AccountId,
    pub(crate) provider: &'a str,
    pub(crate) cipher: &'a dyn Cipher,
    pub(crate) tokens: &'a Tokens,
    /// The server's address, for token addresses that are relative to it.
    pub(crate) base: &'a Url,
    /// How long fetching a token may take.
    pub(crate) timeout: Duration,
}

/// Credentials opened for one call.
pub(crate) struct OpenedCredentials {
    /// What goes into the request.
    pub(crate) additions: Additions,
    /// The token requests among them, to be repeated when the service refuses a token.
    pub(crate) tokens: Vec<(TokenRequest, SecretString)>,
}

/// Opens what a call needs. `refused` are tokens the service has refused: others are fetched in their place.
pub(crate) async fn open(
    opener: Opener<'_>,
    headers: &[StoredHeader],
    choice: &Choice<'_>,
    refused: &[(TokenRequest, SecretString)],
) -> Result<OpenedCredentials, ToolError> {
    let mut opened = OpenedCredentials { additions: Additions::default(), tokens: Vec::new() };
    for own in headers {
        let scope = StoredHeader::scope(opener.account, opener.provider, &own.key);
        let value = opener.cipher.open(&scope, &own.value).await.map_err(|e| closed(&e))?;
        if let Some(name) = rules::name(&own.key) {
            opened.additions.headers.push((name, value));
        }
    }
    for used in &choice.uses {
        opener.add(used, refused, &mut opened).await?;
    }
    Ok(opened)
}

impl Opener<'_> {
    async fn add(
        self,
        used: &Use<'_>,
        refused: &[(TokenRequest, SecretString)],
        opened: &mut OpenedCredentials,
    ) -> Result<(), ToolError> {
        let additions = &mut opened.additions;
        let authorization = match used.credential {
            StoredCredential::ApiKey { location, name, value } => {
                let value = self.opened(used.name, "value", value).await?;
                match (location, rules::name(name)) {
                    (ApiKeyIn::Header, Some(name)) => additions.credential_headers.push((name, value)),
                    (ApiKeyIn::Header, None) => return Err(ToolError::internal("an API key has no header")),
                    (ApiKeyIn::Query, _) => additions.query.push((name.clone(), value)),
                    (ApiKeyIn::Cookie, _) => additions.cookies.push((name.clone(), value)),
                }
                return Ok(());
            }
            StoredCredential::Basic { username, password } => {
                let username = self.opened(used.name, "username", username).await?;
                let password = self.opened(used.name, "password", password).await?;
                basic(&username, &password)
            }
            StoredCredential::Bearer { token } => bearer(&self.opened(used.name, "token", token).await?),
            StoredCredential::OAuth2 { .. } => {
                let request = self.token_request(used).await?;
                let stale = refused.iter().find(|(old, _)| old.key == request.key).map(|(_, token)| token);
                let token = self.tokens.get(&request, stale, self.timeout).await?;
                let value = bearer(&token);
                opened.tokens.push((request, token));
                value
            }
        };
        opened.additions.credential_headers.push((header::AUTHORIZATION, authorization));
        Ok(())
    }

    async fn token_request(self, used: &Use<'_>) -> Result<TokenRequest, ToolError> {
        let StoredCredential::OAuth2 { client_id, client_secret, token_url, scopes, client_auth, extra } =
            used.credential
        else {
            return Err(ToolError::internal("the credential is no OAuth 2 client"));
        };
        let declared = || used.scheme.and_then(|scheme| token_urls(scheme).first().copied());
        let url =
            token_url.as_deref().or_else(declared).and_then(|url| self.base.join(url).ok()).ok_or_else(
                || ToolError::MissingCredential {
                    what: format!("`{}` has no usable `token_url`", used.name),
                },
            )?;
        let scopes = scopes.as_deref().unwrap_or(used.scopes).join(" ");
        let key = [
            self.account.as_str(),
            self.provider,
            used.name,
            url.as_str(),
            &scopes,
            // Another secret, or the same sealed anew, is another client.
            &client_secret.0,
        ]
        .join("\n");
        Ok(TokenRequest {
            key,
            name: used.name.to_owned(),
            url,
            client_id: client_id.clone(),
            client_secret: self.opened(used.name, "client_secret", client_secret).await?,
            scopes,
            in_body: *client_auth == ClientAuth::Body,
            extra: extra.clone(),
        })
    }

    async fn opened(self, name: &str, field: &str, sealed: &Sealed) -> Result<SecretString, ToolError> {
        let scope = StoredCredential::scope(self.account, self.provider, name, field);
        self.cipher.open(&scope, sealed).await.map_err(|e| closed(&e))
    }
}

fn bearer(token: &SecretString) -> SecretString {
    SecretString::from(format!("Bearer {}", token.expose_secret()))
}

/// `Authorization: Basic`, in UTF-8 (RFC 7617).
pub(super) fn basic(username: &SecretString, password: &SecretString) -> SecretString {
    let pair = format!("{}:{}", username.expose_secret(), password.expose_secret());
    SecretString::from(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

fn closed(error: &CipherError) -> ToolError {
    ToolError::internal(error)
}
