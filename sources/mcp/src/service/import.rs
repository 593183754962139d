//! Imports the servers of a desktop client's configuration: `{"mcpServers": {NAME: {…}}}`.

use super::{ServerError, ServerView, Servers};
use crate::{input::ServerInput, record::TransportKind};
use domain::AccountId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How many servers one configuration may have.
const MAX_SERVERS: usize = 50;
/// How many are asked for their tools at the same time.
const AT_ONCE: usize = 4;

/// An import, server by server: one that fails does not stop the others.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Imported {
    /// What became of each, in the order of their names.
    pub servers: Vec<ImportOutcome>,
}

/// What became of one server.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportOutcome {
    /// Its name in the configuration.
    pub name: String,
    /// The server, where it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerView>,
    /// Why it was not, otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Fields that were not understood and left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// One entry as clients write it. They differ in how they name the transport.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type", alias = "transport", alias = "transportType", default)]
    kind: Option<String>,
    #[serde(alias = "serverUrl", alias = "httpUrl", default)]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Value>,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    description: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Servers {
    /// Creates servers: `entries` is the object under `mcpServers`. `may_run` says why a command may not be registered by whoever asks.
    pub async fn import(
        &self,
        account: &AccountId,
        entries: &Value,
        may_run: impl Fn(&str) -> Result<(), String> + Sync,
    ) -> Result<Imported, ServerError> {
        use futures::{StreamExt as _, stream};
        let entries = entries
            .as_object()
            .ok_or_else(|| ServerError::invalid("/mcpServers", "must be an object of servers by name"))?;
        if entries.len() > MAX_SERVERS {
            let message =
                format!("has {} servers; at most {MAX_SERVERS} are imported at once", entries.len());
            return Err(ServerError::invalid("/mcpServers", message));
        }
        let may_run = &may_run;
        let work: Vec<_> = entries
            .iter()
            .map(|(name, entry)| Box::pin(self.import_one(account, name, entry, may_run)))
            .collect();
        let servers = stream::iter(work).buffered(AT_ONCE).collect().await;
        Ok(Imported { servers })
    }

    async fn import_one(
        &self,
        account: &AccountId,
        name: &str,
        entry: &Value,
        may_run: &(impl Fn(&str) -> Result<(), String> + Sync),
    ) -> ImportOutcome {
        let mut outcome =
            ImportOutcome { name: name.to_owned(), server: None, error: None, ignored: Vec::new() };
        let input = match read(name, entry) {
            Ok((input, ignored)) => {
                outcome.ignored = ignored;
                input
            }
            Err(error) => {
                outcome.error = Some(error);
                return outcome;
            }
        };
        if let Some(Err(reason)) = input.command_to_run().map(may_run) {
            outcome.error = Some(reason);
            return outcome;
        }
        match self.create(account, input).await {
            Ok(server) => outcome.server = Some(server),
            Err(error) => outcome.error = Some(error.to_string()),
        }
        outcome
    }
}

/// Reads an entry; gives the fields that were left out.
fn read(name: &str, entry: &Value) -> Result<(ServerInput, Vec<String>), String> {
    let entry: Entry =
        serde_json::from_value(entry.clone()).map_err(|e| format!("it is not a server: {e}"))?;
    let transport = match (entry.kind.as_deref(), &entry.command, &entry.url) {
        (Some("stdio"), ..) | (None, Some(_), None) => TransportKind::Stdio,
        (Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), ..)
        | (None, None, Some(_)) => TransportKind::Http,
        (Some(other), ..) => {
            return Err(format!("its transport `{other}` is not supported: use stdio or http"));
        }
        (None, None, None) => return Err("it has neither a `command` nor a `url`".to_owned()),
        (None, Some(_), Some(_)) => return Err("it has both a `command` and a `url`".to_owned()),
    };
    let mut input = match transport {
        TransportKind::Http => ServerInput::http(name, entry.url.unwrap_or_default()),
        TransportKind::Stdio => ServerInput::stdio(name, entry.command.unwrap_or_default(), entry.args),
    };
    input.headers = texts(entry.headers);
    input.env = texts(entry.env);
    input.description = entry.description.unwrap_or_default();
    input.enabled = Some(!entry.disabled);
    Ok((input, entry.rest.into_iter().map(|(field, _)| field).collect()))
}

/// Values as texts: clients accept numbers and booleans in their place.
fn texts(values: BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    values.into_iter().map(|(name, value)| (name, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_configurations_of_several_clients_are_read() {
        let (input, ignored) =
            read("fs", &json!({"command":"npx","args":["-y","x"],"env":{"N":1},"autoApprove":[]})).unwrap();
        assert_eq!(
            (input.transport, input.env["N"].as_str(), ignored.as_slice()),
            (TransportKind::Stdio, "1", &["autoApprove".to_owned()][..])
        );
        for entry in [
            json!({"url":"https://x.test/mcp","headers":{"A":"b"}}),
            json!({"type":"streamable-http","url":"https://x.test/mcp","headers":{"A":"b"}}),
            json!({"type":"http","serverUrl":"https://x.test/mcp","headers":{"A":"b"},"disabled":false}),
        ] {
            let (input, ignored) = read("x", &entry).unwrap();
            assert_eq!((input.url.as_deref(), ignored.len()), (Some("https://x.test/mcp"), 0), "{entry}");
            assert!(input.violations().is_empty());
        }
        assert_eq!(read("x", &json!({"command":"x","disabled":true})).unwrap().0.enabled, Some(false));
        for bad in [
            json!({}),
            json!({"type":"sse","url":"http://x"}),
            json!({"command":"a","url":"b"}),
            json!([]),
            json!({"command":7}),
        ] {
            assert!(read("x", &bad).is_err(), "{bad}");
        }
    }
}
