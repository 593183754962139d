//! Everything that stands behind the routes of one machine: adapters, and the sources over them.

use crate::{
    config::{BlobsConfig, CipherConfig, Config, TableConfig},
    studio::Studio,
};
use agent::Knowledge;
use apps::{
    accounts, assembly::SourceAssembler, audit::TableAudit, credentials::CredentialStore, keys::KeyError,
    keys::Keys, models::ModelStore,
};
use domain::{
    AccountId, ToolLister, ToolSource,
    keys::Kind,
    ports::{
        Assembler, BlobError, Blobs, Cipher, CipherError, Clock, Credentials, Query, SystemClock, Table,
        TableError,
    },
    toolset::Runtime,
};
use infra_directory::DirectoryBlobs;
use infra_local_key::LocalKeyCipher;
use infra_local_queue::TableSignal;
use infra_sqlite::{Settings, SqliteTable};
use providers::{BuiltinSource, ToolDeps};
use source_api::{ApiTools, ApiToolsPorts};
use source_mcp::{Deps, RefreshSettings, Servers, stdio::LocalStdio};
use source_workflow::{Engine, EngineDeps, LateAssembler, WorkflowSource, Workflows};
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

/// Where links lead when nobody says how this machine is reached: the address `serve` has by default.
const DEFAULT_PUBLIC_URL: &str = "http://127.0.0.1:8787";

/// How often it is looked which MCP servers are due.
const BETWEEN_REFRESHES: Duration = Duration::from_mins(5);

/// What the functions are made of.
pub struct Services {
    /// Records.
    pub table: Arc<dyn Table>,
    /// Large bodies.
    pub blobs: Arc<dyn Blobs>,
    /// The same, as the gateway serves their links.
    pub directory: DirectoryBlobs,
    /// Seals secrets.
    pub cipher: Arc<dyn Cipher>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The keys of all accounts.
    pub keys: Arc<Keys>,
    /// Stored credentials.
    pub credentials: Arc<CredentialStore>,
    /// References in, a toolset out.
    pub assembler: Arc<dyn Assembler>,
    /// Lists of tools, one per kind.
    pub listers: Vec<Arc<dyn ToolLister>>,
    /// Imported APIs.
    pub api_tools: ApiTools,
    /// MCP servers.
    pub mcp_servers: Servers,
    /// Workflows.
    pub workflows: Workflows,
    /// Apps, their models and datasets, and the chat service.
    pub studio: Studio,
    /// The only way out.
    pub egress: egress::Client,
    stdio: Arc<LocalStdio>,
    audit: Arc<TableAudit>,
}

/// Why the services do not start.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The store of records cannot be used.
    #[error("the store {path} cannot be used: {source}")]
    Table {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: TableError,
    },
    /// The store of large bodies cannot be used.
    #[error("the blob directory {path} cannot be used: {source}")]
    Blobs {
        /// Its place.
        path: PathBuf,
        /// Why.
        source: BlobError,
    },
    /// The key that seals secrets cannot be used.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// The account cannot be read.
    #[error("the account cannot be read: {0}")]
    Account(#[from] KeyError),
}

impl Services {
    /// Opens the stores and puts the sources over them. Call it on a Tokio runtime.
    pub async fn start(config: &Config) -> Result<Self, BootError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let table = open_table(&config.table, &clock).await?;
        let cipher = open_cipher(&config.cipher, table.as_ref()).await?;
        let directory = open_blobs(config, &clock)?;
        Ok(Self::over(config, table, cipher, directory, clock))
    }

    /// Everything over open stores.
    fn over(
        config: &Config,
        table: Arc<dyn Table>,
        cipher: Arc<dyn Cipher>,
        directory: DirectoryBlobs,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let blobs: Arc<dyn Blobs> = Arc::new(directory.clone());
        let egress = egress::Client::new(config.egress.clone());
        let credentials = Arc::new(CredentialStore::new(table.clone(), cipher.clone(), clock.clone()));
        let audit = Arc::new(TableAudit::start(table.clone(), clock.clone()));
        let runtime = Arc::new(Runtime {
            audit: audit.clone(),
            blobs: Some(blobs.clone()),
            clock: clock.clone(),
            ..Runtime::default()
        });
        let deps = ToolDeps {
            http: egress.clone(),
            credentials: credentials.clone() as Arc<dyn Credentials>,
            clock: clock.clone(),
            blobs: blobs.clone(),
        };
        let builtin = Arc::new(BuiltinSource::new(deps, cipher.clone()));
        let api_tools = ApiTools::new(ApiToolsPorts {
            table: table.clone(),
            blobs: blobs.clone(),
            cipher: cipher.clone(),
            clock: clock.clone(),
            client: egress.clone(),
            runtime: runtime.clone(),
        });
        let (mcp_servers, stdio) = mcp(config, &table, &cipher, &egress, &clock);
        let mcp = Arc::new(mcp_servers.source());
        let stores = Studio::stores(&table, &cipher, &clock, &egress);
        let (workflow, calling) = workflows(&table, &clock, &egress, &stores);
        let sources: Vec<Arc<dyn ToolSource>> =
            vec![builtin.clone(), api_tools.source(), mcp.clone(), workflow.clone()];
        let workflows = Workflows::new((*workflow).clone(), sources.clone());
        let assembler = Arc::new(SourceAssembler::new(sources, runtime));
        calling.bind(&(assembler.clone() as Arc<dyn Assembler>));
        let signal = Arc::new(TableSignal::with_clock(table.clone(), clock.clone()));
        let studio = Studio::new(stores, table.clone(), clock.clone(), assembler.clone(), signal);
        Self {
            workflows,
            studio,
            keys: Arc::new(Keys::new(table.clone(), clock.clone())),
            assembler,
            listers: vec![builtin, api_tools.source(), mcp, workflow],
            table,
            blobs,
            directory,
            cipher,
            clock,
            credentials,
            api_tools,
            mcp_servers,
            egress,
            stdio,
            audit,
        }
    }

    /// Asks MCP servers that are due for their tools, every few minutes, until the future is dropped.
    pub async fn keep_catalogs_fresh(&self) {
        loop {
            tokio::time::sleep(BETWEEN_REFRESHES).await;
            match self.mcp_servers.refresh_due(&RefreshSettings::default()).await {
                Ok(pass) => tracing::debug!(?pass, "MCP servers that were due have been asked"),
                Err(error) => tracing::warn!(%error, "MCP servers that are due could not be asked"),
            }
        }
    }

    /// Writes what waits to be written and ends the processes that were started.
    pub async fn shutdown(&self) {
        self.mcp_servers.close().await;
        self.stdio.shutdown().await;
        self.audit.flush().await;
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// The source of workflows, and the handle by which they call tools: bind it to the assembler.
fn workflows(
    table: &Arc<dyn Table>,
    clock: &Arc<dyn Clock>,
    egress: &egress::Client,
    (models, knowledge): &(ModelStore, Knowledge),
) -> (Arc<WorkflowSource>, LateAssembler) {
    let calling = LateAssembler::new();
    let engine = Engine::new(EngineDeps {
        assembler: calling.clone(),
        models: Arc::new(models.clone()),
        retriever: Some(Arc::new(knowledge.clone())),
        http: egress.clone(),
    });
    (Arc::new(WorkflowSource::new(table.clone(), engine, clock.clone())), calling)
}

/// MCP servers, and what runs those that are commands.
fn mcp(
    config: &Config,
    table: &Arc<dyn Table>,
    cipher: &Arc<dyn Cipher>,
    egress: &egress::Client,
    clock: &Arc<dyn Clock>,
) -> (Servers, Arc<LocalStdio>) {
    let stdio = Arc::new(LocalStdio::new(config.stdio.clone()));
    let servers = Servers::new(Deps {
        table: table.clone(),
        cipher: cipher.clone(),
        egress: egress.clone(),
        stdio: stdio.clone(),
        stdio_policy: config.stdio.clone(),
        clock: clock.clone(),
        listen: true,
    });
    let told = servers.clone();
    stdio.on_change(Arc::new(move |account, id| told.tools_changed(account, id)));
    (servers, stdio)
}

async fn open_table(config: &TableConfig, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Table>, BootError> {
    let TableConfig::Sqlite(path) = config;
    let table = SqliteTable::with(Settings::new(path), clock.clone());
    let failed = |source| BootError::Table { path: path.clone(), source };
    table.ready().await.map_err(failed)?;
    Ok(Arc::new(table))
}

/// Where sealed values may be stored.
const SEALING: [Kind; 7] = [
    Kind::Credential,
    Kind::ApiTool,
    Kind::McpServer,
    Kind::Workflow,
    Kind::App,
    Kind::Dataset,
    Kind::Wechat,
];

/// Sealed values need the key that sealed them: a new one is made only where nothing is sealed yet.
async fn open_cipher(config: &CipherConfig, table: &dyn Table) -> Result<Arc<dyn Cipher>, BootError> {
    let CipherConfig::KeyFile(path) = config;
    let account = accounts::first(table).await?;
    let cipher = match account {
        Some(account) if may_hold_secrets(table, &account).await? => LocalKeyCipher::open(path)?,
        _ => LocalKeyCipher::open_or_create(path)?,
    };
    Ok(Arc::new(cipher))
}

async fn may_hold_secrets(table: &dyn Table, account: &AccountId) -> Result<bool, KeyError> {
    for kind in SEALING {
        let page = table.query(&Query::prefix(kind.of(account), "").limit(1)).await?;
        if !page.items.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn open_blobs(config: &Config, clock: &Arc<dyn Clock>) -> Result<DirectoryBlobs, BootError> {
    let BlobsConfig::Directory(path) = &config.blobs;
    let public_url = config.public_url.as_ref().map_or(DEFAULT_PUBLIC_URL, |url| url.as_str());
    DirectoryBlobs::with_clock(path, public_url, clock.clone())
        .map_err(|source| BootError::Blobs { path: path.clone(), source })
}
