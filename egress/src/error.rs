//! What can go wrong with an outgoing request, in terms a caller can act on.
//!
//! No variant holds a secret: URLs are kept without user, query and fragment, header
//! values and bodies never. Translates the HTTP library's errors; nothing else does.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use crate::address::AddressClass;
use crate::policy::Refusal;
use crate::target::safe_url;

/// Why an outgoing request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// The address may not be connected to.
    #[error(transparent)]
    Blocked(Box<Blocked>),
    /// The URL cannot be requested at all.
    #[error("{url} cannot be requested: {reason}")]
    InvalidUrl {
        /// The URL without user, query and fragment.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The request could not be built: a bad header name or value, a body that does not serialise.
    #[error("the request cannot be sent: {reason}")]
    InvalidRequest {
        /// What is wrong with it.
        reason: String,
    },
    /// The host's name did not resolve.
    #[error("{host} did not resolve: {reason}")]
    Dns {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// No connection could be made.
    #[error("could not connect to {url}: {reason}")]
    Connect {
        /// The URL without user, query and fragment.
        url: String,
        /// What the system said.
        reason: String,
    },
    /// The TLS handshake failed, for example over a certificate.
    #[error("no trusted TLS connection to {url}: {reason}")]
    Tls {
        /// The URL without user, query and fragment.
        url: String,
        /// What the TLS library said.
        reason: String,
    },
    /// Time ran out.
    #[error("{url} timed out {stage}, after {after:?}")]
    Timeout {
        /// The URL without user, query and fragment.
        url: String,
        /// What was being waited for.
        stage: Stage,
        /// The limit that was reached.
        after: Duration,
    },
    /// The answer is larger than the caller accepts.
    #[error("the answer of {url} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The URL without user, query and fragment.
        url: String,
        /// The limit, counted after decompression.
        limit: u64,
    },
    /// The server kept redirecting.
    #[error("{url} still redirects after {limit} redirects")]
    TooManyRedirects {
        /// The last URL without user, query and fragment.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// A redirect that is not followed.
    #[error("the redirect from {from} to {to} is not followed: {reason}")]
    Redirect {
        /// Where the redirect came from.
        from: String,
        /// Where it points.
        to: String,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// The connection broke or the peer did not speak HTTP.
    #[error("the exchange with {url} failed: {reason}")]
    Protocol {
        /// The URL without user, query and fragment.
        url: String,
        /// What the HTTP library said.
        reason: String,
    },
    /// The client itself could not be set up, for example without any trusted root certificate.
    #[error("the HTTP client could not be set up: {reason}")]
    Setup {
        /// What the HTTP library said.
        reason: String,
    },
}

/// What a request was waiting for when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A connection.
    Connecting,
    /// The head of the response.
    Waiting,
    /// The rest of the body.
    Reading,
}

/// An address that may not be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The host of the URL.
    pub host: String,
    /// The address that was judged.
    pub address: IpAddr,
    /// What kind of address it is.
    pub reason: AddressClass,
    /// The setting that would allow it; `None` where nothing can.
    pub setting: Option<String>,
}

impl Blocked {
    pub(crate) fn new(host: &str, refusal: &Refusal) -> Self {
        Self {
            host: host.to_owned(),
            address: refusal.address,
            reason: refusal.class,
            setting: refusal.setting(),
        }
    }
}

impl StdError for Blocked {}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address, reason, .. } = self;
        if host.parse() == Ok(*address) {
            write!(f, "connecting to {address} is refused: it is a {reason}")?;
        } else {
            write!(f, "connecting to {host} is refused: it leads to {address}, a {reason}")?;
        }
        match &self.setting {
            Some(setting) => write!(f, " (the setting {setting} would allow it)"),
            None => f.write_str(" (no setting allows it)"),
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connecting => "while connecting",
            Self::Waiting => "before it answered",
            Self::Reading => "before the answer was complete",
        })
    }
}

impl EgressError {
    /// A stable name of the kind of failure.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::InvalidUrl { .. } => "invalid_url",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::Dns { .. } => "dns",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too_large",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::Redirect { .. } => "redirect",
            Self::Protocol { .. } => "protocol",
            Self::Setup { .. } => "setup",
        }
    }

    /// True when no byte of this request can have reached a server, so that sending it
    /// again cannot repeat an effect. False after a redirect was followed: see `send`.
    pub fn was_never_sent(&self) -> bool {
        matches!(
            self,
            Self::Blocked(_)
                | Self::InvalidUrl { .. }
                | Self::InvalidRequest { .. }
                | Self::Dns { .. }
                | Self::Connect { .. }
                | Self::Tls { .. }
                | Self::Setup { .. }
                | Self::Timeout { stage: Stage::Connecting, .. }
        )
    }

    /// Translates an error of a client from [`crate::Client::guarded_reqwest_for`].
    /// `url` is the one that was requested.
    pub fn from_reqwest(error: &reqwest::Error, url: &Url) -> Self {
        Self::translate(error, url, Stage::Waiting, Duration::ZERO)
    }

    /// Finds a refusal by the guard anywhere among the causes of `error`, for libraries
    /// that wrap the HTTP client's errors in their own.
    pub fn find_blocked<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Blocked> {
        causes(error).find_map(|cause| cause.downcast_ref::<Blocked>())
    }

    pub(crate) fn translate(error: &reqwest::Error, url: &Url, stage: Stage, after: Duration) -> Self {
        if let Some(known) = causes(error).find_map(|cause| cause.downcast_ref::<Self>()) {
            return known.clone();
        }
        if let Some(blocked) = Self::find_blocked(error) {
            return Self::Blocked(Box::new(blocked.clone()));
        }
        let reason = root_cause(error);
        let url = error.url().unwrap_or(url);
        let safe = safe_url(url);
        if error.is_builder() {
            return Self::InvalidRequest { reason };
        }
        if error.is_dns() {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Self::Dns { host, reason };
        }
        if error.is_timeout() {
            let stage = if error.is_connect() { Stage::Connecting } else { stage };
            return Self::Timeout { url: safe, stage, after };
        }
        if causes(error).any(<dyn StdError>::is::<rustls::Error>) {
            return Self::Tls { url: safe, reason };
        }
        if error.is_connect() {
            return Self::Connect { url: safe, reason };
        }
        Self::Protocol { url: safe, reason }
    }
}

impl From<Blocked> for EgressError {
    fn from(blocked: Blocked) -> Self {
        Self::Blocked(Box::new(blocked))
    }
}

/// An error and its causes, also those that `io::Error` hides inside itself.
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |cause| {
        let cause: &'a (dyn StdError + 'static) = *cause;
        let hidden = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match hidden {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => cause.source(),
        }
    })
}

/// The innermost cause, which says what happened without repeating the URL.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    match causes(error).skip(1).last() {
        Some(cause) => cause.to_string(),
        None => "the request could not be completed".to_owned(),
    }
}
