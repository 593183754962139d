//! Names: which of their addresses are used, and that none is looked up twice.

use axum::response::Response;
use egress::EgressError;

use crate::support::{INSIDE, Names, OUTSIDE, Seen, Server, text};

fn closing(_: &Seen) -> Response {
    let mut response = text("done");
    let close = http::HeaderValue::from_static("close");
    response.headers_mut().insert("connection", close);
    response
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_whatever_the_form() {
    let inside = Server::start(INSIDE, |_| text("secret")).await;
    let forms = [
        (INSIDE, INSIDE),
        ("::ffff:127.0.0.3", INSIDE),
        ("::127.0.0.3", INSIDE),
        ("64:ff9b::127.0.0.3", INSIDE),
        ("2002:7f00:3::", INSIDE),
        ("2606:4700::5efe:127.0.0.3", INSIDE),
        ("10.0.0.5", "10.0.0.5"),
        ("169.254.169.254", "169.254.169.254"),
        ("::ffff:169.254.169.254", "169.254.169.254"),
        ("fd00:ec2::254", "fd00:ec2::254"),
        ("0.0.0.0", "0.0.0.0"),
    ];
    for (answer, judged) in forms {
        let names = Names::default().with("trap.example", &[&[answer]]);
        let url = inside.url_as("trap.example", "/");
        let error = names.client(OUTSIDE).get(url).send().await.unwrap_err();
        let EgressError::Blocked(blocked) = &error else {
            panic!("{answer}: {error}");
        };
        assert_eq!(blocked.host, "trap.example");
        assert_eq!(blocked.address.to_string(), judged, "{answer}");
        assert!(error.was_never_sent());
    }
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn of_several_addresses_only_the_allowed_are_used() {
    let outside = Server::start(OUTSIDE, closing).await;
    let names = Names::default().with("both.example", &[&[INSIDE, "::1", OUTSIDE, "10.0.0.1"]]);
    let url = outside.url_as("both.example", "/");
    let sent = names.client(OUTSIDE).get(url).send().await;
    assert_eq!(sent.unwrap().status(), 200);
    assert_eq!(outside.seen().len(), 1);
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_judged_again() {
    let outside = Server::start(OUTSIDE, closing).await;
    let names = Names::default().with("rebind.example", &[&[OUTSIDE], &[INSIDE]]);
    let client = names.client(OUTSIDE);
    let url = outside.url_as("rebind.example", "/");
    // The answer that was judged is the one that is used: it is asked for once.
    client.get(url.clone()).send().await.unwrap();
    assert_eq!(names.asked().len(), 1);
    let error = client.get(url).send().await.unwrap_err();
    assert_eq!(error.code(), "blocked");
    assert_eq!(names.asked().len(), 2);
    assert_eq!(outside.seen().len(), 1);
}

#[tokio::test]
async fn a_live_connection_is_used_again() {
    let outside = Server::start(OUTSIDE, |_| text("done")).await;
    let names = Names::default().with("api.example", &[&[OUTSIDE]]);
    let client = names.client(OUTSIDE);
    for _ in 0..3 {
        let request = client.get(outside.url_as("api.example", "/"));
        request.send().await.unwrap().bytes().await.unwrap();
    }
    assert_eq!(names.asked().len(), 1);
    let seen = outside.seen();
    assert!(seen.iter().all(|one| one.peer == seen[0].peer));
}

#[tokio::test]
async fn names_without_an_address_are_told() {
    let names = Names::default().with("empty.example", &[&[]]);
    for host in ["empty.example", "missing.example"] {
        let url = format!("http://{host}/?key=canary").parse().unwrap();
        let error = names.client("").get(url).send().await.unwrap_err();
        let told = error.to_string();
        assert_eq!(error.code(), "dns", "{told}");
        assert!(told.contains(host) && !told.contains("canary"), "{told}");
    }
}

#[tokio::test]
async fn the_last_net_has_no_hole_of_its_own() {
    let names = Names::default();
    for host in ["v4-7f000003.refused.invalid", "v4-08080808.refused.invalid"] {
        let url = format!("http://{host}/").parse().unwrap();
        let error = names.client("").get(url).send().await.unwrap_err();
        assert!(matches!(error.code(), "blocked" | "dns"), "{error}");
    }
    assert!(names.asked().is_empty());
}

#[tokio::test]
async fn addresses_for_another_protocol_pass_the_same_judgement() {
    let names = Names::default()
        .with("both.example", &[&[INSIDE, OUTSIDE, "10.0.0.1"]])
        .with("trap.example", &[&[INSIDE]]);
    let client = names.client(OUTSIDE);
    let found = client.resolve("both.example", 465).await.unwrap();
    assert_eq!(found, [format!("{OUTSIDE}:465").parse().unwrap()]);
    assert_eq!(client.resolve(OUTSIDE, 25).await.unwrap(), [format!("{OUTSIDE}:25").parse().unwrap()]);
    for (host, code) in [
        ("trap.example", "blocked"),
        (INSIDE, "blocked"),
        ("0x7f000001", "blocked"),
        ("localhost", "blocked"),
        ("[::1]", "blocked"),
        ("unknown.example", "dns"),
        ("a b", "dns"),
    ] {
        assert_eq!(client.resolve(host, 25).await.unwrap_err().code(), code, "{host}");
    }
    assert_eq!(names.asked(), ["both.example", "trap.example", "unknown.example"]);
}
