//! What is stored of an app, and what is told of it.

use super::{AppConfig, ConfigProblem};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct App {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its picture: an address, or an emoji.
    #[serde(default)]
    pub icon: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The version that channels use; none where it is not published.
    #[serde(default)]
    pub published_version: Option<u64>,
    /// The last version that was made; 0 before the first.
    #[serde(default)]
    pub latest_version: u64,
    /// The token of its web page, as long as it is published.
    #[serde(default)]
    pub web_token: Option<String>,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// An app's name and looks, as they are asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppDetails {
    /// Its name.
    pub name: String,
    /// Its picture: an address, or an emoji.
    #[serde(default)]
    pub icon: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
}

/// A config that is being worked on.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The config, secrets sealed.
    pub config: AppConfig,
    /// Changes with every write: a change that names another one is refused.
    pub revision: u64,
    /// When it was last written.
    pub updated_at: Timestamp,
}

/// A config that was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Its number, from 1.
    pub version: u64,
    /// The config, secrets sealed.
    pub config: AppConfig,
    /// What each tool's definition was, by the stable hash of its reference.
    pub definitions: BTreeMap<String, String>,
    /// When it was published.
    pub published_at: Timestamp,
}

/// A draft with what is wrong with its references.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The draft, secrets masked.
    pub draft: Draft,
    /// What is broken, and why.
    pub problems: Vec<ConfigProblem>,
}
