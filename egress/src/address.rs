//! What kind of address an IP address is, and which addresses hide inside it.
//!
//! IPv6 has many ways to carry an IPv4 address. A host or gateway that understands
//! one of them would connect to the inner address, so the inner address is what has
//! to be judged. Knows nothing of policy: see `policy`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address, as far as reaching it from a server is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// A globally reachable unicast address.
    Public,
    /// A cloud's instance-metadata or host service. Never allowed.
    Metadata,
    /// `169.254.0.0/16`, `fe80::/10`. Never allowed.
    LinkLocal,
    /// `127.0.0.0/8`, `::1`.
    Loopback,
    /// RFC 1918 networks.
    Private,
    /// `fc00::/7` and the older site-local `fec0::/10`.
    UniqueLocal,
    /// `100.64.0.0/10`, shared by a carrier's customers.
    CarrierNat,
    /// `224.0.0.0/4`, `ff00::/8`.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// `0.0.0.0/8`, `::`.
    Unspecified,
    /// Ranges set aside for examples.
    Documentation,
    /// Ranges set aside for benchmarks.
    Benchmarking,
    /// Everything else that is not globally reachable.
    Reserved,
}

impl AddressClass {
    /// True for the kinds that no setting can allow.
    pub fn is_never_allowed(self) -> bool {
        matches!(self, Self::Metadata | Self::LinkLocal)
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public address",
            Self::Metadata => "cloud metadata address",
            Self::LinkLocal => "link-local address",
            Self::Loopback => "loopback address",
            Self::Private => "private address",
            Self::UniqueLocal => "unique-local address",
            Self::CarrierNat => "carrier-grade NAT address",
            Self::Multicast => "multicast address",
            Self::Broadcast => "broadcast address",
            Self::Unspecified => "unspecified address",
            Self::Documentation => "documentation address",
            Self::Benchmarking => "benchmarking address",
            Self::Reserved => "reserved address",
        })
    }
}

/// An address taken apart: its own kind, and the IPv4 addresses it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anatomy {
    /// The kind of the address as written. Of a pure carrier (IPv4-mapped, NAT64,
    /// 6to4, …) this is `Public`: only what it carries counts.
    pub(crate) class: AddressClass,
    /// Addresses carried inside, each of which has to be acceptable.
    pub(crate) carried: Vec<Ipv4Addr>,
}

/// Takes `address` apart.
pub(crate) fn dissect(address: IpAddr) -> Anatomy {
    match address {
        IpAddr::V4(v4) => Anatomy { class: classify_v4(v4), carried: Vec::new() },
        IpAddr::V6(v6) => dissect_v6(v6),
    }
}

/// Networks of IPv4, most specific first; the first that holds the address decides.
const V4_NETWORKS: &[(Ipv4Addr, u32, AddressClass)] = &[
    // Alibaba Cloud metadata, Azure's host channel, Oracle Cloud's older metadata.
    (Ipv4Addr::new(100, 100, 100, 200), 32, AddressClass::Metadata),
    (Ipv4Addr::new(168, 63, 129, 16), 32, AddressClass::Metadata),
    (Ipv4Addr::new(192, 0, 0, 192), 32, AddressClass::Metadata),
    (Ipv4Addr::new(169, 254, 169, 254), 32, AddressClass::Metadata),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressClass::LinkLocal),
    (Ipv4Addr::BROADCAST, 32, AddressClass::Broadcast),
    (Ipv4Addr::UNSPECIFIED, 8, AddressClass::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressClass::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressClass::CarrierNat),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressClass::Loopback),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressClass::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressClass::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressClass::Reserved),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressClass::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressClass::Benchmarking),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressClass::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressClass::Reserved),
];

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    let bits = address.to_bits();
    V4_NETWORKS
        .iter()
        .find(|(network, length, _)| (bits ^ network.to_bits()) >> (32 - length) == 0)
        .map_or(AddressClass::Public, |&(_, _, class)| class)
}

/// Networks of IPv6 that carry no IPv4 address, most specific first.
const V6_NETWORKS: &[(u128, u32, AddressClass)] = &[
    (0x0, 128, AddressClass::Unspecified),
    (0x1, 128, AddressClass::Loopback),
    // AWS's local services, Google Cloud's and Scaleway's metadata.
    (0xfd00_0ec2_0000_0000_0000_0000_0000_0000, 32, AddressClass::Metadata),
    (0xfd20_00ce_0000_0000_0000_0000_0000_0254, 128, AddressClass::Metadata),
    (0xfd00_0042_0000_0000_0000_0000_0000_0042, 128, AddressClass::Metadata),
    (0xfe80 << 112, 10, AddressClass::LinkLocal),
    (0xfec0 << 112, 10, AddressClass::UniqueLocal),
    (0xfc00 << 112, 7, AddressClass::UniqueLocal),
    (0xff00 << 112, 8, AddressClass::Multicast),
    (0x2001_0002 << 96, 48, AddressClass::Benchmarking),
    (0x2001_0db8 << 96, 32, AddressClass::Documentation),
    (0x3fff << 112, 20, AddressClass::Documentation),
    (0x2001 << 112, 23, AddressClass::Reserved),
    (0x2000 << 112, 3, AddressClass::Public),
    (0x0, 0, AddressClass::Reserved),
];

fn classify_v6(bits: u128) -> AddressClass {
    V6_NETWORKS
        .iter()
        .find(|(network, length, _)| in_network(bits, *network, *length))
        .map_or(AddressClass::Reserved, |&(_, _, class)| class)
}

fn in_network(bits: u128, network: u128, length: u32) -> bool {
    length == 0 || (bits ^ network) >> (128 - length) == 0
}

fn dissect_v6(address: Ipv6Addr) -> Anatomy {
    let bits = address.to_bits();
    if bits <= 1 {
        // `::` and `::1` have the shape of IPv4-compatible addresses, and are not.
        return Anatomy { class: classify_v6(bits), carried: Vec::new() };
    }
    if let Some(carried) = carried_by_prefix(bits) {
        return Anatomy { class: AddressClass::Public, carried };
    }
    if in_network(bits, 0x0064_ff9b_0001 << 80, 48) {
        return Anatomy { class: AddressClass::Reserved, carried: local_nat64(bits) };
    }
    Anatomy { class: classify_v6(bits), carried: isatap(bits).into_iter().collect() }
}

/// The addresses inside a form whose prefix says that it carries IPv4.
fn carried_by_prefix(bits: u128) -> Option<Vec<Ipv4Addr>> {
    let last = v4_at(bits, 0);
    let carries_last = in_network(bits, 0, 96) // IPv4-compatible, ::a.b.c.d
        || in_network(bits, 0xffff << 32, 96) // IPv4-mapped, ::ffff:a.b.c.d
        || in_network(bits, 0xffff << 48, 96) // IPv4-translated, ::ffff:0:a.b.c.d
        || in_network(bits, 0x0064_ff9b << 96, 96); // NAT64, 64:ff9b::a.b.c.d
    if carries_last {
        return Some(vec![last]);
    }
    if in_network(bits, 0x2002 << 112, 16) {
        return Some(vec![v4_at(bits, 80)]); // 6to4, 2002:aabb:ccdd::
    }
    if in_network(bits, 0x2001 << 112, 32) {
        // Teredo: the server's address, and the client's with every bit inverted.
        return Some(vec![v4_at(bits, 64), v4_at(!bits, 0)]);
    }
    None
}

/// The inner addresses of `64:ff9b:1::/48` (RFC 8215). Its operator chooses where the
/// IPv4 address sits (RFC 6052), so each place where it could be is looked at. A place
/// outside the chosen one reads as zeros: those say nothing and are left out.
fn local_nat64(bits: u128) -> Vec<Ipv4Addr> {
    let low_32 = |high: u128, low: u128| low_u32((high << 16) | low);
    let candidates = [
        low_32((bits >> 64) & 0xffff, (bits >> 40) & 0xffff), // a /48 prefix
        low_u32((((bits >> 64) & 0xff) << 24) | ((bits >> 32) & 0x00ff_ffff)), // a /56
        low_u32(bits >> 24),                                  // a /64
        low_u32(bits),                                        // a /96
    ];
    candidates.into_iter().filter(|&inner| inner >> 24 != 0).map(Ipv4Addr::from_bits).collect()
}

/// The IPv4 address of an ISATAP interface identifier: `…:0:5efe:a.b.c.d`.
fn isatap(bits: u128) -> Option<Ipv4Addr> {
    let marker = low_u32(bits >> 32);
    // The universal/local and group bits may be set either way.
    (marker & !0x0300_0000 == 0x0000_5efe).then(|| v4_at(bits, 0))
}

fn v4_at(bits: u128, shift: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(low_u32(bits >> shift))
}

#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what is asked for")]
fn low_u32(bits: u128) -> u32 {
    bits as u32
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
