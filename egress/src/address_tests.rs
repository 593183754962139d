//! Known answers for the classification.

use super::{AddressClass, Ipv4Addr, dissect};
use AddressClass::{
    Benchmarking, Broadcast, CarrierNat, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private,
    Public, Reserved, UniqueLocal, Unspecified,
};

const BORDERS: &[(&str, AddressClass)] = &[
    ("1.1.1.1", Public),
    ("9.255.255.255", Public),
    ("10.0.0.0", Private),
    ("10.255.255.255", Private),
    ("11.0.0.0", Public),
    ("100.63.255.255", Public),
    ("100.64.0.0", CarrierNat),
    ("100.100.100.200", Metadata),
    ("100.127.255.255", CarrierNat),
    ("100.128.0.0", Public),
    ("126.255.255.255", Public),
    ("127.0.0.1", Loopback),
    ("127.255.255.255", Loopback),
    ("168.63.129.16", Metadata),
    ("169.253.255.255", Public),
    ("169.254.0.1", LinkLocal),
    ("169.254.169.254", Metadata),
    ("169.254.170.2", LinkLocal),
    ("169.255.0.0", Public),
    ("172.15.255.255", Public),
    ("172.16.0.0", Private),
    ("172.31.255.255", Private),
    ("172.32.0.0", Public),
    ("192.0.0.8", Reserved),
    ("192.0.0.192", Metadata),
    ("192.0.2.1", Documentation),
    ("192.88.99.1", Reserved),
    ("192.167.255.255", Public),
    ("192.168.0.1", Private),
    ("192.169.0.0", Public),
    ("198.18.0.1", Benchmarking),
    ("198.19.255.255", Benchmarking),
    ("198.20.0.0", Public),
    ("198.51.100.7", Documentation),
    ("203.0.113.7", Documentation),
    ("224.0.0.1", Multicast),
    ("239.255.255.255", Multicast),
    ("240.0.0.1", Reserved),
    ("255.255.255.254", Reserved),
    ("255.255.255.255", Broadcast),
    ("0.0.0.0", Unspecified),
    ("0.1.2.3", Unspecified),
    ("::", Unspecified),
    ("::1", Loopback),
    ("2606:4700::1111", Public),
    ("3ffe::1", Public),
    ("3fff::1", Documentation),
    ("3fff:1000::1", Public),
    ("4000::1", Reserved),
    ("100::1", Reserved),
    ("5f00::1", Reserved),
    ("2001:1::1", Reserved),
    ("2001:2::1", Benchmarking),
    ("2001:20::1", Reserved),
    ("2001:db8::1", Documentation),
    ("2001:4860:4860::8888", Public),
    ("fc00::1", UniqueLocal),
    ("fd12:3456::1", UniqueLocal),
    ("fd00:ec2::254", Metadata),
    ("fd00:ec2::23", Metadata),
    ("fd20:ce::254", Metadata),
    ("fd00:42::42", Metadata),
    ("fe80::1", LinkLocal),
    ("febf::1", LinkLocal),
    ("fec0::1", UniqueLocal),
    ("ff02::1", Multicast),
];

#[test]
fn every_class_has_its_borders() {
    for &(address, class) in BORDERS {
        let anatomy = dissect(address.parse().unwrap());
        assert_eq!(anatomy.class, class, "{address}");
        assert!(anatomy.carried.is_empty(), "{address} carries nothing");
    }
}

#[test]
fn every_carrier_is_opened() {
    let inner = Ipv4Addr::new(10, 1, 2, 3);
    let public = Ipv4Addr::new(8, 8, 8, 8);
    let table: &[(&str, AddressClass, &[Ipv4Addr])] = &[
        ("::10.1.2.3", Public, &[inner]),
        ("::ffff:10.1.2.3", Public, &[inner]),
        ("::ffff:0:10.1.2.3", Public, &[inner]),
        ("64:ff9b::10.1.2.3", Public, &[inner]),
        ("64:ff9b:1::10.1.2.3", Reserved, &[inner]),
        ("64:ff9b:1:0a01:0002:0300::", Reserved, &[inner]),
        ("64:ff9b:1:000a:0001:0203::", Reserved, &[inner]),
        ("64:ff9b:1:0:000a:0102:0300::", Reserved, &[inner]),
        ("2002:0a01:0203::1", Public, &[inner]),
        // server 8.8.8.8, client 10.1.2.3 inverted
        ("2001:0:0808:0808:0:0:f5fe:fdfc", Public, &[public, inner]),
        ("2606:4700::5efe:10.1.2.3", Public, &[inner]),
        ("2606:4700::200:5efe:10.1.2.3", Public, &[inner]),
        ("fd00::5efe:8.8.8.8", UniqueLocal, &[public]),
    ];
    for (address, class, carried) in table {
        let anatomy = dissect(address.parse().unwrap());
        assert_eq!(anatomy.class, *class, "{address}");
        for inner in *carried {
            assert!(anatomy.carried.contains(inner), "{address}: {:?}", anatomy.carried);
        }
    }
}
