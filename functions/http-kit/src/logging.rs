//! Where the log goes: standard error, for people or for machines.

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line each.
    Text,
    /// One JSON object each.
    Json,
}

/// Starts logging with a filter such as `info` or `info,source_mcp=debug`. Starting twice does nothing.
///
/// # Errors
/// The filter does not parse.
pub fn init_logging(filter: &str, format: LogFormat) -> Result<(), String> {
    let filter = EnvFilter::try_new(filter).map_err(|e| {
        format!("`{filter}` is not a log filter ({e}): use a level such as `info`, or `info,crate=debug`")
    })?;
    let registry = tracing_subscriber::registry().with(filter);
    let _ = match format {
        LogFormat::Text => registry.with(fmt::layer().compact().with_writer(std::io::stderr)).try_init(),
        LogFormat::Json => registry
            .with(fmt::layer().json().flatten_event(true).with_span_list(false).with_writer(std::io::stderr))
            .try_init(),
    };
    Ok(())
}
