//! `haft serve`.

use super::{
    args::{Global, Serve},
    failure::Failure,
    screen::Report,
};
use crate::{
    data::DataDir,
    serve::{Server, told_to_end},
};
use boot::{Environment as _, ProcessEnvironment};
use http_kit::LogFormat;
use serde_json::Value;
use std::io::{self, IsTerminal as _, Write as _};

pub(crate) async fn run(global: &Global, args: &Serve) -> Result<Report, Failure> {
    let environment = ProcessEnvironment;
    let filter = environment.get("HAFT_LOG").unwrap_or_else(|| "info".to_owned());
    let format = if io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    http_kit::init_logging(&filter, format).map_err(Failure::new)?;
    let data = DataDir::new(&global.data);
    let server = Server::bind(args.addr, &data, &environment).await?;
    if server.app().is_new {
        let path = data.admin_key_path();
        tracing::info!("first start: the account is made, and its admin key is in {}", path.display());
    }
    if server.app().services.egress.policy().allows_loopback() {
        tracing::info!("listening on this machine only, so tools may call addresses of this machine");
    }
    let told_to_end = told_to_end();
    // The one line that programs wait for.
    let mut out = io::stdout();
    writeln!(out, "listening on {}", server.url()).and_then(|()| out.flush())?;
    server.run(told_to_end).await?;
    Ok(Report::new("", Value::Null))
}
