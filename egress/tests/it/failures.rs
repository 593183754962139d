//! Failures before an answer, and what their messages say.

use egress::{Client, Policy};
use http::HeaderName;
use secrecy::SecretString;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::support::{OUTSIDE, client};

#[tokio::test]
async fn a_closed_port_is_a_connect_error() {
    let listener = TcpListener::bind((OUTSIDE, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url: Url = format!("http://{address}/p?key=canary").parse().unwrap();
    let error = client().get(url).send().await.unwrap_err();
    assert_eq!(error.code(), "connect");
    assert!(error.was_never_sent());
    let told = error.to_string();
    assert!(told.contains(&format!("http://{address}/p:")), "{told}");
    assert!(told.contains("refused") && !told.contains("canary"), "{told}");
}

#[tokio::test]
async fn a_server_without_tls_is_a_tls_error() {
    let listener = TcpListener::bind((OUTSIDE, 0)).await.unwrap();
    let url: Url = format!("https://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let serve = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 1024]).await;
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        socket
    });
    let error = client().get(url).send().await.unwrap_err();
    assert_eq!(error.code(), "tls", "{error}");
    serve.abort();
}

#[tokio::test]
async fn the_message_names_the_setting_that_helps() {
    let client = Client::new(Policy::strict());
    let table = [
        ("http://10.1.2.3/x", "HAFT_EGRESS_ALLOW=10.1.2.3/32"),
        ("http://[fd12::1]/x", "HAFT_EGRESS_ALLOW=fd12::1/128"),
        ("http://[::ffff:10.1.2.3]/x", "HAFT_EGRESS_ALLOW=10.1.2.3/32"),
        ("http://localhost/x", "HAFT_EGRESS_ALLOW=127.0.0.1/32"),
        ("http://169.254.169.254/x", "no setting allows it"),
    ];
    for (url, hint) in table {
        let error = client.get(url.parse().unwrap()).send().await.unwrap_err();
        assert!(error.to_string().contains(hint), "{error}");
    }
}

#[tokio::test]
async fn nothing_secret_is_printed() {
    let secret = SecretString::from("canary\r\nx: y");
    let url: Url = "https://api.example/p?key=canary".parse().unwrap();
    let request = client().get(url).secret_header(HeaderName::from_static("x-api-key"), &secret);
    assert!(!format!("{request:?}").contains("canary"));
    let error = request.send().await.unwrap_err();
    assert_eq!(error.code(), "invalid_request");
    let told = format!("{error} {error:?}");
    assert!(told.contains("x-api-key") && !told.contains("canary"), "{told}");
}
