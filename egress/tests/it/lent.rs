//! The raw client that libraries are lent.

use egress::{EgressError, Policy};
use url::Url;

use crate::support::{INSIDE, Names, OUTSIDE, Server, redirect, text};

#[tokio::test]
async fn it_is_not_lent_for_a_forbidden_url() {
    let client = egress::Client::new(Policy::strict());
    for url in ["http://127.0.0.1/mcp", "http://u:p@a.example/", "ftp://a.example/"] {
        let url = Url::parse(url).unwrap();
        assert!(client.guarded_reqwest_for(&url).is_err(), "{url}");
    }
}

#[tokio::test]
async fn it_opens_no_forbidden_connection_whatever_it_is_asked() {
    let inside = Server::start(INSIDE, |_| text("secret")).await;
    let outside = Server::start(OUTSIDE, |_| text("fine")).await;
    let names = Names::default().with("trap.example", &[&[INSIDE]]);
    let client = names.client(OUTSIDE);
    let lent = client.guarded_reqwest_for(&outside.url("/")).unwrap();
    assert_eq!(lent.get(outside.url("/")).send().await.unwrap().status(), 200);
    let port = inside.url("/").port().unwrap();
    for host in [
        INSIDE,
        "trap.example",
        "localhost",
        "2130706435",
        "[::ffff:127.0.0.3]",
        "[64:ff9b::127.0.0.3]",
        "[fd00:ec2::254]",
        "169.254.169.254",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:{port}/");
            let error = lent.get(&url).send().await.expect_err(&url);
            assert!(EgressError::find_blocked(&error).is_some(), "{url}: {error:?}");
            let url = Url::parse(&url).unwrap();
            assert_eq!(EgressError::from_reqwest(&error, &url).code(), "blocked");
        }
    }
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn it_follows_redirects_within_the_origin_only() {
    let other = Server::start(OUTSIDE, |_| text("other")).await;
    let away = other.url("/").to_string();
    let server = Server::start(OUTSIDE, move |seen| match seen.path.as_str() {
        "/near" => redirect(307, "/end"),
        "/away" => redirect(307, &away),
        "/loop" => redirect(307, "/loop"),
        "/meta" => redirect(307, "http://169.254.169.254/"),
        _ => text("done"),
    })
    .await;
    let client = crate::support::client();
    let lent = client.guarded_reqwest_for(&server.url("/")).unwrap();
    let near = lent.get(server.url("/near")).send().await.unwrap();
    assert_eq!(near.url().path(), "/end");
    for (path, code) in [("/away", "redirect"), ("/loop", "too_many_redirects"), ("/meta", "redirect")] {
        let url = server.url(path);
        let error = lent.get(url.clone()).send().await.unwrap_err();
        assert_eq!(EgressError::from_reqwest(&error, &url).code(), code);
    }
    assert!(other.seen().is_empty());
}
