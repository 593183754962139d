//! OAuth 2 client credentials (RFC 6749, 4.4): tokens fetched through the guard, kept until shortly before
//! they expire, fetched once however many calls wait for one.

use super::opened::basic;
use domain::{ToolError, ports::Clock};
use http::{HeaderValue, header};
use jiff::{SignedDuration, Timestamp};
use moka::sync::Cache;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::Mutex;
use url::{Url, form_urlencoded::Serializer};

/// How many tokens are kept.
const MAX_TOKENS: u64 = 10_000;
/// How long a token that nobody asks for is kept.
const IDLE: Duration = Duration::from_hours(1);
/// How long a token is taken to work when its issuer does not say.
const UNSAID_LIFE: i64 = 300;
/// How long before its end a token is not used any more, at most; a tenth of its life where that is shorter.
const MARGIN: i64 = 60;
/// The largest answer of a token endpoint.
const MAX_ANSWER: u64 = 64 * 1024;

/// A request for a token.
pub(crate) struct TokenRequest {
    /// What the token is kept under.
    pub(crate) key: String,
    /// The credential's name, for messages.
    pub(crate) name: String,
    /// The token endpoint.
    pub(crate) url: Url,
    /// The client's id.
    pub(crate) client_id: String,
    /// The client's secret.
    pub(crate) client_secret: SecretString,
    /// What to ask for, separated by spaces.
    pub(crate) scopes: String,
    /// The client proves itself in the body, not by a header.
    pub(crate) in_body: bool,
    /// Further fields.
    pub(crate) extra: BTreeMap<String, String>,
}

/// The tokens of a process.
pub(crate) struct Tokens {
    kept: Cache<String, Arc<Mutex<Option<Token>>>>,
    client: egress::Client,
    clock: Arc<dyn Clock>,
}

struct Token {
    value: SecretString,
    use_until: Timestamp,
}

#[derive(Deserialize)]
struct Answer {
    access_token: Option<SecretString>,
    token_type: Option<String>,
    expires_in: Option<serde_json::Value>,
    error: Option<String>,
}

impl Tokens {
    /// Tokens fetched by `client`.
    pub(crate) fn new(client: egress::Client, clock: Arc<dyn Clock>) -> Self {
        Self { kept: Cache::builder().max_capacity(MAX_TOKENS).time_to_idle(IDLE).build(), client, clock }
    }

    /// A token that works: the kept one, unless it is about to expire or is the one that was refused.
    pub(crate) async fn get(
        &self,
        request: &TokenRequest,
        refused: Option<&SecretString>,
        timeout: Duration,
    ) -> Result<SecretString, ToolError> {
        let slot = self.kept.get_with_by_ref(request.key.as_str(), Arc::default);
        let mut slot = slot.lock().await;
        let works = |token: &&Token| {
            token.use_until > self.clock.now()
                && refused.is_none_or(|refused| refused.expose_secret() != token.value.expose_secret())
        };
        if let Some(token) = slot.as_ref().filter(works) {
            return Ok(token.value.clone());
        }
        *slot = None;
        let token = self.fetch(request, timeout).await?;
        let value = token.value.clone();
        *slot = Some(token);
        Ok(value)
    }

    async fn fetch(&self, request: &TokenRequest, timeout: Duration) -> Result<Token, ToolError> {
        let asked_at = self.clock.now();
        let response = self
            .post(request, timeout)
            .send()
            .await
            .map_err(|e| crate::execute::send::translate(&e, timeout))?;
        let status = response.status().as_u16();
        let capped =
            response.bytes_capped().await.map_err(|e| crate::execute::send::translate(&e, timeout))?;
        let answer: Option<Answer> = serde_json::from_slice(&capped.bytes).ok();
        token_of(request, status, answer, asked_at)
    }

    fn post(&self, request: &TokenRequest, timeout: Duration) -> egress::RequestBuilder {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        if !request.scopes.is_empty() {
            form.append_pair("scope", &request.scopes);
        }
        if request.in_body {
            form.append_pair("client_id", &request.client_id);
            form.append_pair("client_secret", request.client_secret.expose_secret());
        }
        form.extend_pairs(&request.extra);
        let builder = self
            .client
            .post(request.url.clone())
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
            .header(header::ACCEPT, HeaderValue::from_static("application/json"))
            .body(form.finish())
            .timeout(timeout)
            .max_response_bytes(MAX_ANSWER)
            .max_redirects(0);
        if request.in_body {
            return builder;
        }
        // Both halves are form-encoded before they are put together (RFC 6749, 2.3.1).
        let encoded = |text: &str| {
            SecretString::from(url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>())
        };
        let proof = basic(&encoded(&request.client_id), &encoded(request.client_secret.expose_secret()));
        builder.secret_header(header::AUTHORIZATION, &proof)
    }
}

fn token_of(
    request: &TokenRequest,
    status: u16,
    answer: Option<Answer>,
    asked_at: Timestamp,
) -> Result<Token, ToolError> {
    let host = request.url.host_str().unwrap_or_default();
    // Of what the endpoint says only the error code is repeated: the rest may echo the request.
    let code = answer.as_ref().and_then(|a| a.error.as_deref()).map(safe_code);
    let said = code.map(|code| format!(": {code}")).unwrap_or_default();
    match (status, answer) {
        (200..=299, Some(Answer { access_token: Some(value), token_type, expires_in, .. })) => {
            if token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
                return Err(ToolError::Upstream {
                    status,
                    body: format!("{host} issued a token for `{}` that is no bearer token", request.name),
                });
            }
            let life = expires_in.as_ref().and_then(seconds).unwrap_or(UNSAID_LIFE).max(0);
            let used = life - MARGIN.min(life / 10);
            let use_until = asked_at.checked_add(SignedDuration::from_secs(used)).unwrap_or(Timestamp::MAX);
            Ok(Token { value, use_until })
        }
        (400..=403, _) => Err(ToolError::MissingCredential {
            what: format!("{host} issues no token for `{}` (status {status}{said})", request.name),
        }),
        _ => Err(ToolError::Upstream {
            status,
            body: format!("{host} issued no token for `{}`{said}", request.name),
        }),
    }
}

fn safe_code(code: &str) -> String {
    let legal = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    code.chars().filter(legal).take(40).collect()
}

/// `expires_in` as issuers write it: a number, or a number in quotes.
fn seconds(value: &serde_json::Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "a life beyond the range is cut to it")]
    let whole = |x: f64| x as i64;
    value.as_i64().or_else(|| value.as_f64().map(whole)).or_else(|| value.as_str()?.trim().parse().ok())
}
