//! Changing a provider: the next revision is written whole and swapped in at once.

use super::{
    ApiTools, Changes, Imported, Importer, ProviderInput, ServiceError,
    document::{Loaded, Place},
    import::document_record,
    input::Select,
    limits::{check_texts, nonempty, slim},
    origins::{Resent, kept_origins},
    taken::Taken,
};
use crate::record::ProviderRecord;
use domain::{
    AccountId,
    catalog::{Body, CatalogError, Head},
    ports::BlobError,
};

impl ApiTools {
    /// Changes a provider. A changed document becomes the next revision; what else changes leaves the revision
    /// as it is. What is left out of the request stays.
    pub async fn update(
        &self,
        importer: &Importer,
        id: &str,
        mut input: ProviderInput,
    ) -> Result<Imported, ServiceError> {
        let account = &importer.account;
        check_texts(&input)?;
        let head: Head<ProviderRecord> = self.catalog.head(account, id).await?;
        let old = &head.record;
        let place = Place::of(input.openapi_schema.take(), input.url.take(), input.upload_id.take())?;
        let is_new = place.is_some();
        let loaded = match place {
            Some(place) => self.load(account, place).await?,
            None => self.stored_document(old).await?,
        };
        importer.report(1.0, "the document was read");
        let select = match input.select.take() {
            Some(select) => Select::into_text(select),
            None => old.select.clone(),
        };
        let taken = Taken::of(self.compiled(&loaded.text, select.as_deref()).await?)?;
        importer.report(2.0, &format!("{} tools were compiled", taken.operations.len()));

        let mut record = ProviderRecord {
            api: slim(taken.api),
            asks_for_credentials: taken.asks,
            select,
            updated_at: self.clock.now(),
            ..old.clone()
        };
        if is_new {
            record.document = document_record(account, id, &loaded);
        }
        change_texts(&mut record, &mut input);
        let server = self.check_server(&record, &taken.operations)?;
        let resent = Resent::of(&input);
        self.seal(account, id, &mut record, input).await?;
        record.origins = kept_origins(old, &record, &taken.operations, resent)?;
        let changes = Changes::between(&self.catalog.all_bodies(account, &head).await?, &taken.bodies);
        if is_new {
            self.put_document(&record.document, loaded).await?;
        }
        let swapped = self.swap(account, &head, &record, taken.bodies, &changes).await;
        if is_new {
            let unused = if swapped.is_ok() { &old.document } else { &record.document };
            self.drop_document(unused).await;
        }
        importer.report(3.0, "stored");
        Ok(Imported {
            id: id.to_owned(),
            revision: swapped?,
            name: record.name,
            tools: taken.operations.len(),
            server,
            report: taken.report,
            changes: Some(changes),
        })
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

    async fn stored_document(&self, record: &ProviderRecord) -> Result<Loaded, ServiceError> {
        let blob = match self.blobs.get(&record.document.blob, record.document.bytes).await {
            Err(BlobError::NotFound(_)) => {
                let message = "is needed: the stored document is gone";
                return Err(ServiceError::invalid("/openapi_schema", message));
            }
            found => found?,
        };
        Ok(Loaded {
            text: String::from_utf8_lossy(&blob.bytes).into_owned(),
            url: record.document.url.clone(),
        })
    }
}

fn change_texts(record: &mut ProviderRecord, input: &mut ProviderInput) {
    if let Some(name) = input.name.take() {
        name.trim().clone_into(&mut record.name);
    }
    if let Some(icon) = input.icon.take() {
        record.icon = icon;
    }
    if let Some(description) = input.description.take() {
        record.description = description;
    }
    if let Some(server) = input.server.take() {
        record.server = nonempty(&server);
    }
}
