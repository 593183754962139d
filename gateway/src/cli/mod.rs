//! The command line. Every command but `serve` and `tools new` is a call of the public HTTP API, made to a running
//! server or, where there is none, to the same router in this process.
//!
//! | module | purpose |
//! |---|---|
//! | `args` | what can be typed |
//! | `client` | [`client::Api`]: one way to call the API, two ways to reach it |
//! | `screen` | what is shown: [`screen::Report`], tables, a spinner on long work |
//! | `failure` | what went wrong and what to do next |
//! | `input`, `names` | arguments, files and secrets; readable names -> ids |
//! | the others | one command each |

mod api_tools;
mod args;
mod call;
mod client;
mod credentials;
mod doctor;
mod failure;
mod input;
mod keys;
mod mcp;
mod names;
mod screen;
mod serve;
mod tools;
mod tour;

use args::{Cli, Command, Global, McpCommand, ToolsCommand};
use boot::{Environment, ProcessEnvironment};
use clap::Parser as _;
use client::Api;
use failure::Failure;
use screen::Report;
use std::process::ExitCode;
use url::Url;

/// The definition of the command line, for help texts.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let json = cli.global.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return screen::fail(&Failure::new(format!("no threads can be started: {error}")), json);
        }
    };
    match runtime.block_on(run(cli)) {
        Ok(report) => screen::show(&report, json),
        Err(failure) => screen::fail(&failure, json),
    }
}

async fn run(cli: Cli) -> Result<Report, Failure> {
    let Cli { mut global, command } = cli;
    // `mcp add` has a `--url` of its own: the server that is added, not the one to talk to.
    if let Command::Mcp { command: McpCommand::Add(add) } = &command
        && add.url.is_some()
    {
        global.url = named_by(&ProcessEnvironment)?;
    }
    match command {
        Command::Serve(args) => serve::run(&global, &args).await,
        Command::Doctor => doctor::run(&global).await,
        Command::Tools(args::Tools { command: Some(ToolsCommand::New(new)), .. }) => tools::new(&new),
        other => with_api(&global, other).await,
    }
}

/// The server that `HAFT_URL` names.
fn named_by(environment: &dyn Environment) -> Result<Option<Url>, Failure> {
    let parse = |url: String| Url::parse(&url).map_err(|e| Failure::new(format!("HAFT_URL: `{url}`: {e}")));
    environment.get("HAFT_URL").filter(|url| !url.is_empty()).map(parse).transpose()
}

async fn with_api(global: &Global, command: Command) -> Result<Report, Failure> {
    let api = Api::connect(global, &ProcessEnvironment).await?;
    let result = match command {
        Command::Tools(args) => tools::run(&api, args).await,
        Command::Call(args) => call::run(&api, args).await,
        Command::Api { command } => api_tools::run(&api, command).await,
        Command::Mcp { command } => mcp::run(&api, command).await,
        Command::Keys { command } => keys::run(&api, command).await,
        Command::Credentials { command } => credentials::run(&api, command).await,
        Command::Tour(args) => tour::run(&api, &args).await,
        Command::Serve(_) | Command::Doctor => Err(Failure::new("this command needs no API")),
    };
    api.close().await;
    result
}
