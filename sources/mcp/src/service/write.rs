//! Creates, changes and deletes servers. An enabled one is asked for its tools first; nothing is saved when
//! that fails.

use super::{ServerError, ServerView, Servers, target};
use crate::{
    discovery::{self, Discovery},
    input::{DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_S, ServerInput},
    merge::{self, Tools},
    record::{Found, ServerRecord, Transport, TransportKind},
};
use domain::{
    AccountId,
    catalog::{Body, CatalogError, Head},
};
use jiff::SignedDuration;
use std::time::Duration;
use url::Url;

/// When a server that was just saved is asked again.
const FIRST_REFRESH_HOURS: i64 = 6;
/// How long a server over stdio may take until its tools are known: package runners download first.
const STDIO_START: Duration = Duration::from_mins(2);

impl Servers {
    /// Creates a server. The caller has checked that a command may be registered by whoever asks.
    pub async fn create(&self, account: &AccountId, input: ServerInput) -> Result<ServerView, ServerError> {
        self.check(&input)?;
        let name = input.name.trim().to_owned();
        if self.0.catalog.id_of(account, &name).await?.is_some() {
            return Err(CatalogError::NameTaken(name).into());
        }
        let id = format!("mcp_{}", uuid::Uuid::now_v7().simple());
        let mut record = self.record_of(account, &id, input, None).await?;
        let mut tools = Tools::new();
        if record.enabled {
            let found = self.discover(account, &id, &record).await;
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    self.0.connector.forget(account, &id).await;
                    return Err(error);
                }
            };
            tools = self.take(&mut record, tools, found).0;
        }
        let saved = self.0.catalog.create(account, &id, &name, &record, bodies(&tools)?).await;
        if let Err(error) = saved {
            self.0.connector.forget(account, &id).await;
            return Err(error.into());
        }
        self.saved(account, &id, &record).await?;
        self.get(account, &id).await
    }

    /// Changes a server: `input` describes it whole. A masked secret keeps the stored one.
    pub async fn update(
        &self,
        account: &AccountId,
        id: &str,
        input: ServerInput,
    ) -> Result<ServerView, ServerError> {
        self.check(&input)?;
        let head = self.head(account, id).await?;
        let name = input.name.trim().to_owned();
        let mut record = self.record_of(account, id, input, Some(&head.record)).await?;
        if record.enabled {
            let moved = !record.transport.same_target(&head.record.transport);
            let old = if moved { Tools::new() } else { self.tools_of(account, &head).await? };
            let found = self.discover(account, id, &record).await?;
            let (tools, changes) = self.take(&mut record, old, found);
            self.publish(account, &head, &name, &record, &tools, &changes).await?;
        } else {
            self.0.catalog.update_record(account, &head, &name, &record).await?;
            self.0.connector.forget(account, id).await;
        }
        self.saved(account, id, &record).await?;
        self.get(account, id).await
    }

    /// Deletes a server with all that belongs to it.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), ServerError> {
        self.0.catalog.delete(account, id).await?;
        self.0.connector.forget(account, id).await;
        self.delete_changes(account, id).await?;
        self.0.health.delete(account, id).await?;
        self.0.due.clear(account, id).await?;
        Ok(())
    }

    /// Asks the server that a record describes for its tools.
    pub(super) async fn discover(
        &self,
        account: &AccountId,
        id: &str,
        record: &ServerRecord,
    ) -> Result<Discovery, ServerError> {
        let target = target(account, id, record);
        let timeout = match record.transport.kind() {
            TransportKind::Http => record.timeout(),
            TransportKind::Stdio => record.timeout().max(STDIO_START),
        };
        let found = discovery::discover(&self.0.connector, &target, timeout).await;
        if found.is_ok() {
            self.0.connector.is_up(&target);
        }
        self.0.health.note_discovery(account, id, found.as_ref().map(|f| f.took)).await;
        found.map_err(ServerError::Discovery)
    }

    /// Takes over what was found into the record and the tools.
    pub(super) fn take(
        &self,
        record: &mut ServerRecord,
        old: Tools,
        found: Discovery,
    ) -> (Tools, merge::ChangeSet) {
        let (tools, changes) = merge::merge(old, found.tools, record.on_change);
        let (usable, pending) = merge::count(&tools);
        record.found = Found {
            era: Some(found.era),
            server: found.server,
            tools: usable,
            pending,
            skipped: found.skipped,
            notes: found.notes,
            at: Some(self.0.clock.now()),
        };
        (tools, changes)
    }

    /// Writes the next revision, and what it changes.
    pub(super) async fn publish(
        &self,
        account: &AccountId,
        head: &Head<ServerRecord>,
        name: &str,
        record: &ServerRecord,
        tools: &Tools,
        changes: &merge::ChangeSet,
    ) -> Result<u64, ServerError> {
        let revision = self.0.catalog.publish(account, head, name, record, bodies(tools)?).await?;
        if !changes.is_empty() {
            self.record_changes(account, &head.id, revision, changes).await?;
        }
        Ok(revision)
    }

    /// An enabled server is asked again some hours from now.
    async fn saved(&self, account: &AccountId, id: &str, record: &ServerRecord) -> Result<(), ServerError> {
        if record.enabled {
            let every = SignedDuration::from_hours(FIRST_REFRESH_HOURS);
            self.0.due.set(account, id, every, 0).await?;
        } else {
            self.0.due.clear(account, id).await?;
        }
        let (name, tools) = (&record.name, record.found.tools);
        tracing::info!(%account, server = id, name, tools, "an MCP server was saved");
        Ok(())
    }

    fn check(&self, input: &ServerInput) -> Result<(), ServerError> {
        let violations = input.violations();
        if !violations.is_empty() {
            return Err(ServerError::Invalid(violations));
        }
        if let Some(command) = input.command_to_run() {
            let allowed = self.0.policy.check_command(command);
            allowed.map_err(ServerError::NotAllowed)?;
        }
        Ok(())
    }

    /// The record that `input` describes, in place of `before`.
    async fn record_of(
        &self,
        account: &AccountId,
        id: &str,
        input: ServerInput,
        before: Option<&ServerRecord>,
    ) -> Result<ServerRecord, ServerError> {
        let now = self.0.clock.now();
        let transport = self.transport_of(account, id, &input, before).await?;
        let moved = before.is_none_or(|b| !b.transport.same_target(&transport));
        let reconnects = before.is_none_or(|b| b.transport != transport);
        let found = before.map(|b| b.found.clone()).unwrap_or_default();
        Ok(ServerRecord {
            name: input.name.trim().to_owned(),
            description: input.description,
            icon: input.icon,
            timeout_s: input.timeout_s.unwrap_or(DEFAULT_TIMEOUT_S),
            enabled: input.enabled.unwrap_or(true),
            on_change: input.on_change,
            trust_annotations: input.trust_annotations,
            max_concurrency: input.max_concurrency.unwrap_or(DEFAULT_CONCURRENCY),
            connection: before.map_or(1, |b| b.connection + u64::from(reconnects)),
            found: Found { era: found.era.filter(|_| !moved), ..found },
            created_at: before.map_or(now, |b| b.created_at),
            updated_at: now,
            transport,
        })
    }

    async fn transport_of(
        &self,
        account: &AccountId,
        id: &str,
        input: &ServerInput,
        before: Option<&ServerRecord>,
    ) -> Result<Transport, ServerError> {
        let empty = match input.transport {
            TransportKind::Http => {
                let url = input.url.as_deref().unwrap_or_default();
                let url = Url::parse(url).map_err(|e| ServerError::invalid("/url", e.to_string()))?;
                let refused = |reason| ServerError::invalid("/url", reason);
                self.0.connector.check_url(&url).map_err(refused)?;
                Transport::Http { url, headers: std::collections::BTreeMap::new() }
            }
            TransportKind::Stdio => Transport::Stdio {
                command: input.command.clone().unwrap_or_default(),
                args: input.args.clone(),
                env: std::collections::BTreeMap::new(),
            },
        };
        let same = before.map(|b| &b.transport).filter(|t| t.same_target(&empty));
        Ok(match empty {
            Transport::Http { url, .. } => {
                let headers = self.seal(account, id, "headers", input.headers.clone(), same);
                Transport::Http { url, headers: headers.await? }
            }
            Transport::Stdio { command, args, .. } => {
                let env = self.seal(account, id, "env", input.env.clone(), same);
                Transport::Stdio { command, args, env: env.await? }
            }
        })
    }
}

pub(super) fn bodies(tools: &Tools) -> Result<Vec<Body>, ServerError> {
    let body = |(name, tool)| Ok((String::clone(name), serde_json::to_value(tool)?));
    tools.iter().map(body).collect()
}
