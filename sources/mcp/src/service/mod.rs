//! `Servers`: what an account does with its MCP servers. Used by the routes and the command line.
//!
//! `write` creates and changes, `refresh` asks again, `changes` shows and approves what servers change,
//! `import` takes the configuration of desktop clients, `health` remembers how calls went, `schedule` asks
//! servers again that are `due`.

mod changes;
mod due;
mod error;
mod health;
mod import;
mod read;
mod refresh;
mod schedule;
mod seal;
mod view;
mod write;

pub use changes::{ChangeEntry, Changes, PendingChange};
pub use error::ServerError;
pub use health::Health;
pub use import::{ImportOutcome, Imported};
pub use read::Page;
pub use refresh::Refreshed;
pub use schedule::{REFRESH_JOB, RefreshError, RefreshPass, RefreshSettings};
pub(crate) use view::ours;
pub use view::{ServerStatus, ServerView, ToolView};

use crate::{
    connector::{Connector, Target},
    merge::Tools,
    record::ServerRecord,
    source::McpSource,
    stdio::StdioPolicy,
};
use domain::{
    AccountId,
    catalog::{Catalog, Head},
    keys::Kind,
    ports::{Cipher, Clock, StdioInvoker, Table},
};
use due::DueBook;
use health::HealthBook;
use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex},
};

/// What the servers stand on.
#[derive(Clone)]
pub struct Deps {
    /// Where records and catalogs are.
    pub table: Arc<dyn Table>,
    /// Seals headers and variables.
    pub cipher: Arc<dyn Cipher>,
    /// Opens connections over HTTP.
    pub egress: egress::Client,
    /// Runs commands.
    pub stdio: Arc<dyn StdioInvoker>,
    /// Which commands may be registered.
    pub stdio_policy: StdioPolicy,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Whether to listen, between calls, for servers' word that their tools have changed. Of use in a process
    /// that lives on; a function that sleeps between requests hears nothing.
    pub listen: bool,
}

/// An installation's MCP servers. Cheap to clone.
#[derive(Clone)]
pub struct Servers(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) catalog: Catalog,
    pub(crate) table: Arc<dyn Table>,
    pub(crate) cipher: Arc<dyn Cipher>,
    pub(crate) connector: Connector,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) health: Arc<HealthBook>,
    due: DueBook,
    policy: StdioPolicy,
    /// Servers that are being refreshed because they said that their tools have changed.
    refreshing: Mutex<HashSet<(AccountId, String)>>,
}

impl Servers {
    /// Puts the parts together.
    pub fn new(deps: Deps) -> Self {
        let inner = Arc::new(Inner {
            catalog: Catalog::new(Arc::clone(&deps.table), Kind::McpServer),
            health: Arc::new(HealthBook::new(Arc::clone(&deps.table), Arc::clone(&deps.clock))),
            due: DueBook::new(Arc::clone(&deps.table), Arc::clone(&deps.clock)),
            connector: Connector::new(&deps),
            table: deps.table,
            cipher: deps.cipher,
            clock: deps.clock,
            policy: deps.stdio_policy,
            refreshing: Mutex::default(),
        });
        let weak = Arc::downgrade(&inner);
        inner.connector.on_change(Arc::new(move |account, id| {
            if let Some(inner) = weak.upgrade() {
                Self(inner).tools_changed(account, id);
            }
        }));
        Self(inner)
    }

    /// The source that assembles these servers' tools.
    pub fn source(&self) -> McpSource {
        McpSource::new(Arc::clone(&self.0))
    }

    /// Which commands may be registered here.
    pub fn stdio_policy(&self) -> &StdioPolicy {
        &self.0.policy
    }

    /// Takes note that a server says its tools have changed, and refreshes its catalog in the background.
    ///
    /// Give this to an invoker of stdio servers that can tell.
    pub fn tools_changed(&self, account: AccountId, id: String) {
        refresh::in_background(self, account, id);
    }

    /// Ends all sessions. Processes are ended by the invoker that started them.
    pub async fn close(&self) {
        self.0.connector.close().await;
    }

    async fn head(&self, account: &AccountId, id: &str) -> Result<Head<ServerRecord>, ServerError> {
        Ok(self.0.catalog.head(account, id).await?)
    }

    /// The stored tools of a revision by name.
    async fn tools_of(&self, account: &AccountId, head: &Head<ServerRecord>) -> Result<Tools, ServerError> {
        let bodies = self.0.catalog.all_bodies(account, head).await?;
        let mut tools = Tools::new();
        for (name, body) in bodies {
            match serde_json::from_value(body) {
                Ok(tool) => drop(tools.insert(name, tool)),
                Err(error) => {
                    tracing::error!(server = head.id, name, %error, "a stored tool is not readable");
                }
            }
        }
        Ok(tools)
    }
}

pub(crate) fn target(account: &AccountId, id: &str, record: &ServerRecord) -> Target {
    Target { account: account.clone(), id: id.to_owned(), record: Arc::new(record.clone()) }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").finish_non_exhaustive()
    }
}
