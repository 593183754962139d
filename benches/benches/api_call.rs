//! What a call of an imported API adds to the request it makes: the same request, by a bare HTTP client and by
//! the tool, in turn, to one server on loopback.
//!
//! `cargo bench -p benches --bench api_call`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people that ends when it fails")]

use axum::{Router, routing::get};
use domain::{
    AccountId, CallContext, Entry,
    ports::{Blobs, SystemClock},
    toolset::Runtime,
};
use infra_directory::DirectoryBlobs;
use infra_local_key::LocalKeyCipher;
use infra_sqlite::SqliteTable;
use serde_json::{Value, json};
use source_api::{ApiTools, ApiToolsPorts, service::Importer};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

const WARM_UP: usize = 500;
const PAIRS: usize = 5000;

#[tokio::main]
async fn main() {
    let directory = tempfile::tempdir().unwrap();
    let server = serve().await;
    let service = service(directory.path()).await;
    let account = AccountId::generate();
    let id = import(&service, &account, &server).await;
    let set = service.assemble_one(&account, &id, "getThing").await.unwrap();
    let name = set.entries()[0].name.clone();
    let client = bare();
    let url = format!("{server}/things/42?q=a%20b");

    let (mut bare_times, mut tool_times) = (Vec::new(), Vec::new());
    for i in 0..WARM_UP + PAIRS {
        let began = Instant::now();
        let answer = client.get(&url).header("x-key", "k").send().await.unwrap().bytes().await.unwrap();
        let bare_time = began.elapsed();
        let cx = CallContext::new(account.clone(), Entry::Api, "bench", Duration::from_secs(10));
        let began = Instant::now();
        let output = set.invoke(&name, json!({"id": "42", "q": "a b"}), &cx).await.unwrap();
        let tool_time = began.elapsed();
        assert_eq!(output.structured.unwrap(), serde_json::from_slice::<Value>(&answer).unwrap());
        if i >= WARM_UP {
            bare_times.push(bare_time);
            tool_times.push(tool_time);
        }
    }
    let mut added: Vec<f64> =
        tool_times.iter().zip(&bare_times).map(|(tool, bare)| micros(*tool) - micros(*bare)).collect();
    added.sort_by(f64::total_cmp);
    println!("{PAIRS} pairs, one at a time");
    tell("bare client", &mut bare_times);
    tell("tool", &mut tool_times);
    println!("added by the tool, pair by pair: p50 {:.1} µs", added[PAIRS / 2]);
}

fn tell(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into a short list"
        )]
        let index = (times.len() as f64 * share) as usize;
        micros(times[index])
    };
    println!("{what:12} p50 {:7.1} µs   p90 {:7.1} µs   p99 {:7.1} µs", at(0.5), at(0.9), at(0.99));
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[expect(clippy::disallowed_methods, reason = "the bare client is what the tool is compared with")]
fn bare() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap()
}

/// A server that answers with a small JSON object.
async fn serve() -> String {
    let answer = || async { axum::Json(json!({"id": "42", "name": "thing", "tags": ["a", "b"], "size": 7})) };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/things/{id}", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

async fn service(directory: &Path) -> ApiTools {
    let blobs: Arc<dyn Blobs> =
        Arc::new(DirectoryBlobs::open(directory.join("blobs"), "http://localhost:1").unwrap());
    ApiTools::new(ApiToolsPorts {
        table: Arc::new(SqliteTable::open(directory.join("haft.db")).await.unwrap()),
        blobs,
        cipher: Arc::new(LocalKeyCipher::open_or_create(&directory.join("cipher.key")).unwrap()),
        clock: Arc::new(SystemClock),
        client: egress::Client::new(egress::Policy::strict().with_loopback(true)),
        runtime: Arc::new(Runtime::default()),
    })
}

/// One operation with a path and a query parameter, and a sealed API key.
async fn import(service: &ApiTools, account: &AccountId, server: &str) -> String {
    let parameter = |name: &str, place: &str| json!({"name": name, "in": place, "required": true, "schema": {"type": "string", "maxLength": 20}});
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "paths": {"/things/{id}": {"get": {
            "operationId": "getThing",
            "parameters": [parameter("id", "path"), parameter("q", "query")],
            "security": [{"key": []}],
            "responses": {"200": {"description": "ok"}},
        }}},
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    });
    let input = json!({
        "name": "things", "openapi_schema": document, "server": server, "credentials": {"key": "k"},
    });
    let input = serde_json::from_value(input).unwrap();
    service.create(&Importer::new(account.clone()), input).await.unwrap().id
}
