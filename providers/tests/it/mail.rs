//! `email/send` against a small SMTP server that keeps what it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::{ToolError, ToolOutput};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{context_for, deps_with, invoke};

/// A server that answers each command as SMTP does, except where it is told otherwise.
struct Server {
    port: u16,
    said: Arc<Mutex<Vec<String>>>,
}

/// A command, by its beginning, and the answer to it.
type Otherwise = (&'static str, &'static str);

impl Server {
    async fn start(otherwise: Option<Otherwise>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let said = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&said);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that breaks off is not of interest.
                let _ = serve(stream, otherwise, &log).await;
            }
        });
        Self { port, said }
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

async fn serve(
    stream: TcpStream,
    otherwise: Option<Otherwise>,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"220 stand-in ready\r\n").await?;
    let mut in_data = false;
    while let Some(line) = lines.next_line().await? {
        log.lock().unwrap().push(line.clone());
        if in_data && line != "." {
            continue;
        }
        let changed = otherwise.filter(|(command, _)| line.starts_with(command)).map(|(_, answer)| answer);
        let answer = match (changed, line.split([' ', ':']).next().unwrap_or_default()) {
            (Some("never"), _) => std::future::pending().await,
            (Some(answer), _) => answer,
            (None, "EHLO") => "250-stand-in\r\n250 AUTH PLAIN LOGIN",
            (None, "AUTH") => "235 welcome",
            (None, "DATA") => "354 go on",
            (None, ".") => "250 queued as 1",
            (None, "QUIT") => "221 bye",
            (None, _) => "250 ok",
        };
        in_data = line == "DATA" && changed.is_none();
        writer.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}

fn letter() -> Value {
    json!({"to": ["Ada <ada@example.com>"], "cc": ["bob@example.org"], "subject": "会议 notes", "text": "你好\n.\nend"})
}

async fn send(port: u16, more: Value, credentials: Value, args: Value) -> Result<ToolOutput, ToolError> {
    let mut params =
        json!({"host": "127.0.0.1", "port": port, "security": "none", "from": "Haft <haft@example.com>"});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    invoke(deps_with(&credentials), "email/send", params, args, &context_for(Duration::from_secs(10))).await
}

fn login() -> Value {
    json!({"email": {"username": "haft", "password": "canary-password"}})
}

#[tokio::test]
async fn a_mail_is_handed_over_with_its_login_people_and_parts() {
    let server = Server::start(None).await;
    let mut args = letter();
    args["html"] = json!("<p>你好</p>");
    let output = send(server.port, json!({}), login(), args).await.unwrap();
    assert_eq!(
        output.structured.unwrap(),
        json!({"sent": true, "recipients": ["ada@example.com", "bob@example.org"]})
    );
    let said = server.said();
    let plain = BASE64_STANDARD.encode("\0haft\0canary-password");
    assert!(said.contains(&format!("AUTH PLAIN {plain}")), "{said:?}");
    let envelope: Vec<_> =
        said.iter().filter(|line| line.starts_with("MAIL") || line.starts_with("RCPT")).collect();
    assert!(envelope[0].starts_with("MAIL FROM:<haft@example.com>"), "{envelope:?}");
    assert!(
        envelope[1] == "RCPT TO:<ada@example.com>" && envelope[2] == "RCPT TO:<bob@example.org>",
        "{envelope:?}"
    );
    let whole = said.join("\n");
    for part in [
        "From: Haft <haft@example.com>".to_owned(),
        "To: Ada <ada@example.com>".to_owned(),
        "Cc: bob@example.org".to_owned(),
        "Subject: =?utf-8?b?".to_owned(),
        "multipart/alternative".to_owned(),
        BASE64_STANDARD.encode("<p>你好</p>"),
    ] {
        assert!(whole.contains(&part), "{part} in {whole}");
    }
}

#[tokio::test]
async fn without_a_login_none_is_told() {
    let server = Server::start(None).await;
    send(server.port, json!({}), Value::Null, letter()).await.unwrap();
    assert!(server.said().iter().all(|line| !line.starts_with("AUTH")));
    let half = json!({"email": {"username": "haft"}});
    let error = send(server.port, json!({}), half, letter()).await.unwrap_err();
    assert_eq!(error.code(), "missing_credential");
}

#[tokio::test]
async fn what_the_server_refuses_is_understood() {
    for (otherwise, code, part) in [
        (("AUTH", "535 5.7.8 authentication failed"), "missing_credential", "authentication failed"),
        (("RCPT TO:<bob", "550 5.1.1 no such user"), "upstream", "no such user"),
        (("MAIL", "452 4.2.2 over quota"), "rate_limited", ""),
        ((".", "554 5.7.1 looks like spam"), "upstream", "looks like spam"),
        (("EHLO", "nonsense"), "upstream", ""),
        (("EHLO", "never"), "timeout", ""),
    ] {
        let server = Server::start(Some(otherwise)).await;
        let time = if otherwise.1 == "never" { Duration::from_millis(300) } else { Duration::from_secs(10) };
        let params =
            json!({"host": "127.0.0.1", "port": server.port, "security": "none", "from": "haft@example.com"});
        let result = invoke(deps_with(&login()), "email/send", params, letter(), &context_for(time)).await;
        let error = result.unwrap_err();
        assert_eq!(error.code(), code, "{otherwise:?}: {error:?}");
        assert!(error.for_model().contains(part), "{otherwise:?}: {}", error.for_model());
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_away_or_speaks_no_tls_is_unreachable() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = gone.local_addr().unwrap().port();
    drop(gone);
    assert_eq!(send(port, json!({}), Value::Null, letter()).await.unwrap_err().code(), "unreachable");
    let plain = Server::start(None).await;
    let error = send(plain.port, json!({"security": "tls"}), Value::Null, letter()).await.unwrap_err();
    assert_eq!(error.code(), "unreachable", "{error:?}");
    // A server that offers no STARTTLS gets neither login nor mail.
    let error = send(plain.port, json!({"security": "starttls"}), login(), letter()).await.unwrap_err();
    assert_ne!(error.code(), "timeout", "{error:?}");
    assert!(plain.said().iter().all(|line| !line.starts_with("AUTH") && !line.starts_with("MAIL")));
}

#[tokio::test]
async fn mail_goes_only_where_the_guard_and_the_author_allow() {
    let server = Server::start(None).await;
    let mut strict = deps_with(&Value::Null);
    strict.http = egress::Client::new(egress::Policy::strict());
    let params =
        json!({"host": "localhost", "port": server.port, "security": "none", "from": "haft@example.com"});
    let error = invoke(strict, "email/send", params, letter(), &context_for(Duration::from_secs(10)))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "blocked");
    let listed = json!({"allowed_recipients": "@example.com, boss@example.net"});
    let error = send(server.port, listed.clone(), Value::Null, letter()).await.unwrap_err();
    assert!(error.for_model().contains("/cc: holds `bob@example.org`"), "{error:?}");
    assert!(server.said().is_empty());
    let inside = json!({"to": ["ada@EXAMPLE.com", "boss@example.net"], "subject": "x", "text": "y"});
    send(server.port, listed, Value::Null, inside).await.unwrap();
}

#[tokio::test]
async fn what_is_no_mail_is_refused() {
    for (args, place) in [
        (json!({"to": ["ada"], "subject": "x", "text": "y"}), "/to"),
        (json!({"to": ["ada@example.com\r\nBcc: eve@example.com"], "subject": "x", "text": "y"}), "/to"),
        (json!({"to": ["ada@example.com"], "subject": "x\r\nBcc: eve@example.com", "text": "y"}), "/subject"),
    ] {
        let error = send(1, json!({}), Value::Null, args).await.unwrap_err();
        assert!(error.code() == "invalid_args" && error.for_model().contains(place), "{error:?}");
    }
}
