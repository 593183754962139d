//! What is allowed, and that no embedded form opens what is closed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::{AddressClass, Policy, PolicyError};

fn verdict(policy: &Policy, address: &str) -> Result<(), AddressClass> {
    policy.check(address.parse().unwrap()).map_err(|refusal| refusal.class)
}

#[test]
fn settings_open_what_they_name_and_nothing_else() {
    let strict = Policy::strict();
    let local = Policy::strict().with_loopback(true);
    let office = Policy::parse("10.1.0.0/16, 192.168.7.9,fd12::/16").unwrap();
    let all = Policy::parse("0.0.0.0/0,::/0").unwrap();
    let table = [
        (&strict, "1.1.1.1", Ok(())),
        (&strict, "2606:4700::1111", Ok(())),
        (&strict, "64:ff9b::1.1.1.1", Ok(())),
        (&strict, "127.0.0.1", Err(AddressClass::Loopback)),
        (&strict, "64:ff9b:1::1.1.1.1", Err(AddressClass::Reserved)),
        (&local, "127.8.8.8", Ok(())),
        (&local, "::1", Ok(())),
        (&local, "::ffff:127.0.0.1", Ok(())),
        (&local, "0.0.0.0", Err(AddressClass::Unspecified)),
        (&local, "10.0.0.1", Err(AddressClass::Private)),
        (&office, "10.1.2.3", Ok(())),
        (&office, "::ffff:10.1.2.3", Ok(())),
        (&office, "192.168.7.9", Ok(())),
        (&office, "192.168.7.8", Err(AddressClass::Private)),
        (&office, "10.2.0.1", Err(AddressClass::Private)),
        (&office, "fd12::1", Ok(())),
        (&office, "fd13::1", Err(AddressClass::UniqueLocal)),
        (&office, "127.0.0.1", Err(AddressClass::Loopback)),
        (&all, "10.9.9.9", Ok(())),
        (&all, "169.254.169.254", Err(AddressClass::Metadata)),
        (&all, "169.254.1.1", Err(AddressClass::LinkLocal)),
        (&all, "fd00:ec2::254", Err(AddressClass::Metadata)),
        (&all, "fe80::1", Err(AddressClass::LinkLocal)),
        (&all, "::ffff:169.254.169.254", Err(AddressClass::Metadata)),
        (&all, "2002:a9fe:a9fe::1", Err(AddressClass::Metadata)),
        (&all, "64:ff9b:1::100.100.100.200", Err(AddressClass::Metadata)),
    ];
    for (policy, address, expected) in table {
        assert_eq!(verdict(policy, address), expected, "{address}");
    }
}

#[test]
fn a_bad_setting_names_the_entry() {
    let error = Policy::parse("10.0.0.0/8, ten").unwrap_err();
    assert_eq!(error, PolicyError::BadEntry { entry: "ten".into() });
    assert!(error.to_string().contains("HAFT_EGRESS_ALLOW: `ten`"));
    assert!(Policy::parse(&"10.0.0.1,".repeat(257)).is_err());
    assert!(Policy::parse("").unwrap().allowed_ranges().is_empty());
}

#[test]
fn the_printed_setting_allows_the_address() {
    for address in ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "127.0.0.1"] {
        let address: IpAddr = address.parse().unwrap();
        let refusal = Policy::strict().check(address).unwrap_err();
        let setting = refusal.setting().unwrap();
        let list = setting.strip_prefix("HAFT_EGRESS_ALLOW=").unwrap();
        assert_eq!(Policy::parse(list).unwrap().check(address), Ok(()));
    }
    let metadata = "169.254.169.254".parse().unwrap();
    assert_eq!(Policy::strict().check(metadata).unwrap_err().setting(), None);
}

/// Each way IPv6 carries an IPv4 address, with arbitrary bits where the form leaves room.
fn forms(inner: Ipv4Addr, noise: u64) -> Vec<Ipv6Addr> {
    let v4 = u128::from(inner.to_bits());
    let noise_64 = u128::from(noise);
    let public_64 = 0x2606_4700u128 << 96 | (noise_64 & 0xffff_ffff) << 64;
    let bits = [
        v4,
        0xffff << 32 | v4,
        0xffff << 48 | v4,
        0x0064_ff9b << 96 | v4,
        0x0064_ff9b_0001 << 80 | v4,
        0x0064_ff9b_0001 << 80 | (v4 >> 16) << 64 | (v4 & 0xffff) << 40,
        0x0064_ff9b_0001 << 80 | (v4 >> 24) << 64 | (v4 & 0x00ff_ffff) << 32,
        0x0064_ff9b_0001 << 80 | v4 << 24,
        0x2002 << 112 | v4 << 80 | noise_64,
        0x2001 << 112 | v4 << 64 | noise_64,
        0x2001 << 112 | 0x0808_0808 << 64 | (!v4 & 0xffff_ffff),
        public_64 | 0x0000_5efe << 32 | v4,
        public_64 | 0x0200_5efe << 32 | v4,
    ];
    bits.into_iter().map(Ipv6Addr::from_bits).collect()
}

fn forbidden_v4() -> impl Strategy<Value = Ipv4Addr> {
    let ranges: Vec<(u32, u32)> = [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    ]
    .iter()
    .map(|range| {
        let net: ipnet::Ipv4Net = range.parse().unwrap();
        (net.network().to_bits(), net.broadcast().to_bits())
    })
    .collect();
    proptest::sample::select(ranges).prop_flat_map(|(low, high)| low..=high).prop_map(Ipv4Addr::from_bits)
}

proptest! {
    #[test]
    fn a_forbidden_address_is_refused_in_every_form(inner in forbidden_v4(), noise: u64) {
        let strict = Policy::strict();
        prop_assert!(strict.check(IpAddr::V4(inner)).is_err());
        for form in forms(inner, noise) {
            prop_assert!(strict.check(IpAddr::V6(form)).is_err(), "{form} carries {inner}");
        }
    }

    #[test]
    fn link_local_is_refused_in_every_form_whatever_is_allowed(low: u16, noise: u64) {
        let all = Policy::parse("0.0.0.0/0,::/0").unwrap().with_loopback(true);
        let inner = Ipv4Addr::from_bits(0xa9fe_0000 | u32::from(low));
        prop_assert!(all.check(IpAddr::V4(inner)).is_err());
        for form in forms(inner, noise) {
            prop_assert!(all.check(IpAddr::V6(form)).is_err(), "{form} carries {inner}");
        }
    }

    #[test]
    fn only_global_unicast_and_carriers_pass(bits: u128) {
        let address = Ipv6Addr::from_bits(bits);
        let global = bits >> 125 == 0b001;
        let nat64 = bits >> 32 == 0x0064_ff9b << 64;
        if !global && !nat64 && bits >> 80 != 0 {
            prop_assert!(Policy::strict().check(IpAddr::V6(address)).is_err());
        }
    }
}
