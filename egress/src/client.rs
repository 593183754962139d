//! The client that everything shares: one guarded connection pool.
//!
//! Builds the HTTP library's client in one place, with the guarded resolver, without
//! proxies from the environment and without its own redirects.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Method;
use url::Url;

use crate::error::{EgressError, root_cause};
use crate::policy::Policy;
use crate::redirect;
use crate::request::RequestBuilder;
use crate::resolve::{Diverted, GuardedResolver, Resolve, SystemResolver};
use crate::target;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const POOL_IDLE: Duration = Duration::from_mins(1);
const POOL_IDLE_PER_HOST: usize = 32;
const MAX_HEADER_LIST_BYTES: u32 = 256 * 1024;
const USER_AGENT: &str = concat!("haft/", env!("CARGO_PKG_VERSION"));

/// Makes outgoing HTTP requests. Cheap to clone; clones share one connection pool.
///
/// Nothing is set up before the first request. Cookies are not kept, proxies of the
/// environment are not used.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ClientBuilder,
    /// Ours: redirects are followed by this crate.
    own: OnceLock<reqwest::Client>,
    /// For libraries: redirects stay within an origin.
    lent: OnceLock<reqwest::Client>,
}

/// Settings of a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    policy: Policy,
    resolver: Arc<dyn Resolve>,
    connect_timeout: Duration,
}

impl Client {
    /// A client with usual settings.
    pub fn new(policy: Policy) -> Self {
        Self::builder(policy).build()
    }

    /// Starts the settings of a client.
    pub fn builder(policy: Policy) -> ClientBuilder {
        ClientBuilder { policy, resolver: Arc::new(SystemResolver), connect_timeout: CONNECT_TIMEOUT }
    }

    /// Starts a request. Whether `url` may be requested is checked when it is sent.
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        RequestBuilder::new(self.clone(), method, url)
    }

    /// Starts a GET request.
    pub fn get(&self, url: Url) -> RequestBuilder {
        self.request(Method::GET, url)
    }

    /// Starts a POST request.
    pub fn post(&self, url: Url) -> RequestBuilder {
        self.request(Method::POST, url)
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.shared.settings.policy
    }

    /// Checks a URL as far as is possible without a look-up: for telling a user early.
    pub fn check_url(&self, url: &Url) -> Result<(), EgressError> {
        target::check(self.policy(), url)
    }

    /// A raw client for a library that insists on one, after checking the URL it is for.
    ///
    /// Every connection it opens is guarded, whatever URL the library requests. It
    /// follows redirects within an origin only, since headers with credentials cannot
    /// be told apart here. It has no total timeout and caps nothing: the library's caller
    /// has to. Refusals are found with [`EgressError::find_blocked`].
    pub fn guarded_reqwest_for(&self, url: &Url) -> Result<reqwest::Client, EgressError> {
        self.check_url(url)?;
        let policy = self.policy().clone();
        self.shared.settings.built(&self.shared.lent, || redirect::within_origin(policy.clone()))
    }

    /// The allowed addresses of a host, for a protocol other than HTTP. Whoever connects must connect to one of
    /// these and to nothing else: a second look-up may give another answer. The caller bounds the time.
    ///
    /// # Errors
    /// When the name does not resolve, or leads to forbidden addresses only.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, EgressError> {
        let ClientBuilder { policy, resolver, .. } = &self.shared.settings;
        let guard = GuardedResolver { policy: policy.clone(), inner: Arc::clone(resolver) };
        let found = guard.addresses(host).await?;
        Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    pub(crate) fn own(&self) -> Result<reqwest::Client, EgressError> {
        self.shared.settings.built(&self.shared.own, reqwest::redirect::Policy::none)
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        self.shared.settings.connect_timeout
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("policy", self.policy()).finish_non_exhaustive()
    }
}

impl ClientBuilder {
    /// Resolves names with something other than the operating system.
    pub fn resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Longest time for a look-up, a connection and its TLS handshake together.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Finishes. Nothing is set up yet, so nothing can fail.
    pub fn build(self) -> Client {
        Client { shared: Arc::new(Shared { settings: self, own: OnceLock::new(), lent: OnceLock::new() }) }
    }

    fn built(
        &self,
        slot: &OnceLock<reqwest::Client>,
        redirects: impl Fn() -> reqwest::redirect::Policy,
    ) -> Result<reqwest::Client, EgressError> {
        if let Some(client) = slot.get() {
            return Ok(client.clone());
        }
        // Two first requests may build side by side; both then use the same one.
        let built = self.reqwest(redirects())?;
        Ok(slot.get_or_init(|| built).clone())
    }

    #[expect(clippy::disallowed_methods, reason = "the one place where outgoing connections are set up")]
    fn reqwest(&self, redirects: reqwest::redirect::Policy) -> Result<reqwest::Client, EgressError> {
        let policy = self.policy.clone();
        reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirects)
            .referer(false)
            .no_proxy()
            .proxy(reqwest::Proxy::custom(move |url| Diverted::proxy_for(&policy, url)))
            .dns_resolver(GuardedResolver { policy: self.policy.clone(), inner: Arc::clone(&self.resolver) })
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(POOL_IDLE_PER_HOST)
            .http2_max_header_list_size(MAX_HEADER_LIST_BYTES)
            .tcp_nodelay(true)
            .build()
            .map_err(|error| EgressError::Setup { reason: root_cause(&error) })
    }
}
