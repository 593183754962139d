//! Redirects: where they may lead, and what they carry along.

use egress::EgressError;
use http::{HeaderName, HeaderValue, Method};
use secrecy::SecretString;
use url::Url;

use crate::support::{INSIDE, Names, OUTSIDE, Server, client, redirect, text};

#[tokio::test]
async fn a_redirect_to_the_inside_is_refused() {
    let inside = Server::start(INSIDE, |_| text("secret")).await;
    let port = inside.url("/").port().unwrap();
    let table = [
        (format!("http://{INSIDE}:{port}/"), "blocked"),
        (format!("//{INSIDE}:{port}/"), "blocked"),
        (format!("http://2130706435:{port}/"), "blocked"),
        (format!("http://0x7f.3:{port}/"), "blocked"),
        (format!("http://0177.0.0.03:{port}/"), "blocked"),
        (format!("http://[::ffff:{INSIDE}]:{port}/"), "blocked"),
        (format!("http://[::ffff:7f00:3]:{port}/"), "blocked"),
        (format!("http://[64:ff9b::{INSIDE}]:{port}/"), "blocked"),
        (format!("http://[2002:7f00:3::1]:{port}/"), "blocked"),
        (format!("http://localhost:{port}/"), "blocked"),
        (format!("http://inside.example:{port}/"), "blocked"),
        ("http://169.254.169.254/latest/".into(), "blocked"),
        ("http://[fd00:ec2::254]/latest/".into(), "blocked"),
        (format!("http://u:p@{OUTSIDE}:{port}/"), "invalid_url"),
        ("file:///etc/passwd".into(), "invalid_url"),
        ("gopher://127.0.0.2/".into(), "invalid_url"),
        ("http://[::1".into(), "redirect"),
    ];
    let names = Names::default().with("inside.example", &[&[INSIDE]]);
    for (location, code) in table {
        let to = location.clone();
        let outside = Server::start(OUTSIDE, move |_| redirect(302, &to)).await;
        let sent = names.client(OUTSIDE).get(outside.url("/")).send().await;
        assert_eq!(sent.unwrap_err().code(), code, "{location}");
        assert_eq!(outside.seen().len(), 1, "{location}");
    }
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn each_hop_of_a_chain_is_checked() {
    let inside = Server::start(INSIDE, |_| text("secret")).await;
    let target = inside.url("/").to_string();
    let outside = Server::start(OUTSIDE, move |seen| match seen.path.as_str() {
        "/1" => redirect(302, "/2"),
        "/2" => redirect(307, "3"),
        _ => redirect(308, &target),
    })
    .await;
    let error = client().get(outside.url("/1")).send().await.unwrap_err();
    assert!(matches!(error, EgressError::Blocked(_)), "{error}");
    let paths: Vec<_> = outside.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/1", "/2", "/3"]);
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn method_and_body_follow_the_fetch_standard() {
    let table = [
        (301, Method::POST, Method::GET),
        (302, Method::POST, Method::GET),
        (303, Method::POST, Method::GET),
        (303, Method::PUT, Method::GET),
        (301, Method::PUT, Method::PUT),
        (302, Method::DELETE, Method::DELETE),
        (307, Method::POST, Method::POST),
        (308, Method::PATCH, Method::PATCH),
    ];
    let client = client();
    for (status, method, expected) in table {
        let server = Server::start(OUTSIDE, move |seen| match seen.path.as_str() {
            "/a" => redirect(status, "/b?x=1"),
            _ => text("done"),
        })
        .await;
        let request = client.request(method.clone(), server.url("/a"));
        let response = request.json(&[1, 2]).send().await.unwrap();
        assert_eq!(response.url().path(), "/b");
        let last = server.seen().pop().unwrap();
        assert_eq!(last.method, expected, "{status} {method}");
        let kept = expected == method;
        let body: &[u8] = if kept { b"[1,2]" } else { b"" };
        assert_eq!(last.body, body, "{status} {method}");
        assert_eq!(last.headers.contains_key("content-type"), kept);
    }
}

#[tokio::test]
async fn a_streamed_body_is_sent_once() {
    let server = Server::start(OUTSIDE, |seen| match seen.path.as_str() {
        "/again" => redirect(307, "/b"),
        "/drop" => redirect(303, "/b"),
        _ => text("done"),
    })
    .await;
    let parts = || egress::multipart::Form::new().text("k", "v");
    let again = client().post(server.url("/again")).multipart(parts());
    assert_eq!(again.send().await.unwrap_err().code(), "redirect");
    let dropped = client().post(server.url("/drop")).multipart(parts());
    dropped.send().await.unwrap();
    assert_eq!(server.seen().pop().unwrap().method, Method::GET);
}

#[tokio::test]
async fn secrets_stay_with_their_origin() {
    let back = Server::start(OUTSIDE, |_| text("done")).await;
    let home = back.url("/home").to_string();
    let other = Server::start(OUTSIDE, move |_| redirect(307, &home)).await;
    let away = other.url("/away").to_string();
    let first = Server::start(OUTSIDE, move |seen| match seen.path.as_str() {
        "/a" => redirect(307, "/b"),
        _ => redirect(307, &away),
    })
    .await;
    let secret = SecretString::from("canary");
    let sent = client()
        .post(first.url("/a"))
        .bearer(&secret)
        .secret_header(HeaderName::from_static("x-api-key"), &secret)
        .header(http::header::COOKIE, HeaderValue::from_static("s=canary"))
        .header(HeaderName::from_static("x-plain"), HeaderValue::from_static("1"))
        .send();
    sent.await.unwrap();
    for seen in first.seen() {
        for name in ["authorization", "x-api-key", "cookie", "x-plain"] {
            assert!(seen.headers.contains_key(name), "{} {name}", seen.path);
        }
    }
    for seen in other.seen().into_iter().chain(back.seen()) {
        assert!(!format!("{:?}", seen.headers).contains("canary"));
        assert!(seen.headers.contains_key("x-plain"));
        assert!(!seen.headers.contains_key("referer"));
    }
    assert_eq!(back.seen().len(), 1);
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    let server = Server::start(OUTSIDE, |seen| {
        let left: u32 = seen.path[1..].parse().unwrap();
        match left {
            0 => text("done"),
            _ => redirect(302, &format!("/{}", left - 1)),
        }
    })
    .await;
    let get = |path| client().get(server.url(path));
    assert_eq!(get("/5").send().await.unwrap().url().path(), "/0");
    let error = get("/6").send().await.unwrap_err();
    assert_eq!(error.code(), "too_many_redirects");
    let unfollowed = get("/3").max_redirects(0).send().await.unwrap();
    assert_eq!(unfollowed.status(), 302);
    assert!(get("/2").max_redirects(2).send().await.is_ok());
}

#[tokio::test]
async fn a_redirect_status_without_location_is_an_answer() {
    let server = Server::start(OUTSIDE, |_| {
        let mut response = text("choose");
        *response.status_mut() = http::StatusCode::MULTIPLE_CHOICES;
        response
    })
    .await;
    let url: Url = server.url("/");
    assert_eq!(client().get(url).send().await.unwrap().status(), 300);
}
