//! Every published version of the protocol, and servers that behave oddly when asked which one they speak.

use crate::harness::{House, HttpServer, faulty, text};
use serde_json::json;
use source_mcp::ServerInput;

#[tokio::test]
async fn every_version_over_stdio() {
    let house = House::new().await;
    let cases: [(&[&str], &str); 8] = [
        (&["--era", "modern"], "2026-07-28"),
        (&["--version", "2025-11-25"], "2025-11-25"),
        (&["--version", "2025-06-18"], "2025-06-18"),
        (&["--version", "2025-03-26"], "2025-03-26"),
        (&["--version", "2024-11-05"], "2024-11-05"),
        (&["--era", "exits"], "2025-11-25"),
        (&["--era", "empty"], "2025-11-25"),
        (&["--era", "silent"], "2025-11-25"),
    ];
    for (args, version) in cases {
        let server = house.faulty(args).await;
        assert_eq!(server.protocol_version.as_deref(), Some(version), "{args:?}");
        assert_eq!(server.server_info.as_ref().unwrap()["name"], "faults", "{args:?}");
        let output = house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
        assert_eq!(text(&output), "x", "{args:?}");
        house.servers.delete(&house.account, &server.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_version_that_nobody_has_published_is_refused() {
    let house = House::new().await;
    let error = house.servers.create(&house.account, faulty(&["--version", "2099-01-01"])).await.unwrap_err();
    assert!(error.to_string().contains("2099-01-01"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_is_waited_for() {
    let house = House::new().await;
    for era in ["legacy", "modern", "silent"] {
        let server = house.faulty(&["--era", era, "--slow", "2.5"]).await;
        house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
        house.servers.delete(&house.account, &server.id).await.unwrap();
    }
}

#[tokio::test]
async fn what_was_found_is_kept_so_that_nothing_is_probed_again() {
    let house = House::new().await;
    let server = house.faulty(&["--era", "silent"]).await;
    house.stdio.shutdown().await;
    let started = std::time::Instant::now();
    house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
    assert!(started.elapsed() < std::time::Duration::from_millis(1900), "the probe's wait is not repeated");
}

#[tokio::test]
async fn every_era_over_http() {
    for (era, version) in [("legacy", "2025-06-18"), ("stateless", "2025-06-18"), ("modern", "2026-07-28")] {
        let (house, http) = (House::new().await, HttpServer::start(&["--era", era]));
        let server = house.servers.create(&house.account, http.input()).await.unwrap();
        assert_eq!(server.protocol_version.as_deref(), Some(version));
        let output = house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
        assert_eq!(text(&output), "x", "{era}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_changes_its_era_is_found_out_anew() {
    let house = House::new().await;
    let mut http = HttpServer::start(&["--era", "modern"]);
    let server = house.servers.create(&house.account, http.input()).await.unwrap();
    let port = http.port;
    for era in ["legacy", "modern"] {
        http.stop();
        http = HttpServer::on_port(port, &["--era", era]);
        // Another process of ours: nothing is known of the server but what is stored.
        house.servers.close().await;
        let output = house.call(&server.id, "echo", json!({"text": "x"})).await.unwrap();
        assert_eq!(text(&output), "x", "{era}");
    }
}

#[tokio::test]
async fn modern_requests_repeat_themselves_in_headers() {
    let (house, http) = (House::new().await, HttpServer::start(&["--era", "modern"]));
    let server = house.servers.create(&house.account, http.input()).await.unwrap();
    assert_eq!(server.skipped[0].name, "bad_header");
    let headers = house.call(&server.id, "headers", json!({})).await.unwrap().structured.unwrap();
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "headers");
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    house.call(&server.id, "region", json!({"region": "eu"})).await.unwrap();
    let output = house.call(&server.id, "input_required", json!({})).await.unwrap();
    assert_eq!(output.structured.unwrap(), json!({"who": {"action": "decline"}}));
}

#[tokio::test]
async fn a_bad_header_annotation_harms_no_server_that_does_not_know_it() {
    let (house, http) = (House::new().await, HttpServer::start(&[]));
    let input = ServerInput { timeout_s: Some(5), ..http.input() };
    let server = house.servers.create(&house.account, input).await.unwrap();
    assert!(server.tools > 10);
}
