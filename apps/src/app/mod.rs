//! Apps: a config that holds references, in a draft and in published versions.
//!
//! | module | purpose |
//! |---|---|
//! | [`config`] | what an app is told to do, with its defaults and limits |
//! | [`record`] | what is stored of an app and its versions |
//! | `store` | apps, drafts and versions in the table |
//! | `publishing` | versions: publish, unpublish, roll back |
//! | [`references`] | what a config refers to: which of it is broken, how it is shown, whether it has changed |
//! | [`toolset`] | a config as the toolset that every channel uses |

pub mod config;
mod dataset_tool;
mod publishing;
pub mod record;
pub mod references;
mod store;
pub mod toolset;

pub use config::AppConfig;
pub use record::{App, AppDetails, Draft, Version};
pub use references::{ConfigProblem, References};
pub use store::Apps;

use domain::{Violation, ports::TableError};

/// Why an app was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// There is none.
    #[error("{0} was not found")]
    NotFound(String),
    /// What was sent cannot be stored.
    #[error("the app cannot be stored like this: {}", first(.0))]
    Invalid(Vec<Violation>),
    /// Broken references stand against publishing.
    #[error("the app cannot be published: {}", first(.0))]
    Broken(Vec<Violation>),
    /// It is not published.
    #[error("the app `{0}` is not published: publish it first")]
    NotPublished(String),
    /// Somebody else changed it in between.
    #[error(
        "the app `{0}` was changed by someone else at the same time: read it again and repeat the change"
    )]
    Conflict(String),
    /// A stored record is not what it should be.
    #[error("the stored record `{0}` is not readable")]
    Corrupt(String),
    /// The machine gives no random numbers.
    #[error("no random numbers could be had: {0}")]
    Entropy(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl AppError {
    /// One place is wrong.
    pub(crate) fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Violation { path: path.into(), message: message.into() }])
    }
}

fn first(violations: &[Violation]) -> String {
    match violations {
        [] => "it is not valid".to_owned(),
        [only] => format!("at {}: {}", only.path, only.message),
        [first, rest @ ..] => format!("at {}: {} (and {} more)", first.path, first.message, rest.len()),
    }
}
