//! Where a document's API is served.

use super::doc::{Doc, object_or_empty};
use crate::{
    compile::text::{MAX_FIELD_TEXT, description, plain, text_of},
    normal::{Server, ServerVariable},
};
use serde_json::{Map, Value};

/// How many servers are kept.
const MAX_SERVERS: usize = 50;

/// The servers of the document.
pub(super) fn of_document(doc: &Doc) -> Vec<Server> {
    if doc.is_v2() { of_v2(doc) } else { of(object_or_empty(Some(&doc.root))) }
}

/// The servers that a document, a path or an operation names.
pub(super) fn of(map: &Map<String, Value>) -> Vec<Server> {
    let list = map.get("servers").and_then(Value::as_array).into_iter().flatten();
    let servers = list.filter_map(|server| {
        let server = server.as_object()?;
        let url = text_of(server, "url").trim();
        // An empty or lone slash means "where the document came from".
        (!url.is_empty()).then(|| Server {
            url: url.to_owned(),
            description: description(text_of(server, "description"), MAX_FIELD_TEXT),
            variables: object_or_empty(server.get("variables")).iter().map(variable).collect(),
        })
    });
    let mut out: Vec<Server> = Vec::new();
    for server in servers.take(MAX_SERVERS) {
        if !out.contains(&server) {
            out.push(server);
        }
    }
    out
}

fn variable((name, value): (&String, &Value)) -> (String, ServerVariable) {
    let map = object_or_empty(Some(value));
    let allowed = map.get("enum").and_then(Value::as_array).into_iter().flatten();
    let variable = ServerVariable {
        default: map.get("default").map(plain).unwrap_or_default(),
        allowed: allowed.map(plain).collect(),
        description: description(text_of(map, "description"), MAX_FIELD_TEXT),
    };
    (name.clone(), variable)
}

/// Swagger 2.0: `schemes`, `host`, `basePath`; https first, where it is offered.
fn of_v2(doc: &Doc) -> Vec<Server> {
    let root = object_or_empty(Some(&doc.root));
    let host = text_of(root, "host").trim();
    let base = text_of(root, "basePath").trim();
    let base = if base == "/" { "" } else { base };
    // A scheme in the host is a mistake that tells what is meant all the same.
    let (in_host, host) = match host.split_once("://") {
        Some((scheme, host)) => (Some(scheme), host),
        None => (None, host),
    };
    let host = host.trim_end_matches('/');
    let slash = if base.is_empty() || base.starts_with('/') { "" } else { "/" };
    if host.is_empty() {
        return if base.is_empty() { Vec::new() } else { vec![Server::new(format!("{slash}{base}"))] };
    }
    let listed =
        root.get("schemes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut schemes: Vec<&str> =
        in_host.into_iter().chain(listed).filter(|s| matches!(*s, "http" | "https")).collect();
    schemes.sort_unstable_by_key(|s| *s != "https");
    schemes.dedup();
    if schemes.is_empty() {
        schemes.push("https");
    }
    schemes.iter().map(|scheme| Server::new(format!("{scheme}://{host}{slash}{base}"))).collect()
}
