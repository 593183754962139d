//! What can be typed.

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use domain::{Role, ToolKind};
use std::{net::SocketAddr, path::PathBuf};
use url::Url;

/// One handle for every tool an agent uses: builtin tools, HTTP APIs and MCP servers.
#[derive(Debug, Parser)]
#[command(name = "haft", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Which installation, and how to answer.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The data directory. Commands talk to the server that holds it, else open it themselves
    #[arg(long, global = true, value_name = "DIR", default_value = ".haft")]
    pub(crate) data: PathBuf,
    /// The server to talk to, with the key in HAFT_API_KEY
    #[arg(long, global = true, value_name = "URL", env = "HAFT_URL")]
    pub(crate) url: Option<Url>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve every function over HTTP
    Serve(Serve),
    /// List tools of every kind, show one, or add a builtin one to the source
    Tools(Tools),
    /// Call a tool
    Call(Call),
    /// HTTP APIs as tools: check, import and manage API documents
    Api {
        #[command(subcommand)]
        command: ApiCommand,
    },
    /// MCP servers as tools: add, refresh and manage them
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// The account's API keys
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// The account's credentials for builtin providers
    Credentials {
        #[command(subcommand)]
        command: CredentialsCommand,
    },
    /// Put in one tool of each kind, assemble them together and call each
    Tour(Tour),
    /// Look for what is wrong with this installation
    Doctor,
}

#[derive(Debug, Args)]
pub(crate) struct Tour {
    /// The start file of the MCP server `@modelcontextprotocol/server-everything`, which runs on Node.js
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_server: String,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    pub(crate) addr: SocketAddr,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Tools {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
    /// Only tools of this kind
    #[arg(long, value_parser = kind_parser())]
    pub(crate) kind: Option<ToolKind>,
    /// Only tools that have this text in their names or description
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Show what a tool takes
    Show {
        /// KIND/PROVIDER/TOOL, by names or ids
        #[arg(value_name = "KIND/PROVIDER/TOOL")]
        target: String,
    },
    /// Write the files of a new builtin tool into the source
    New(NewTool),
}

#[derive(Debug, Args)]
pub(crate) struct NewTool {
    /// The tool's provider, which may be new, and its name
    #[arg(value_name = "PROVIDER/TOOL")]
    pub(crate) name: String,
    /// The registry's folder in the source
    #[arg(long, value_name = "DIR", default_value = "providers")]
    pub(crate) registry: PathBuf,
}

fn kind_parser() -> impl TypedValueParser<Value = ToolKind> {
    PossibleValuesParser::new(ToolKind::ALL.map(ToolKind::as_str)).try_map(|name| name.parse())
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// KIND/PROVIDER/TOOL, by names or ids
    #[arg(value_name = "KIND/PROVIDER/TOOL")]
    pub(crate) target: String,
    /// What the tool is called with: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Settings of the instance, for a builtin tool: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) params: String,
    /// How long it may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApiCommand {
    /// Say what an API document would give, without importing it
    Check {
        /// The document, JSON or YAML; - for standard input
        file: String,
    },
    /// Import an API document
    Import(ImportApi),
    /// List the imported documents
    List,
    /// Show an imported document's tools
    Show {
        /// Its name or id
        name: String,
    },
    /// Delete an imported document and its tools
    Delete {
        /// Its name or id
        name: String,
    },
    /// Call one of its tools through its own debug route
    Debug {
        /// The document's name or id
        name: String,
        /// The tool
        tool: String,
        /// What the tool is called with: JSON, @FILE, or - for standard input
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ImportApi {
    /// The document, JSON or YAML: a file, - for standard input, or a URL
    #[arg(value_name = "FILE|URL")]
    pub(crate) source: String,
    /// A name for it; by default the file's
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The server to call, in place of the document's
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// A header to send with every call; give NAME alone to take its value from the environment
    #[arg(long = "header", value_name = "NAME:VALUE")]
    pub(crate) headers: Vec<String>,
    /// Only these operations, by operationId
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// Replace the document of this name
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Register an MCP server and discover its tools
    Add(AddMcp),
    /// List the registered servers
    List,
    /// Show a server's tools
    Show {
        /// Its name or id
        name: String,
    },
    /// Discover a server's tools again
    Refresh {
        /// Its name or id
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        name: Option<String>,
        /// All servers
        #[arg(long)]
        all: bool,
    },
    /// Show which changed definitions of a server's tools wait for approval
    Changes {
        /// Its name or id
        name: String,
    },
    /// Take changed definitions into use
    Approve {
        /// The server's name or id
        name: String,
        /// Only these tools; all that wait where none is given
        tools: Vec<String>,
    },
    /// Remove a server
    Remove {
        /// Its name or id
        name: String,
    },
    /// Register the servers of a file such as desktop agents use: {"mcpServers": {…}}
    Import {
        /// The file; - for standard input
        file: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddMcp {
    /// A name for it
    pub(crate) name: String,
    /// Where it listens (streamable HTTP)
    #[arg(long, required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<Url>,
    /// A header to send with every request; give NAME alone to take its value from the environment
    #[arg(long = "header", value_name = "NAME:VALUE", conflicts_with = "command")]
    pub(crate) headers: Vec<String>,
    /// A variable of its environment; give NAME alone to take its value from this environment
    #[arg(long = "env", value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// How long a call may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// What happens when a tool's definition changes
    #[arg(long, value_name = "POLICY")]
    pub(crate) on_change: Option<OnChange>,
    /// The command that runs it, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnChange {
    /// Take it
    Accept,
    /// Keep the approved one until someone approves the new one
    Review,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// List the keys
    List,
    /// Make a key; its text is shown once
    Create {
        /// What it is for
        name: String,
        /// What its holder may do
        #[arg(long, default_value = "operator")]
        role: RoleArg,
        /// When it ends, such as 2030-01-31T00:00:00Z
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// Revoke a key
    Revoke {
        /// Its id
        id: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleArg {
    /// Reads, and calls tools that only read
    Viewer,
    /// Calls any tool, and writes everything but keys, credentials and commands
    Operator,
    /// Everything
    Admin,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Viewer => Self::Viewer,
            RoleArg::Operator => Self::Operator,
            RoleArg::Admin => Self::Admin,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum CredentialsCommand {
    /// List what is stored, masked
    List,
    /// Store a provider's credentials in place of those that were there
    Set {
        /// The builtin provider
        provider: String,
        /// The fields; give FIELD alone to take its value from the environment, FIELD=- from standard input
        #[arg(required = true, value_name = "FIELD=VALUE")]
        fields: Vec<String>,
    },
    /// Forget a provider's credentials
    Delete {
        /// The builtin provider
        provider: String,
    },
}
