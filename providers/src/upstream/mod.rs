//! One exchange with a vendor's service: what all tools that call one share.
//!
//! A [`Vendor`] finds the account's keys and sends requests under the call's deadline; an [`Answer`] is its
//! bounded body, which knows how to tell a model of a wrong key, a used-up quota or an answer that is no JSON.
//! Secrets that a request carried are cut out of everything that is said of it. Knows no vendor in particular.

mod answer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::ports::Credentials;
use egress::RequestBuilder;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::contract::{BuildError, CallContext, ToolDeps, ToolError, request_failed};

pub(crate) use answer::{Answer, excerpt};

/// The longest that one exchange may take, however much time the call has.
const LONGEST: Duration = Duration::from_secs(120);

/// Who is called, and for whom.
#[derive(Clone)]
pub(crate) struct Vendor {
    /// The provider's id, under which an account stores its keys.
    id: &'static str,
    /// The name that people know.
    name: &'static str,
    pub(crate) http: egress::Client,
    credentials: Arc<dyn Credentials>,
}

impl Vendor {
    pub(crate) fn new(id: &'static str, name: &'static str, deps: &ToolDeps) -> Self {
        Self { id, name, http: deps.http.clone(), credentials: Arc::clone(&deps.credentials) }
    }

    /// What the account has stored for this provider; blank values count as not stored.
    pub(crate) async fn stored(&self, cx: &CallContext) -> Result<BTreeMap<String, SecretString>, ToolError> {
        let found = self.credentials.get(&cx.account, self.id).await.map_err(ToolError::internal)?;
        let mut found = found.unwrap_or_default();
        found.retain(|_, value| !value.expose_secret().trim().is_empty());
        Ok(found)
    }

    /// The `api_key` to use: the tool's own parameter, else the account's.
    pub(crate) async fn key(
        &self,
        own: Option<&SecretString>,
        cx: &CallContext,
    ) -> Result<SecretString, ToolError> {
        match own {
            Some(key) => Ok(key.clone()),
            None => self.stored(cx).await?.remove("api_key").ok_or_else(|| self.missing("api_key")),
        }
    }

    /// A field that the account has not stored.
    pub(crate) fn missing(&self, field: &str) -> ToolError {
        let what =
            format!("`{field}` of `{id}` is not stored: store it as a credential of `{id}`", id = self.id);
        ToolError::MissingCredential { what }
    }

    /// Sends a request and reads its answer, whatever its status. No redirect is followed. `secrets` are what
    /// the request carries that must not be told.
    pub(crate) async fn send(
        &self,
        request: RequestBuilder,
        secrets: &[&SecretString],
        cx: &CallContext,
    ) -> Result<Answer, ToolError> {
        let secrets = Secrets(secrets.iter().map(|secret| (*secret).clone()).collect());
        let failed = |error| match request_failed(&error) {
            ToolError::Unreachable { reason } => ToolError::Unreachable { reason: secrets.cut(&reason) },
            other => other,
        };
        let timeout = cx.remaining().min(LONGEST);
        let response = request.timeout(timeout).max_redirects(0).send().await.map_err(failed)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.map_err(failed)?;
        Ok(Answer { vendor: self.clone(), secrets, status, headers, bytes })
    }
}

/// What a request carried that must not be told.
struct Secrets(Vec<SecretString>);

impl Secrets {
    /// The text without them.
    fn cut(&self, text: &str) -> String {
        self.0
            .iter()
            .map(SecretString::expose_secret)
            .filter(|secret| secret.len() >= 4)
            .fold(text.to_owned(), |text, secret| text.replace(secret, domain::secret::MASK))
    }
}

/// The address of a service, from the parameter `url`, without a slash at its end.
///
/// # Errors
/// When it is no http address, or carries a user name or a query.
pub(crate) fn base_url(text: &str) -> Result<Url, BuildError> {
    let wrong = |message: &str| BuildError::invalid_param("url", message);
    let mut url = Url::parse(text.trim())
        .map_err(|error| wrong(&format!("is not a whole address ({error}): begin with `https://`")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("must begin with `http://` or `https://` and name a host"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(wrong("must not hold a user name, a password or a query"));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// The address below `base` that these parts of a path lead to; each is escaped.
pub(crate) fn below(base: &Url, parts: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(parts);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_an_address_and_nothing_more() {
        let at = |text: &str| below(&base_url(text).unwrap(), &["a b", "c"]).to_string();
        assert_eq!(at("https://h.example"), "https://h.example/a%20b/c");
        assert_eq!(at(" https://h.example/v3/ "), "https://h.example/v3/a%20b/c");
        for text in ["h.example", "ftp://h.example", "https://u:p@h.example", "https://h.example/?key=1", ""]
        {
            assert!(base_url(text).unwrap_err().to_string().contains("`url`"), "{text}");
        }
    }

    #[test]
    fn secrets_are_cut_out() {
        let secrets = Secrets(vec![SecretString::from("canary"), SecretString::from("x")]);
        assert_eq!(secrets.cut("the key canary, x"), format!("the key {}, x", domain::secret::MASK));
    }
}
