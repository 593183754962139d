//! Creating and deleting a provider, and looking at a document.

use super::{
    ApiTools, DocumentInput, Imported, ProviderInput, ServiceError, Validated,
    document::{Loaded, Place},
    input::Select,
    limits::{check_texts, nonempty, shortened, slim},
    origins::origins,
    taken::Taken,
};
use crate::{
    base,
    credentials::{seal_all, seal_headers},
    normal::Operation,
    record::{DocumentRecord, ProviderRecord},
};
use domain::{AccountId, catalog::Head, tool::Progress};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The steps of an import, for progress: read, compiled, stored.
const STEPS: f64 = 3.0;

/// Who imports, and who listens to how it goes.
#[derive(Clone)]
pub struct Importer {
    /// Whose provider it is.
    pub account: AccountId,
    /// Takes reports of progress.
    pub progress: Option<Arc<dyn Progress>>,
}

impl Importer {
    /// An importer without listeners.
    pub fn new(account: AccountId) -> Self {
        Self { account, progress: None }
    }

    pub(super) fn report(&self, done: f64, message: &str) {
        if let Some(progress) = &self.progress {
            progress.report(done, Some(STEPS), Some(message));
        }
    }
}

impl fmt::Debug for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Importer").field("account", &self.account).finish_non_exhaustive()
    }
}

impl ApiTools {
    /// Compiles a document without storing anything.
    pub async fn validate(
        &self,
        account: &AccountId,
        input: DocumentInput,
    ) -> Result<Validated, ServiceError> {
        let place = Place::of(input.openapi_schema, input.url, input.upload_id)?.ok_or_else(Place::needed)?;
        let select = input.select.and_then(Select::into_text);
        let loaded = self.load(account, place).await?;
        let compiled = self.compiled(&loaded.text, select.as_deref()).await?;
        Ok(Validated {
            valid: true,
            tools: compiled.document.operations.len(),
            lossless: compiled.report.is_lossless(),
            report: compiled.report,
        })
    }

    /// Imports a document as a new provider.
    pub async fn create(
        &self,
        importer: &Importer,
        mut input: ProviderInput,
    ) -> Result<Imported, ServiceError> {
        let account = &importer.account;
        check_texts(&input)?;
        let name = input.name.take().ok_or_else(|| ServiceError::invalid("/name", "is required"))?;
        let place = Place::of(input.openapi_schema.take(), input.url.take(), input.upload_id.take())?;
        let loaded = self.load(account, place.ok_or_else(Place::needed)?).await?;
        importer.report(1.0, "the document was read");
        let select = input.select.take().and_then(Select::into_text);
        let taken = Taken::of(self.compiled(&loaded.text, select.as_deref()).await?)?;
        importer.report(2.0, &format!("{} tools were compiled", taken.operations.len()));

        let id = format!("api_{}", uuid::Uuid::now_v7().simple());
        let now = self.clock.now();
        let mut record = ProviderRecord {
            name: name.trim().to_owned(),
            icon: input.icon.take().unwrap_or_default(),
            description: input.description.take().unwrap_or_else(|| shortened(&taken.api.description)),
            api: slim(taken.api),
            asks_for_credentials: taken.asks,
            server: input.server.as_deref().and_then(nonempty),
            select,
            document: document_record(account, &id, &loaded),
            headers: Vec::new(),
            credentials: BTreeMap::new(),
            origins: Vec::new(),
            overrides: BTreeMap::new(),
            created_at: now,
            updated_at: now,
        };
        let server = self.check_server(&record, &taken.operations)?;
        self.seal(account, &id, &mut record, input).await?;
        record.origins = origins(&record, &taken.operations).into_iter().collect();
        self.put_document(&record.document, loaded).await?;
        let created = self.catalog.create(account, &id, &record.name, &record, taken.bodies).await;
        if let Err(error) = created {
            self.drop_document(&record.document).await;
            return Err(error.into());
        }
        importer.report(3.0, "stored");
        Ok(Imported {
            id,
            name: record.name,
            revision: 1,
            tools: taken.operations.len(),
            server,
            report: taken.report,
            changes: None,
        })
    }

    /// Deletes a provider with all that belongs to it.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), ServiceError> {
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        self.catalog.delete(account, id).await?;
        self.drop_document(&head.record.document).await;
        Ok(())
    }

    /// Seals the headers and credentials of a request over those that are stored; what was not sent stays.
    pub(super) async fn seal(
        &self,
        account: &AccountId,
        id: &str,
        record: &mut ProviderRecord,
        input: ProviderInput,
    ) -> Result<(), ServiceError> {
        let cipher = self.cipher.as_ref();
        if let Some(headers) = input.headers {
            record.headers = seal_headers(cipher, account, id, headers, &record.headers).await?;
        }
        if let Some(credentials) = input.credentials {
            let schemes = &record.api.security_schemes;
            record.credentials =
                seal_all(cipher, account, id, credentials, &record.credentials, schemes).await?;
        }
        Ok(())
    }

    /// The address that the first operation goes to; each is judged by the guard as far as that goes without a
    /// look-up.
    pub(super) fn check_server(
        &self,
        record: &ProviderRecord,
        operations: &[Operation],
    ) -> Result<String, ServiceError> {
        if let Some(chosen) = &record.server {
            let judged = base::of(&[], Some(chosen), record.document.url.as_deref());
            judged.map_err(|reason| ServiceError::invalid("/server", reason))?;
        }
        let mut first = None;
        let mut problem = None;
        for operation in operations {
            match record.base_of(operation) {
                Ok(url) => {
                    self.client.check_url(&url)?;
                    first.get_or_insert(url);
                }
                Err(reason) => _ = problem.get_or_insert(reason),
            }
        }
        first.map(String::from).ok_or_else(|| {
            ServiceError::NoServer(problem.unwrap_or_else(|| "the document names no server".into()))
        })
    }

    pub(super) async fn put_document(
        &self,
        document: &DocumentRecord,
        loaded: Loaded,
    ) -> Result<(), ServiceError> {
        let kind = "text/plain; charset=utf-8";
        Ok(self.blobs.put(&document.blob, loaded.text.into_bytes().into(), kind, None).await?)
    }

    /// Forgets a document. What is left over costs space and nothing else.
    pub(super) async fn drop_document(&self, document: &DocumentRecord) {
        if let Err(error) = self.blobs.delete(&document.blob).await {
            tracing::warn!(%error, blob = document.blob, "a document that is no longer used was not removed");
        }
    }
}

pub(super) fn document_record(account: &AccountId, id: &str, loaded: &Loaded) -> DocumentRecord {
    DocumentRecord {
        blob: format!("{account}/api/{id}/{}", uuid::Uuid::now_v7().simple()),
        bytes: loaded.text.len() as u64,
        url: loaded.url.clone(),
    }
}
