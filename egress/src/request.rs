//! Building and sending one request.
//!
//! A thin cover over the HTTP library's builder that adds what it lacks: the gate before
//! every hop, secrets that do not survive a change of origin, and caps.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::{Body, Request, multipart};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use tokio::time::Instant;
use url::Url;

use crate::client::Client;
use crate::error::{EgressError, Stage};
use crate::redirect;
use crate::response::{Limits, Response};
use crate::target::{check, safe_url};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_MAX_RESPONSE: u64 = 10 * 1024 * 1024;

/// A request being built.
///
/// Dropping the future of [`send`](Self::send), or the response while it is read, cancels
/// the request and closes its connection (or resets its HTTP/2 stream).
pub struct RequestBuilder {
    client: Client,
    /// The URL as given, for messages.
    url: Url,
    inner: Result<reqwest::RequestBuilder, EgressError>,
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    max_response_bytes: u64,
    max_redirects: usize,
}

impl RequestBuilder {
    pub(crate) fn new(client: Client, method: Method, url: Url) -> Self {
        let inner = client.own().map(|own| own.request(method, url.clone()));
        Self {
            client,
            url,
            inner,
            timeout: Some(DEFAULT_TIMEOUT),
            idle_timeout: None,
            max_response_bytes: DEFAULT_MAX_RESPONSE,
            max_redirects: redirect::DEFAULT_LIMIT,
        }
    }

    /// Adds a header.
    pub fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        self.map(|inner| inner.header(name, value))
    }

    /// Sets headers, replacing those of the same name. Values marked as sensitive are
    /// not sent on to another origin.
    pub fn headers(self, headers: HeaderMap) -> Self {
        self.map(|inner| inner.headers(headers))
    }

    /// Adds a header whose value is a secret: it is not sent on to another origin, and
    /// not printed.
    pub fn secret_header(self, name: HeaderName, value: &SecretString) -> Self {
        match HeaderValue::from_str(value.expose_secret()) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.header(name, value)
            }
            Err(_) => self.fail(format!(
                "the secret value of the header {name} contains characters that a header cannot carry"
            )),
        }
    }

    /// Adds `Authorization: Bearer …`.
    pub fn bearer(self, token: &SecretString) -> Self {
        let value = SecretString::from(format!("Bearer {}", token.expose_secret()));
        self.secret_header(http::header::AUTHORIZATION, &value)
    }

    /// Adds `Authorization: Basic …`.
    pub fn basic(self, user: &str, password: &SecretString) -> Self {
        self.map(|inner| inner.basic_auth(user, Some(password.expose_secret())))
    }

    /// Appends to the query string.
    pub fn query<T: Serialize + ?Sized>(self, pairs: &T) -> Self {
        self.map(|inner| inner.query(pairs))
    }

    /// Sets the body: bytes, text or a stream. A stream cannot be sent again when the
    /// server answers with a 307 or 308 redirect.
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.map(|inner| inner.body(body))
    }

    /// Sets a JSON body and its content type.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Self {
        self.map(|inner| inner.json(value))
    }

    /// Sets an urlencoded body and its content type.
    pub fn form<T: Serialize + ?Sized>(self, pairs: &T) -> Self {
        self.map(|inner| inner.form(pairs))
    }

    /// Sets a multipart body. It counts as a stream: see [`body`](Self::body).
    pub fn multipart(self, form: multipart::Form) -> Self {
        self.map(|inner| inner.multipart(form))
    }

    /// Time for everything together: connecting, redirects, and the whole body. 30 s
    /// unless set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// No limit to the whole, for answers that stream: every wait, for the head of the
    /// response and for each part of the body, is limited to `idle` instead.
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.timeout = None;
        self.idle_timeout = Some(idle);
        self
    }

    /// Most bytes of the body, counted after decompression. 10 MiB unless set.
    pub fn max_response_bytes(mut self, bytes: u64) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// Most redirects to follow, 5 unless set. With 0 a redirect is returned as it is.
    pub fn max_redirects(mut self, redirects: usize) -> Self {
        self.max_redirects = redirects;
        self
    }

    /// Sends the request, follows redirects, and returns when the head of the response
    /// has arrived.
    ///
    /// An error after a redirect is reported as if it were the first hop's, so treat
    /// [`EgressError::was_never_sent`] with care where redirects are followed: pass
    /// `max_redirects(0)` for requests that must not be repeated.
    pub async fn send(self) -> Result<Response, EgressError> {
        let started = Instant::now();
        let own = self.client.own()?;
        let mut request = self
            .inner?
            .build()
            .map_err(|error| EgressError::translate(&error, &self.url, Stage::Waiting, Duration::ZERO))?;
        let limits =
            Limits { timeout: self.timeout, idle: self.idle_timeout, bytes: self.max_response_bytes };
        let mut hops = 0;
        loop {
            check(self.client.policy(), request.url())?;
            let again = again(&request, self.max_redirects);
            let hop = Hop { own: &own, limits, started, connect_timeout: self.client.connect_timeout() };
            let response = hop.execute(request).await?;
            let (Some(next), Some((again, body_is_gone))) = (redirect::location(&response), again) else {
                return Ok(Response::new(response, limits));
            };
            let next = next?;
            if hops == self.max_redirects {
                return Err(EgressError::TooManyRedirects {
                    url: safe_url(&next),
                    limit: self.max_redirects,
                });
            }
            hops += 1;
            request = redirect::follow(again, response.status(), next, body_is_gone)?;
        }
    }

    fn map(mut self, f: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder) -> Self {
        self.inner = self.inner.map(f);
        self
    }

    fn fail(mut self, reason: String) -> Self {
        self.inner = Err(EgressError::InvalidRequest { reason });
        self
    }
}

impl fmt::Debug for RequestBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBuilder").field("url", &safe_url(&self.url)).finish_non_exhaustive()
    }
}

/// A copy of the request for the next hop, and whether its body is missing from it.
/// `None` when redirects are not followed.
fn again(request: &Request, max_redirects: usize) -> Option<(Request, bool)> {
    if max_redirects == 0 {
        return None;
    }
    if let Some(copy) = request.try_clone() {
        return Some((copy, false));
    }
    let mut copy = Request::new(request.method().clone(), request.url().clone());
    *copy.headers_mut() = request.headers().clone();
    Some((copy, true))
}

/// One exchange with one server.
struct Hop<'a> {
    own: &'a reqwest::Client,
    limits: Limits,
    started: Instant,
    connect_timeout: Duration,
}

impl Hop<'_> {
    async fn execute(&self, mut request: Request) -> Result<reqwest::Response, EgressError> {
        let url = request.url().clone();
        let timed_out = |after| EgressError::Timeout { url: safe_url(&url), stage: Stage::Waiting, after };
        if let Some(timeout) = self.limits.timeout {
            let left = timeout.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                return Err(timed_out(timeout));
            }
            *request.timeout_mut() = Some(left);
        }
        let exchange = self.own.execute(request);
        let outcome = match self.limits.idle {
            Some(idle) => tokio::time::timeout(idle, exchange).await.map_err(|_| timed_out(idle))?,
            None => exchange.await,
        };
        outcome.map_err(|error| {
            let after = match self.limits.timeout {
                Some(timeout) if !error.is_connect() => timeout,
                _ => self.connect_timeout,
            };
            EgressError::translate(&error, &url, Stage::Waiting, after)
        })
    }
}
