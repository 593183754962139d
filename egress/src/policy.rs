//! Which addresses may be connected to. Parsed once from configuration.
//!
//! Rests on `address` for what an address is. Does no I/O and knows no URL.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use ipnet::IpNet;

use crate::address::{AddressClass, dissect};

/// The setting that adds allowed ranges; error messages name it.
pub const ALLOW_SETTING: &str = "HAFT_EGRESS_ALLOW";

/// Most ranges a setting may list.
const MAX_RANGES: usize = 256;

/// Which addresses may be connected to.
///
/// Public addresses always; loopback and listed ranges when configured; link-local and
/// cloud metadata addresses never, whatever is configured. An IPv6 address that carries
/// an IPv4 address (mapped, NAT64, 6to4, Teredo, …) is judged by what it carries.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    loopback: bool,
    allowed: Arc<[IpNet]>,
}

/// A range in the setting could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// An entry is neither an address nor a range.
    #[error("{ALLOW_SETTING}: `{entry}` is not an address or a CIDR range such as 10.1.0.0/16")]
    BadEntry {
        /// The entry as written.
        entry: String,
    },
    /// The list is unreasonably long.
    #[error("{ALLOW_SETTING}: more than {MAX_RANGES} ranges; join neighbouring ones")]
    TooMany,
}

/// Why an address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The address that was judged: the inner one where the refused address carries it.
    pub address: IpAddr,
    /// What kind of address it is.
    pub class: AddressClass,
}

impl Policy {
    /// Public addresses only.
    pub fn strict() -> Self {
        Self::default()
    }

    /// Reads a comma-separated list of addresses and CIDR ranges.
    pub fn parse(allow: &str) -> Result<Self, PolicyError> {
        let entries = allow.split(',').map(str::trim).filter(|e| !e.is_empty());
        let allowed = entries.map(parse_entry).collect::<Result<Vec<_>, _>>()?;
        if allowed.len() > MAX_RANGES {
            return Err(PolicyError::TooMany);
        }
        Ok(Self { loopback: false, allowed: allowed.into() })
    }

    /// Also allows loopback addresses, as suits a server that listens on loopback only.
    pub fn with_loopback(mut self, allowed: bool) -> Self {
        self.loopback = allowed;
        self
    }

    /// Whether loopback addresses are allowed as a class.
    pub fn allows_loopback(&self) -> bool {
        self.loopback
    }

    /// The ranges that were added.
    pub fn allowed_ranges(&self) -> &[IpNet] {
        &self.allowed
    }

    /// Judges an address.
    pub fn check(&self, address: IpAddr) -> Result<(), Refusal> {
        let anatomy = dissect(address);
        let outer = Refusal { address, class: anatomy.class };
        let carried = || anatomy.carried.iter().copied().map(carried_refusal);
        if let Some(never) = std::iter::once(outer).chain(carried()).find(|r| r.class.is_never_allowed()) {
            return Err(never);
        }
        if self.is_listed(address) {
            return Ok(());
        }
        if let Some(refused) = carried().find(|inner| !self.accepts(inner)) {
            return Err(refused);
        }
        if self.accepts(&outer) { Ok(()) } else { Err(outer) }
    }

    fn accepts(&self, judged: &Refusal) -> bool {
        match judged.class {
            AddressClass::Public => true,
            AddressClass::Loopback if self.loopback => true,
            _ => self.is_listed(judged.address),
        }
    }

    fn is_listed(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|range| range.contains(&address))
    }
}

impl Refusal {
    /// The setting that would allow this address, or `None` where nothing can.
    pub fn setting(&self) -> Option<String> {
        let length = if self.address.is_ipv4() { 32 } else { 128 };
        (!self.class.is_never_allowed()).then(|| format!("{ALLOW_SETTING}={}/{length}", self.address))
    }
}

fn carried_refusal(inner: Ipv4Addr) -> Refusal {
    let address = IpAddr::V4(inner);
    Refusal { address, class: dissect(address).class }
}

fn parse_entry(entry: &str) -> Result<IpNet, PolicyError> {
    entry
        .parse::<IpNet>()
        .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| PolicyError::BadEntry { entry: entry.to_owned() })
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
