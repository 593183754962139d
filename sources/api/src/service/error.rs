//! Why the service did not do it.

use crate::{
    compile::{DocumentError, SelectionError},
    credentials::CredentialProblem,
    report::Report,
};
use domain::{
    Problem,
    catalog::CatalogError,
    ports::{BlobError, TableError},
};
use egress::EgressError;

/// Why a provider was not created, changed or read.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// A field of the request is wrong.
    #[error("`{path}` {message}")]
    Invalid {
        /// JSON pointer into the request's body.
        path: String,
        /// What is wrong, and what to send.
        message: String,
    },
    /// Nothing could be read of the document.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The selection cannot be understood.
    #[error("`select`: {0}")]
    Selection(#[from] SelectionError),
    /// No operation became a tool.
    #[error("the document gives no tool: {}", why(.0))]
    NoTools(Box<Report>),
    /// There is no address to send requests to.
    #[error("{0}")]
    NoServer(String),
    /// Credentials would go where they were not given for.
    #[error(
        "requests would now go to {origins}, for which the stored headers and credentials were not given: send \
         `headers` and `credentials` again, with their values"
    )]
    OriginChanged {
        /// The new addresses.
        origins: String,
    },
    /// A header or credential was not taken.
    #[error(transparent)]
    Credential(#[from] CredentialProblem),
    /// The document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] EgressError),
    /// What was fetched is no document.
    #[error("{url} {reason}")]
    NotADocument {
        /// The address, without its query.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// The one operation that was asked for cannot be called.
    #[error("{}", .0.message)]
    Unresolved(Box<Problem>),
    /// The provider has no such operation.
    #[error("the API `{provider}` has no operation `{tool}`{hint}")]
    ToolNotFound {
        /// The provider's name.
        provider: String,
        /// The operation.
        tool: String,
        /// What is near, or nothing.
        hint: String,
    },
    /// The catalog did not do it.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The blob store did not do it.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A fault of ours.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ServiceError {
    pub(crate) fn invalid(path: &str, message: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_owned(), message: message.into() }
    }
}

impl From<TableError> for ServiceError {
    fn from(error: TableError) -> Self {
        Self::Catalog(error.into())
    }
}

fn why(report: &Report) -> String {
    let totals = report.totals;
    if totals.operations == 0 {
        return "it has no operations".into();
    }
    format!(
        "of its {} operations {} could not be taken and {} were not selected",
        totals.operations, totals.lost, totals.not_selected
    )
}
