//! Creating, updating and deleting a provider.

use super::{
    ApiTools, Changes, DocumentInput, Imported, ProviderInput, ServiceError, Validated,
    document::{Loaded, Place},
};
use crate::{
    base,
    compile::Compiled,
    credentials::{StoredCredential, seal_all, seal_headers, token_urls},
    normal::{Api, Operation},
    record::{DocumentRecord, ProviderRecord},
    report::Report,
};
use domain::{
    AccountId,
    catalog::{Body, CatalogError, Head},
    tool::Progress,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use url::Url;

const MAX_NAME: usize = 64;
const MAX_ICON: usize = 2048;
const MAX_DESCRIPTION: usize = 2000;
const MAX_URL: usize = 2048;
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

    fn report(&self, done: f64, message: &str) {
        if let Some(progress) = &self.progress {
            progress.report(done, Some(STEPS), Some(message));
        }
    }
}

impl std::fmt::Debug for Importer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
        let select = input.select.and_then(super::Select::into_text);
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
    pub async fn create(&self, importer: &Importer, input: ProviderInput) -> Result<Imported, ServiceError> {
        let account = &importer.account;
        check_texts(&input)?;
        let name = input.name.clone().ok_or_else(|| ServiceError::invalid("/name", "is required"))?;
        let place = Place::of(input.openapi_schema, input.url, input.upload_id)?.ok_or_else(Place::needed)?;
        let loaded = self.load(account, place).await?;
        importer.report(1.0, "the document was read");
        let select = input.select.and_then(super::Select::into_text);
        let compiled = self.compiled(&loaded.text, select.as_deref()).await?;
        importer.report(2.0, &format!("{} tools were compiled", compiled.document.operations.len()));
        let Taken { api, bodies, report, asks, operations } = taken(compiled)?;
        let id = format!("api_{}", uuid::Uuid::now_v7().simple());
        let now = self.clock.now();
        let mut record = ProviderRecord {
            name: name.trim().to_owned(),
            icon: input.icon.unwrap_or_default(),
            description: input.description.unwrap_or_else(|| shortened(&api.description)),
            api: slim(api),
            asks_for_credentials: asks,
            server: input.server.and_then(nonempty),
            select,
            document: document_record(account, &id, &loaded),
            headers: Vec::new(),
            credentials: BTreeMap::new(),
            origins: Vec::new(),
            overrides: BTreeMap::new(),
            created_at: now,
            updated_at: now,
        };
        let server = self.check_server(&record, &operations)?;
        let schemes = &record.api.security_schemes;
        let cipher = self.cipher.as_ref();
        let headers = input.headers.unwrap_or_default();
        record.headers = seal_headers(cipher, account, &id, headers, &[]).await?;
        let credentials = input.credentials.unwrap_or_default();
        record.credentials = seal_all(cipher, account, &id, credentials, &BTreeMap::new(), schemes).await?;
        record.origins = origins(&record, &operations).into_iter().collect();
        self.put_document(&record, loaded).await?;
        let created = self.catalog.create(account, &id, &record.name, &record, bodies).await;
        if let Err(error) = created {
            self.drop_document(&record.document).await;
            return Err(error.into());
        }
        importer.report(3.0, "stored");
        Ok(Imported {
            id,
            name: record.name,
            revision: 1,
            tools: operations.len(),
            server,
            report,
            changes: None,
        })
    }

    /// Changes a provider. A changed document becomes the next revision, swapped in at once; what else changes
    /// leaves the revision as it is.
    pub async fn update(
        &self,
        importer: &Importer,
        id: &str,
        input: ProviderInput,
    ) -> Result<Imported, ServiceError> {
        let account = &importer.account;
        check_texts(&input)?;
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        let old = &head.record;
        let place = Place::of(input.openapi_schema, input.url, input.upload_id)?;
        let (loaded, is_new) = match place {
            Some(place) => (self.load(account, place).await?, true),
            None => (self.stored_document(old).await?, false),
        };
        importer.report(1.0, "the document was read");
        let select = match input.select {
            Some(select) => select.into_text(),
            None => old.select.clone(),
        };
        let compiled = self.compiled(&loaded.text, select.as_deref()).await?;
        importer.report(2.0, &format!("{} tools were compiled", compiled.document.operations.len()));
        let Taken { api, bodies, report, asks, operations } = taken(compiled)?;
        let mut record = ProviderRecord {
            name: input.name.map_or_else(|| old.name.clone(), |name| name.trim().to_owned()),
            icon: input.icon.unwrap_or_else(|| old.icon.clone()),
            description: input.description.unwrap_or_else(|| old.description.clone()),
            api: slim(api),
            asks_for_credentials: asks,
            server: match input.server {
                Some(server) => nonempty(server),
                None => old.server.clone(),
            },
            select,
            document: if is_new { document_record(account, id, &loaded) } else { old.document.clone() },
            updated_at: self.clock.now(),
            ..old.clone()
        };
        let server = self.check_server(&record, &operations)?;
        let fresh = Fresh::of(&input.headers, &input.credentials);
        let cipher = self.cipher.as_ref();
        if let Some(headers) = input.headers {
            record.headers = seal_headers(cipher, account, id, headers, &old.headers).await?;
        }
        if let Some(credentials) = input.credentials {
            let schemes = &record.api.security_schemes;
            record.credentials =
                seal_all(cipher, account, id, credentials, &old.credentials, schemes).await?;
        }
        record.origins = kept_origins(old, &record, &operations, &fresh)?;
        let changes = Changes::between(&self.catalog.all_bodies(account, &head).await?, &bodies);
        if is_new {
            self.put_document(&record, loaded).await?;
        }
        let revision = self.swap(account, &head, &record, bodies, &changes).await;
        let gone = if revision.is_ok() { &old.document } else { &record.document };
        if is_new {
            self.drop_document(gone).await;
        }
        importer.report(3.0, "stored");
        Ok(Imported {
            id: id.to_owned(),
            name: record.name.clone(),
            revision: revision?,
            tools: operations.len(),
            server,
            report,
            changes: Some(changes),
        })
    }

    /// Deletes a provider with all that belongs to it.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), ServiceError> {
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        self.catalog.delete(account, id).await?;
        self.drop_document(&head.record.document).await;
        Ok(())
    }

    async fn swap(
        &self,
        account: &AccountId,
        head: &Head<ProviderRecord>,
        record: &ProviderRecord,
        bodies: Vec<Body>,
        changes: &Changes,
    ) -> Result<u64, CatalogError> {
        if changes.is_empty() {
            self.catalog.update_record(account, head, &record.name, record).await?;
            return Ok(head.revision);
        }
        self.catalog.publish(account, head, &record.name, record, bodies).await
    }

    /// The address that most operations go to, judged by the guard as far as that goes without a look-up.
    fn check_server(
        &self,
        record: &ProviderRecord,
        operations: &[Operation],
    ) -> Result<String, ServiceError> {
        if let Some(chosen) = &record.server {
            let judged = base::of(&[], Some(chosen), record.document.url.as_deref());
            judged.map_err(|reason| ServiceError::Invalid { path: "/server".into(), message: reason })?;
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

    async fn put_document(&self, record: &ProviderRecord, loaded: Loaded) -> Result<(), ServiceError> {
        let kind = "text/plain; charset=utf-8";
        let bytes = loaded.text.into_bytes().into();
        Ok(self.blobs.put(&record.document.blob, bytes, kind, None).await?)
    }

    /// Forgets a document. What is left over costs space and nothing else.
    async fn drop_document(&self, document: &DocumentRecord) {
        if let Err(error) = self.blobs.delete(&document.blob).await {
            tracing::warn!(%error, blob = document.blob, "a document that is no longer used was not removed");
        }
    }

    async fn stored_document(&self, record: &ProviderRecord) -> Result<Loaded, ServiceError> {
        let blob = self.blobs.get(&record.document.blob, record.document.bytes).await?;
        Ok(Loaded {
            text: String::from_utf8_lossy(&blob.bytes).into_owned(),
            url: record.document.url.clone(),
        })
    }
}

/// A compiled document, taken apart for storing.
struct Taken {
    api: Api,
    operations: Vec<Operation>,
    bodies: Vec<Body>,
    report: Report,
    /// Whether any operation asks for a security scheme.
    asks: bool,
}

fn taken(compiled: Compiled) -> Result<Taken, ServiceError> {
    let operations = compiled.document.operations;
    if operations.is_empty() {
        return Err(ServiceError::NoTools(Box::new(compiled.report)));
    }
    let body = |operation: &Operation| {
        let value = serde_json::to_value(operation).map_err(|e| ServiceError::Internal(e.to_string()))?;
        Ok((operation.name.clone(), value))
    };
    Ok(Taken {
        api: compiled.document.api,
        bodies: operations.iter().map(body).collect::<Result<_, ServiceError>>()?,
        asks: operations.iter().any(|o| o.security.iter().any(|way| !way.is_empty())),
        operations,
        report: compiled.report,
    })
}

/// Which secrets of a request are new, and not what is stored.
struct Fresh {
    headers: bool,
    credentials: bool,
}

impl Fresh {
    fn of(
        headers: &Option<Vec<crate::credentials::HeaderInput>>,
        credentials: &Option<BTreeMap<String, crate::credentials::CredentialInput>>,
    ) -> Self {
        Self {
            headers: headers.as_ref().is_some_and(|all| all.iter().all(|h| !h.is_masked())),
            credentials: credentials.as_ref().is_some_and(|all| all.values().all(|c| !c.is_masked())),
        }
    }
}

/// The origins that stored secrets may be sent to. New ones need the secrets to be given again: who may change
/// a document could else have them sent to a server of his own.
fn kept_origins(
    old: &ProviderRecord,
    new: &ProviderRecord,
    operations: &[Operation],
    fresh: &Fresh,
) -> Result<Vec<String>, ServiceError> {
    let now = origins(new, operations);
    let known: BTreeSet<String> = old.origins.iter().cloned().collect();
    let keeps_secrets =
        (!fresh.headers && !new.headers.is_empty()) || (!fresh.credentials && !new.credentials.is_empty());
    let strange: Vec<&str> = now.difference(&known).map(String::as_str).collect();
    if keeps_secrets && !strange.is_empty() {
        return Err(ServiceError::OriginChanged { origins: strange.join(", ") });
    }
    // Where old secrets stay, so do the origins they were given for: going back to one is no change.
    Ok(if keeps_secrets { known.union(&now).cloned().collect() } else { now.into_iter().collect() })
}

/// Where a provider's requests and token requests go.
fn origins(record: &ProviderRecord, operations: &[Operation]) -> BTreeSet<String> {
    let mut bases: Vec<Url> = Vec::new();
    for operation in operations {
        if let Ok(base) = record.base_of(operation)
            && !bases.contains(&base)
        {
            bases.push(base);
        }
    }
    let declared = record.api.security_schemes.values().flat_map(token_urls);
    let stored = record.credentials.values().filter_map(StoredCredential::token_url);
    let tokens: Vec<&str> = declared.chain(stored).collect();
    let token_urls = bases.iter().flat_map(|base| tokens.iter().filter_map(|url| base.join(url).ok()));
    token_urls.chain(bases.iter().cloned()).map(|url| url.origin().ascii_serialization()).collect()
}

fn document_record(account: &AccountId, id: &str, loaded: &Loaded) -> DocumentRecord {
    DocumentRecord {
        blob: format!("{account}/api/{id}/{}", uuid::Uuid::now_v7().simple()),
        bytes: loaded.text.len() as u64,
        url: loaded.url.clone(),
    }
}

/// Heads are read with every assembly: long texts are not kept in them.
fn slim(api: Api) -> Api {
    Api { description: shortened(&api.description), ..api }
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_DESCRIPTION)].to_owned()
}

fn nonempty(text: String) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn check_texts(input: &ProviderInput) -> Result<(), ServiceError> {
    if let Some(name) = &input.name {
        let length = name.trim().chars().count();
        if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
            return Err(ServiceError::invalid("/name", "must have 1 to 64 characters"));
        }
    }
    if let Some(icon) = input.icon.as_deref().filter(|icon| !icon.is_empty())
        && (icon.len() > MAX_ICON || Url::parse(icon).is_err())
    {
        return Err(ServiceError::invalid("/icon", "must be an address of at most 2048 bytes"));
    }
    let limits = [
        ("/description", &input.description, MAX_DESCRIPTION),
        ("/server", &input.server, MAX_URL),
        ("/url", &input.url, MAX_URL),
    ];
    for (path, text, limit) in limits {
        if text.as_ref().is_some_and(|text| text.len() > limit) {
            return Err(ServiceError::invalid(path, format!("is longer than {limit} bytes")));
        }
    }
    Ok(())
}
