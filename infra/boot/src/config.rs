//! Configuration: every variable of the product, parsed once, one type per concern.

use crate::environment::Environment;
use egress::Policy;
use secrecy::SecretString;
use source_mcp::{StdioPolicy, StdioPolicyError};
use std::path::{Path, PathBuf};
use url::Url;

/// What holds where a variable is not set.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// The directory that holds everything.
    pub data: PathBuf,
    /// Whether only this machine can reach the server (or there is none): loopback targets and registering
    /// commands are then allowed.
    pub loopback_only: bool,
    /// How much is logged.
    pub log: &'static str,
}

/// The whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where records are.
    pub table: TableConfig,
    /// Where large bodies are.
    pub blobs: BlobsConfig,
    /// What seals secrets.
    pub cipher: CipherConfig,
    /// Where outgoing connections may go: `HAFT_EGRESS_ALLOW`.
    pub egress: Policy,
    /// Which commands may be run as MCP servers: `HAFT_STDIO`.
    pub stdio: StdioPolicy,
    /// How others reach this server, for links: `HAFT_PUBLIC_URL`.
    pub public_url: Option<Url>,
    /// The admin key that the operator brought along: `HAFT_ADMIN_KEY`.
    pub admin_key: Option<SecretString>,
    /// What is logged: `HAFT_LOG`.
    pub log: String,
}

/// Where records are: `HAFT_TABLE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableConfig {
    /// `sqlite:PATH`.
    Sqlite(PathBuf),
}

/// Where large bodies are: `HAFT_BLOBS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobsConfig {
    /// `dir:PATH`.
    Directory(PathBuf),
}

/// What seals secrets: `HAFT_CIPHER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CipherConfig {
    /// `file:PATH`.
    KeyFile(PathBuf),
}

/// A variable whose value cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the environment variable {variable} is wrong: {reason}")]
pub struct ConfigError {
    /// Which one.
    pub variable: &'static str,
    /// What is wrong, and what it takes.
    pub reason: String,
}

impl Config {
    /// Reads the configuration.
    pub fn read(environment: &dyn Environment, defaults: &Defaults) -> Result<Self, ConfigError> {
        let data = &defaults.data;
        Ok(Self {
            table: path(environment, "HAFT_TABLE", "sqlite", || data.join("haft.db"))
                .map(TableConfig::Sqlite)?,
            blobs: path(environment, "HAFT_BLOBS", "dir", || data.join("blobs"))
                .map(BlobsConfig::Directory)?,
            cipher: path(environment, "HAFT_CIPHER", "file", || data.join("cipher.key"))
                .map(CipherConfig::KeyFile)?,
            egress: policy(environment, defaults)?,
            stdio: stdio(environment, defaults)?,
            public_url: public_url(environment)?,
            admin_key: environment.get("HAFT_ADMIN_KEY").map(SecretString::from),
            log: environment.get("HAFT_LOG").unwrap_or_else(|| defaults.log.to_owned()),
        })
    }
}

fn path(
    environment: &dyn Environment,
    variable: &'static str,
    scheme: &str,
    default: impl Fn() -> PathBuf,
) -> Result<PathBuf, ConfigError> {
    let Some(value) = environment.get(variable) else {
        return Ok(default());
    };
    let reason = || format!("`{value}` is not supported here: use `{scheme}:PATH`");
    match value.split_once(':') {
        Some((found, path)) if found == scheme && !path.is_empty() => Ok(Path::new(path).to_owned()),
        _ => Err(ConfigError { variable, reason: reason() }),
    }
}

fn policy(environment: &dyn Environment, defaults: &Defaults) -> Result<Policy, ConfigError> {
    let variable = egress::ALLOW_SETTING;
    let allow = environment.get(variable).unwrap_or_default();
    let policy = Policy::parse(&allow).map_err(|e| ConfigError { variable, reason: e.to_string() })?;
    Ok(policy.with_loopback(defaults.loopback_only))
}

fn stdio(environment: &dyn Environment, defaults: &Defaults) -> Result<StdioPolicy, ConfigError> {
    match environment.get("HAFT_STDIO") {
        None if defaults.loopback_only => Ok(StdioPolicy::Admin),
        None => Ok(StdioPolicy::Off),
        Some(value) => value
            .parse()
            .map_err(|e: StdioPolicyError| ConfigError { variable: "HAFT_STDIO", reason: e.to_string() }),
    }
}

fn public_url(environment: &dyn Environment) -> Result<Option<Url>, ConfigError> {
    let variable = "HAFT_PUBLIC_URL";
    let Some(value) = environment.get(variable) else {
        return Ok(None);
    };
    let wrong = |reason: String| ConfigError { variable, reason };
    let url = Url::parse(&value).map_err(|e| wrong(format!("`{value}` is not a URL ({e})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(format!("`{value}` does not begin with http:// or https://")));
    }
    Ok(Some(url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(variables: &[(&str, &str)], loopback_only: bool) -> Result<Config, ConfigError> {
        let environment: BTreeMap<_, _> =
            variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let defaults = Defaults { data: "d".into(), loopback_only, log: "info" };
        Config::read(&environment, &defaults)
    }

    #[test]
    fn without_variables_everything_is_in_the_data_directory() {
        let config = read(&[], true).unwrap();
        assert_eq!(config.table, TableConfig::Sqlite("d/haft.db".into()));
        assert_eq!(config.blobs, BlobsConfig::Directory("d/blobs".into()));
        assert_eq!(config.cipher, CipherConfig::KeyFile("d/cipher.key".into()));
        assert_eq!((config.stdio, config.log.as_str()), (StdioPolicy::Admin, "info"));
    }

    #[test]
    fn commands_are_off_where_others_can_reach_the_server() {
        assert_eq!(read(&[], false).unwrap().stdio, StdioPolicy::Off);
        assert!(!read(&[], false).unwrap().egress.allows_loopback());
        let allowed = read(&[("HAFT_STDIO", "allow:npx, uvx")], false).unwrap().stdio;
        assert_eq!(allowed, StdioPolicy::Allow(["npx".into(), "uvx".into()].into()));
    }

    #[test]
    fn a_wrong_value_names_its_variable_and_what_it_takes() {
        let cases = [
            ("HAFT_TABLE", "postgres:x"),
            ("HAFT_TABLE", "sqlite:"),
            ("HAFT_BLOBS", "x"),
            ("HAFT_CIPHER", "vault:x"),
            ("HAFT_EGRESS_ALLOW", "everything"),
            ("HAFT_STDIO", "yes"),
            ("HAFT_STDIO", "allow:"),
            ("HAFT_PUBLIC_URL", "ftp://x"),
        ];
        for (variable, value) in cases {
            let error = read(&[(variable, value)], true).unwrap_err();
            assert_eq!(error.variable, variable, "{error}");
        }
    }

    #[test]
    fn the_admin_key_is_not_shown() {
        let config = read(&[("HAFT_ADMIN_KEY", "canary-0123456789-0123456789-0123")], true).unwrap();
        assert!(!format!("{config:?}").contains("canary"));
    }
}
