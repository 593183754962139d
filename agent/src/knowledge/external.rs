//! A knowledge service elsewhere, by Dify's External Knowledge protocol:
//! `POST {endpoint}/retrieval {knowledge_id, query, retrieval_setting: {top_k, score_threshold}}` ->
//! `{records: [{content, score, title, metadata}]}`, errors as `{error_code, error_msg}`.

use super::{KnowledgeError, record::External};
use domain::ports::Passage;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(20);
const MAX_ANSWER: u64 = 4 * 1024 * 1024;
/// The longest message of a service that is passed on, in characters.
const MAX_MESSAGE: usize = 300;

/// Asks the service.
pub(super) async fn retrieve(
    http: &egress::Client,
    service: &External,
    key: Option<&SecretString>,
    query: &str,
    limit: usize,
) -> Result<Vec<Passage>, KnowledgeError> {
    let failed = |why: String| KnowledgeError::Service(why);
    let body = json!({
        "knowledge_id": service.knowledge_id,
        "query": query,
        "retrieval_setting": {"top_k": limit, "score_threshold": 0.0},
    });
    let mut request =
        http.post(address(&service.endpoint)?).json(&body).timeout(TIMEOUT).max_response_bytes(MAX_ANSWER);
    if let Some(key) = key {
        request = request.bearer(key);
    }
    let response = request.send().await.map_err(|error| failed(error.to_string()))?;
    let status = response.status();
    let bytes = response.bytes().await.map_err(|error| failed(error.to_string()))?;
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let records = answer.get("records").and_then(Value::as_array);
    match records.filter(|_| status.is_success()) {
        Some(records) => Ok(records.iter().filter_map(passage).take(limit).collect()),
        None => Err(failed(format!("status {}: {}", status.as_u16(), message(&answer, key)))),
    }
}

/// Where passages are asked for.
pub(super) fn address(endpoint: &str) -> Result<Url, KnowledgeError> {
    let base = endpoint.trim().trim_end_matches('/');
    let text = if base.ends_with("/retrieval") { base.to_owned() } else { format!("{base}/retrieval") };
    Url::parse(&text)
        .map_err(|error| KnowledgeError::Invalid { field: "external/endpoint", message: error.to_string() })
}

/// A record without text is none.
fn passage(record: &Value) -> Option<Passage> {
    let text = record.get("content")?.as_str().filter(|text| !text.is_empty())?;
    Some(Passage {
        text: text.to_owned(),
        title: record.get("title").and_then(Value::as_str).unwrap_or_default().to_owned(),
        score: record.get("score").and_then(Value::as_f64).unwrap_or_default(),
        metadata: record.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
    })
}

fn message(answer: &Value, key: Option<&SecretString>) -> String {
    let told = ["error_msg", "message", "detail", "error"].iter().find_map(|name| answer.get(name)?.as_str());
    let told = told.unwrap_or("the answer has no `records`");
    let hidden = match key.map(ExposeSecret::expose_secret).filter(|key| !key.is_empty()) {
        Some(key) => told.replace(key, "********"),
        None => told.to_owned(),
    };
    hidden.chars().take(MAX_MESSAGE).collect()
}
