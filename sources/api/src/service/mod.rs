//! Imported APIs: created, updated, listed, changed and deleted.
//!
//! A document is compiled whole before anything is written; its operations become one revision, and one
//! conditional write makes that the current one. What is here knows the store and the compiler; how requests
//! are written and sent it does not.

mod changes;
mod document;
mod error;
mod import;
mod input;
mod limits;
mod origins;
mod read;
mod taken;
mod tools;
mod update;
mod views;

pub use changes::Changes;
pub use error::ServiceError;
pub use import::Importer;
pub use input::{Change, DocumentInput, DocumentText, ProviderInput, Select, ToolPatch};
pub use read::Paged;
pub use views::{HeaderView, Imported, InputView, ProviderView, SchemeView, ToolView, Validated};

use crate::{source::ApiSource, tool::Wire};
use domain::{
    Toolset,
    catalog::Catalog,
    keys::Kind,
    ports::{Blobs, Cipher, Clock, Table},
    toolset::Runtime,
};
use std::{fmt, sync::Arc};

/// What the service stands on.
#[derive(Clone)]
pub struct ApiToolsPorts {
    /// Holds providers and operations.
    pub table: Arc<dyn Table>,
    /// Holds the documents' texts.
    pub blobs: Arc<dyn Blobs>,
    /// Seals headers and credentials.
    pub cipher: Arc<dyn Cipher>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Fetches documents and tokens, and calls the APIs.
    pub client: egress::Client,
    /// Calls made for debugging go through it.
    pub runtime: Arc<Runtime>,
}

/// The service of imported APIs.
#[derive(Clone)]
pub struct ApiTools {
    catalog: Catalog,
    blobs: Arc<dyn Blobs>,
    cipher: Arc<dyn Cipher>,
    clock: Arc<dyn Clock>,
    client: egress::Client,
    runtime: Arc<Runtime>,
    source: Arc<ApiSource>,
}

impl ApiTools {
    /// The service on these ports.
    pub fn new(ports: ApiToolsPorts) -> Self {
        let catalog = Catalog::new(ports.table, Kind::ApiTool);
        let wire = Wire::new(ports.client.clone(), ports.cipher.clone(), ports.clock.clone());
        Self {
            source: Arc::new(ApiSource::new(catalog.clone(), Arc::new(wire))),
            catalog,
            blobs: ports.blobs,
            cipher: ports.cipher,
            clock: ports.clock,
            client: ports.client,
            runtime: ports.runtime,
        }
    }

    /// The source that resolves references to what is imported here.
    pub fn source(&self) -> Arc<ApiSource> {
        self.source.clone()
    }

    /// A toolset of one operation: what debugging calls, by the road that every call takes.
    pub async fn assemble_one(
        &self,
        account: &domain::AccountId,
        provider: &str,
        tool: &str,
    ) -> Result<Toolset, ServiceError> {
        use domain::{AccountContext, ToolKind, ToolRef, ToolSource, toolset::ApprovalPolicy};
        let refs = vec![ToolRef::new(ToolKind::ApiTool, provider, tool)];
        let resolved = self.source.resolve(&refs, &AccountContext::new(account.clone())).await;
        let set = Toolset::new(refs, resolved, &[], ApprovalPolicy::Never, self.runtime.clone());
        match set.problems().first() {
            Some(problem) => Err(ServiceError::Unresolved(Box::new(problem.clone()))),
            None => Ok(set),
        }
    }
}

impl fmt::Debug for ApiTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiTools").finish_non_exhaustive()
    }
}

impl fmt::Debug for ApiToolsPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiToolsPorts").finish_non_exhaustive()
    }
}
