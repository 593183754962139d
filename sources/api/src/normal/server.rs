//! Where an API is served: address templates with variables, and choosing among them.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A server of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Server {
    /// The address, with `{variable}`s. May be relative to where the document came from.
    pub url: String,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What may stand for the variables.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub variables: IndexMap<String, ServerVariable>,
}

/// A variable of a server's address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerVariable {
    /// What it is when nothing is chosen; empty where the document gives none.
    pub default: String,
    /// The values it may have; empty: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// Why no address came out of a document's servers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerProblem {
    /// The document names no server.
    #[error("the document names no server: give its address as `server`")]
    Missing,
    /// Only relative ones.
    #[error("the document's server `{0}` is relative: give the whole address as `server`")]
    Relative(String),
    /// A variable is left without a value.
    #[error("the server address `{url}` leaves `{{{variable}}}` open: give the whole address as `server`")]
    Open {
        /// The template.
        url: String,
        /// The variable.
        variable: String,
    },
    /// A value that the document does not allow.
    #[error("`{value}` is not a value of the server variable `{variable}`: it may be {allowed}")]
    NotAllowed {
        /// The variable.
        variable: String,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

impl Server {
    /// A server without variables.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// Whether the address says scheme and host.
    pub fn is_absolute(&self) -> bool {
        let lower = self.url.to_ascii_lowercase();
        // A scheme may itself be a variable: `{protocol}://host`.
        lower.starts_with("http://")
            || lower.starts_with("https://")
            || (lower.starts_with('{') && lower.contains("}://"))
    }

    /// The address with its variables filled in: by `values`, else by their defaults.
    pub fn address(&self, values: &BTreeMap<String, String>) -> Result<String, ServerProblem> {
        let mut address = String::with_capacity(self.url.len());
        let mut rest = self.url.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((variable, behind)) = after.split_once('}') else {
                break;
            };
            address.push_str(before);
            address.push_str(&self.value_of(variable, values)?);
            rest = behind;
        }
        address.push_str(rest);
        if self.is_absolute() { Ok(address) } else { Err(ServerProblem::Relative(address)) }
    }

    /// The address of the first absolute server of several, with the defaults of its variables.
    pub fn first_address(servers: &[Self]) -> Result<String, ServerProblem> {
        let mut problem = ServerProblem::Missing;
        for server in servers {
            match server.address(&BTreeMap::new()) {
                Ok(address) => return Ok(address),
                Err(found) if problem == ServerProblem::Missing => problem = found,
                Err(_) => {}
            }
        }
        Err(problem)
    }

    fn value_of(&self, variable: &str, values: &BTreeMap<String, String>) -> Result<String, ServerProblem> {
        let declared = self.variables.get(variable);
        let default = declared.map(|v| v.default.as_str()).filter(|d| !d.is_empty());
        let Some(value) = values.get(variable).map(String::as_str).or(default) else {
            return Err(ServerProblem::Open { url: self.url.clone(), variable: variable.to_owned() });
        };
        match declared {
            // A default outside the document's own list is the document's business.
            Some(v)
                if values.contains_key(variable)
                    && !v.allowed.is_empty()
                    && !v.allowed.iter().any(|a| a == value) =>
            {
                Err(ServerProblem::NotAllowed {
                    variable: variable.to_owned(),
                    value: value.to_owned(),
                    allowed: v.allowed.join(", "),
                })
            }
            _ => Ok(value.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str, variables: &[(&str, &str, &[&str])]) -> Server {
        let variable = |(name, default, allowed): &(&str, &str, &[&str])| {
            let allowed = allowed.iter().map(|a| (*a).to_owned()).collect();
            let variable =
                ServerVariable { default: (*default).to_owned(), allowed, description: String::new() };
            ((*name).to_owned(), variable)
        };
        Server {
            url: url.into(),
            description: String::new(),
            variables: variables.iter().map(variable).collect(),
        }
    }

    #[test]
    fn variables_take_given_values_else_defaults() {
        let s = server(
            "https://{region}.api.example.com/{version}",
            &[("region", "eu", &["eu", "us"]), ("version", "v1", &[])],
        );
        let none = BTreeMap::new();
        assert_eq!(s.address(&none).unwrap(), "https://eu.api.example.com/v1");
        let us = BTreeMap::from([("region".to_owned(), "us".to_owned())]);
        assert_eq!(s.address(&us).unwrap(), "https://us.api.example.com/v1");
        let mars = BTreeMap::from([("region".to_owned(), "mars".to_owned())]);
        assert!(matches!(s.address(&mars), Err(ServerProblem::NotAllowed { .. })));
    }

    #[test]
    fn what_gives_no_address_says_why() {
        let none = BTreeMap::new();
        assert!(matches!(server("/v2", &[]).address(&none), Err(ServerProblem::Relative(_))));
        assert!(matches!(
            server("https://{tenant}.example.com", &[]).address(&none),
            Err(ServerProblem::Open { .. })
        ));
        assert_eq!(Server::first_address(&[]), Err(ServerProblem::Missing));
        let servers = [server("/v1", &[]), server("{scheme}://h", &[("scheme", "http", &[])])];
        assert_eq!(Server::first_address(&servers).unwrap(), "http://h");
    }
}
