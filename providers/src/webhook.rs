//! Bots of groups: an address that takes messages, and a secret that signs them. The address is a secret itself.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use sha2::Sha256;
use url::Url;

use crate::contract::{BuildError, CallContext, ToolDeps, ToolError};
use crate::upstream::{Answer, Vendor};

/// A bot: the tool's own, else the one that the account has stored. The two are never mixed.
pub(crate) struct Webhook {
    pub(crate) vendor: Vendor,
    own: Option<Target>,
}

/// Where to send, and what signs.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) secret: Option<SecretString>,
}

impl Webhook {
    /// # Errors
    /// When the tool's own address is none.
    pub(crate) fn new(
        vendor: Vendor,
        url: Option<&SecretString>,
        secret: Option<SecretString>,
    ) -> Result<Self, BuildError> {
        let own = match (url, secret) {
            (Some(url), secret) => {
                let url = address(url).ok_or_else(|| BuildError::invalid_param("webhook_url", NO_ADDRESS))?;
                Some(Target { url, secret })
            }
            (None, Some(_)) => {
                return Err(BuildError::invalid_param(
                    "secret",
                    "is set without `webhook_url`: set both or neither",
                ));
            }
            (None, None) => None,
        };
        Ok(Self { vendor, own })
    }

    pub(crate) async fn target(&self, cx: &CallContext) -> Result<Target, ToolError> {
        if let Some(own) = &self.own {
            return Ok(own.clone());
        }
        let mut stored = self.vendor.stored(cx).await?;
        let url = stored.remove("webhook_url").ok_or_else(|| self.vendor.missing("webhook_url"))?;
        let url = address(&url).ok_or_else(|| ToolError::MissingCredential {
            what: format!("the stored `webhook_url` {NO_ADDRESS}"),
        })?;
        Ok(Target { url, secret: stored.remove("secret") })
    }

    /// Posts a body to `url`, which is the target's address or made of it.
    pub(crate) async fn post(&self, url: Url, body: &Value, cx: &CallContext) -> Result<Answer, ToolError> {
        // Every form in which a part of the address could be told.
        let parts = [url.path().to_owned(), url.query().unwrap_or_default().to_owned()];
        let values = url.query_pairs().map(|(_, value)| value.into_owned());
        let segments =
            url.path_segments().into_iter().flatten().filter(|part| part.len() >= 16).map(str::to_owned);
        let secrets: Vec<_> =
            parts.into_iter().chain(values).chain(segments).map(SecretString::from).collect();
        let secrets: Vec<_> = secrets.iter().collect();
        let request = self.vendor.http.post(url).json(body);
        self.vendor.send(request, &secrets, cx).await
    }
}

const NO_ADDRESS: &str = "is not an address that begins with `https://`";

fn address(text: &SecretString) -> Option<Url> {
    let url = Url::parse(text.expose_secret().trim()).ok()?;
    let is_web =
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    is_web.then_some(url)
}

/// The time now in milliseconds.
pub(crate) fn now_ms(deps: &ToolDeps) -> impl Fn() -> i64 + Send + Sync + 'static {
    let clock = deps.clock.clone();
    move || clock.now().as_millisecond()
}

/// HMAC-SHA256 in base64.
pub(crate) fn signature(key: &str, message: &str) -> Result<String, ToolError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).map_err(ToolError::internal)?;
    mac.update(message.as_bytes());
    Ok(BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}
