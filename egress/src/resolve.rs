//! Names to addresses, of which only the allowed ones come back.
//!
//! A connection is opened to an address returned here and to no other, so what was
//! judged is what is connected to, and a second answer of the name server changes
//! nothing. Of several addresses the forbidden ones are left out; when none is left
//! the name is refused.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolving as ReqwestResolving};
use url::{Host, Url};

use crate::error::{Blocked, EgressError};
use crate::policy::Policy;
use crate::target::literal;

/// What a [`Resolve`] returns.
pub type Resolving = BoxFuture<'static, io::Result<Vec<IpAddr>>>;

/// Most addresses of one name that are looked at.
const MAX_ADDRESSES: usize = 32;

/// Asks for the addresses of a name. What it returns is judged afterwards.
pub trait Resolve: Send + Sync + 'static {
    /// Starts a look-up.
    fn resolve(&self, host: &str) -> Resolving;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver for the HTTP library that lets only allowed addresses through.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    pub(crate) policy: Policy,
    pub(crate) inner: Arc<dyn Resolve>,
}

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> ReqwestResolving {
        let guard = self.clone();
        Box::pin(async move {
            let host = name.as_str();
            if let Some(address) = Diverted::address(host) {
                return Err(guard.refuse(&address.to_string(), &[address]));
            }
            let mut found = guard.inner.resolve(host).await?;
            found.truncate(MAX_ADDRESSES);
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "it has no address").into());
            }
            let allowed: Vec<_> = found
                .iter()
                .filter(|address| guard.policy.check(**address).is_ok())
                .map(|address| SocketAddr::new(*address, 0))
                .collect();
            if allowed.is_empty() {
                return Err(guard.refuse(host, &found));
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

impl GuardedResolver {
    /// The allowed addresses of a host that may also be written as an address.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, EgressError> {
        let dns = |reason: String| EgressError::Dns { host: host.to_owned(), reason };
        let written = match Host::parse(host).map_err(|error| dns(error.to_string()))? {
            Host::Domain(name) => literal(&Host::Domain(name.as_str())),
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        };
        let mut found = match written {
            Some(address) => vec![address],
            None => self.inner.resolve(host).await.map_err(|error| dns(error.to_string()))?,
        };
        found.truncate(MAX_ADDRESSES);
        let refusal = found.iter().find_map(|address| self.policy.check(*address).err());
        found.retain(|address| self.policy.check(*address).is_ok());
        match refusal {
            _ if !found.is_empty() => Ok(found),
            Some(refusal) => Err(Blocked::new(host, &refusal).into()),
            None => Err(dns("it has no address".to_owned())),
        }
    }

    fn refuse(&self, host: &str, found: &[IpAddr]) -> Box<dyn std::error::Error + Send + Sync> {
        let refusal = found.iter().find_map(|a| self.policy.check(*a).err());
        match refusal {
            Some(refusal) => Box::new(Blocked::new(host, &refusal)),
            None => {
                Box::new(EgressError::Dns { host: host.to_owned(), reason: "it has no address".to_owned() })
            }
        }
    }
}

/// The last net under requests that this crate does not see.
///
/// A library that was handed a raw client may ask for any URL, and the HTTP library
/// resolves no address that is written in one. It does ask, for every connection, which
/// proxy to use. A forbidden address is answered with a "proxy" whose name only
/// [`GuardedResolver`] knows and always refuses: no connection is opened.
pub(crate) struct Diverted;

impl Diverted {
    const SUFFIX: &str = ".refused.invalid";

    /// The proxy to name for a connection to `url`: none when it may be opened.
    pub(crate) fn proxy_for(policy: &Policy, url: &Url) -> Option<String> {
        let address = literal(&url.host()?)?;
        policy.check(address).is_err().then(|| {
            let bits = match address {
                IpAddr::V4(v4) => format!("v4-{:08x}", v4.to_bits()),
                IpAddr::V6(v6) => format!("v6-{:032x}", v6.to_bits()),
            };
            format!("http://{bits}{}", Self::SUFFIX)
        })
    }

    fn address(host: &str) -> Option<IpAddr> {
        let label = host.strip_suffix(Self::SUFFIX)?;
        if let Some(hex) = label.strip_prefix("v4-") {
            return Some(IpAddr::V4(u32::from_str_radix(hex, 16).ok()?.into()));
        }
        let hex = label.strip_prefix("v6-")?;
        Some(IpAddr::V6(u128::from_str_radix(hex, 16).ok()?.into()))
    }
}
