//! Datasets and documents in the table.
//!
//! A document's passages are written first; one transaction then adds the document and raises the dataset's revision.
//! Passages without a document are never read, so that a change is seen whole or not at all.

use super::{
    Knowledge, KnowledgeError, external,
    index::Entry,
    record::{Dataset, Document, External, NewDataset, NewExternal},
    split,
};
use domain::{
    AccountId,
    keys::{Key, Kind, Partition},
    ports::{Condition, Item, Query, Scope, TableError, Write, query_all},
    secret::MASK,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The most datasets one look-up names.
const MAX_TEXT: usize = 4 * 1024 * 1024;
const MAX_DOCUMENTS: usize = 10_000;
const MAX_PASSAGES: usize = 50_000;
const MAX_BYTES: u64 = 20 * 1024 * 1024;
const MAX_NAME: usize = 100;
const MAX_DESCRIPTION: usize = 2000;
const MAX_TITLE: usize = 300;
/// How often a change of a dataset that somebody else changes too is repeated.
const ATTEMPTS: usize = 5;

impl Knowledge {
    /// Makes a dataset.
    pub async fn create(&self, account: &AccountId, new: NewDataset) -> Result<Dataset, KnowledgeError> {
        check(&new)?;
        let id = format!("ds_{}", uuid::Uuid::now_v7().simple());
        let now = self.clock.now();
        let external = self.seal(account, &id, new.external, None).await?;
        let dataset = Dataset {
            id,
            name: new.name,
            description: new.description,
            external,
            revision: 1,
            documents: 0,
            passages: 0,
            bytes: 0,
            created_at: now,
            updated_at: now,
        };
        let write = Write::put_if(dataset_key(account, &dataset.id), body(&dataset)?, Condition::Absent);
        self.table.write(write).await?;
        Ok(dataset)
    }

    /// A dataset.
    pub async fn get(&self, account: &AccountId, id: &str) -> Result<Dataset, KnowledgeError> {
        Ok(self.read(account, id).await?.0)
    }

    /// Datasets by id, in one round.
    pub(super) async fn get_many(
        &self,
        account: &AccountId,
        ids: &[String],
    ) -> Result<Vec<Option<Dataset>>, KnowledgeError> {
        let keys: Vec<Key> = ids.iter().map(|id| dataset_key(account, id)).collect();
        let items = self.table.get_many(&keys).await?;
        items.iter().map(|item| item.as_ref().map(parse).transpose()).collect()
    }

    /// The account's datasets, a page at a time.
    pub async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Dataset>, Option<String>), KnowledgeError> {
        let query = Query::prefix(partition(account), "ds#").limit(limit).after(cursor);
        let page = self.table.query(&query).await?;
        Ok((page.items.iter().map(parse).collect::<Result<_, _>>()?, page.next_cursor))
    }

    /// Changes a dataset's name, description or service. Whether it is kept here or elsewhere stays.
    pub async fn update(
        &self,
        account: &AccountId,
        id: &str,
        new: NewDataset,
    ) -> Result<Dataset, KnowledgeError> {
        check(&new)?;
        let (stored, version) = self.read(account, id).await?;
        if stored.external.is_some() != new.external.is_some() {
            let message = "a dataset stays where it is kept: make another one";
            return Err(KnowledgeError::Invalid { field: "external", message: message.into() });
        }
        let external = self.seal(account, id, new.external, stored.external.as_ref()).await?;
        let updated_at = self.clock.now();
        let dataset =
            Dataset { name: new.name, description: new.description, external, updated_at, ..stored };
        let write = Write::put_if(dataset_key(account, id), body(&dataset)?, Condition::Version(version));
        self.table.write(write).await.map_err(|error| conflict(id, error))?;
        Ok(dataset)
    }

    /// Removes a dataset and all its documents.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), KnowledgeError> {
        let write = Write::Delete { key: dataset_key(account, id), condition: Condition::Exists };
        match self.table.write(write).await {
            Err(error) if error.is_conflict() => return Err(KnowledgeError::NotFound(named(id))),
            other => other?,
        };
        self.delete_prefix(account, &format!("doc#{id}#")).await?;
        self.delete_prefix(account, &format!("pas#{id}#")).await
    }

    /// Adds a text as a document.
    pub async fn add(
        &self,
        account: &AccountId,
        id: &str,
        title: &str,
        text: &str,
    ) -> Result<Document, KnowledgeError> {
        check_document(title, text)?;
        let (dataset, _) = self.read(account, id).await?;
        if dataset.external.is_some() {
            return Err(KnowledgeError::Elsewhere(id.to_owned()));
        }
        let passages = split::passages(text);
        let document = Document {
            id: format!("doc_{}", uuid::Uuid::now_v7().simple()),
            title: title.to_owned(),
            bytes: text.len() as u64,
            passages: passages.len() as u64,
            created_at: self.clock.now(),
        };
        has_room(&dataset, &document)?;
        let put = |(n, text): (usize, String)| {
            Write::put(partition(account).key(passage_sk(id, &document.id, n)), json!({"text": text}))
        };
        self.table.write_many(passages.into_iter().enumerate().map(put).collect()).await?;
        let added = self.change(account, id, &document, Change::Add).await;
        if matches!(
            &added,
            Err(KnowledgeError::Conflict(_) | KnowledgeError::Full { .. } | KnowledgeError::NotFound(_))
        ) {
            self.delete_prefix(account, &format!("pas#{id}#{}#", document.id)).await?;
        }
        added.map(|()| document)
    }

    /// The documents of a dataset, a page at a time.
    pub async fn documents(
        &self,
        account: &AccountId,
        id: &str,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Document>, Option<String>), KnowledgeError> {
        self.read(account, id).await?;
        let query = Query::prefix(partition(account), format!("doc#{id}#")).limit(limit).after(cursor);
        let page = self.table.query(&query).await?;
        Ok((page.items.iter().map(parse).collect::<Result<_, _>>()?, page.next_cursor))
    }

    /// Removes a document.
    pub async fn remove(&self, account: &AccountId, id: &str, document: &str) -> Result<(), KnowledgeError> {
        let key = document_key(account, id, document);
        let item = self.table.get(&key).await?;
        let item = item.ok_or_else(|| KnowledgeError::NotFound(format!("the document `{document}`")))?;
        self.change(account, id, &parse(&item)?, Change::Remove).await?;
        self.delete_prefix(account, &format!("pas#{id}#{document}#")).await
    }

    /// All passages of a dataset's documents, in order.
    pub(super) async fn passages(
        &self,
        account: &AccountId,
        dataset: &Dataset,
    ) -> Result<Vec<Entry>, KnowledgeError> {
        let all = |prefix: String| Query::prefix(partition(account), prefix).limit(1000);
        let table = self.table.as_ref();
        let documents = query_all(table, all(format!("doc#{}#", dataset.id)), MAX_DOCUMENTS).await?;
        let documents = documents.iter().map(parse::<Document>).collect::<Result<Vec<_>, _>>()?;
        let titles: HashMap<String, String> = documents.into_iter().map(|d| (d.id, d.title)).collect();
        let prefix = format!("pas#{}#", dataset.id);
        let items = query_all(table, all(prefix.clone()), MAX_PASSAGES).await?;
        let entry = |item: Item| {
            let (document, position) = item.key.sk().strip_prefix(&prefix)?.split_once('#')?;
            Some(Entry {
                title: titles.get(document)?.clone(),
                document_id: document.to_owned(),
                position: position.parse().ok()?,
                text: item.body.get("text")?.as_str()?.to_owned(),
            })
        };
        Ok(items.into_iter().filter_map(entry).collect())
    }

    /// Adds or removes a document and raises the dataset's revision, in one transaction.
    async fn change(
        &self,
        account: &AccountId,
        id: &str,
        document: &Document,
        change: Change,
    ) -> Result<(), KnowledgeError> {
        for _ in 0..ATTEMPTS {
            let (mut dataset, version) = self.read(account, id).await?;
            dataset.revision += 1;
            dataset.updated_at = self.clock.now();
            let key = document_key(account, id, &document.id);
            let of_document = match change {
                Change::Add => {
                    has_room(&dataset, document)?;
                    dataset.documents += 1;
                    dataset.passages += document.passages;
                    dataset.bytes += document.bytes;
                    Write::put_if(key, body(document)?, Condition::Absent)
                }
                Change::Remove => {
                    dataset.documents = dataset.documents.saturating_sub(1);
                    dataset.passages = dataset.passages.saturating_sub(document.passages);
                    dataset.bytes = dataset.bytes.saturating_sub(document.bytes);
                    Write::Delete { key, condition: Condition::Exists }
                }
            };
            let of_dataset =
                Write::put_if(dataset_key(account, id), body(&dataset)?, Condition::Version(version));
            match self.table.transact(vec![of_dataset, of_document]).await {
                Err(error) if error.is_conflict() => {}
                other => return Ok(other?),
            }
        }
        Err(KnowledgeError::Conflict(id.to_owned()))
    }

    async fn read(&self, account: &AccountId, id: &str) -> Result<(Dataset, u64), KnowledgeError> {
        let item = self.table.get(&dataset_key(account, id)).await?;
        let item = item.ok_or_else(|| KnowledgeError::NotFound(named(id)))?;
        Ok((parse(&item)?, item.version))
    }

    async fn delete_prefix(&self, account: &AccountId, prefix: &str) -> Result<(), KnowledgeError> {
        loop {
            let page = self.table.query(&Query::prefix(partition(account), prefix).limit(1000)).await?;
            let more = page.next_cursor.is_some();
            let deletes = page.items.into_iter().map(|item| Write::delete(item.key)).collect();
            self.table.write_many(deletes).await?;
            if !more {
                return Ok(());
            }
        }
    }

    /// The service as it is stored. A masked key keeps the stored one, as long as the address stays the same: a key is
    /// never sent to an address that it was not given for.
    async fn seal(
        &self,
        account: &AccountId,
        id: &str,
        new: Option<NewExternal>,
        stored: Option<&External>,
    ) -> Result<Option<External>, KnowledgeError> {
        let Some(new) = new else { return Ok(None) };
        let url = external::address(&new.endpoint)?;
        let invalid = |field, message: String| KnowledgeError::Invalid { field, message };
        self.http.check_url(&url).map_err(|error| invalid("external/endpoint", error.to_string()))?;
        let api_key = match &new.api_key {
            Some(key) if key.expose_secret() == MASK => {
                let same = |stored: &&External| stored.endpoint == new.endpoint;
                let kept = stored.filter(same).and_then(|stored| stored.api_key.clone());
                let why = "it was sent masked, but none is stored for this address: send the key itself";
                Some(kept.ok_or_else(|| invalid("external/api_key", why.into()))?)
            }
            Some(key) => Some(self.cipher.seal(&scope(account, id), key).await?),
            None => None,
        };
        Ok(Some(External { endpoint: new.endpoint, knowledge_id: new.knowledge_id, api_key }))
    }

    pub(super) async fn open_key(
        &self,
        account: &AccountId,
        id: &str,
        service: &External,
    ) -> Result<Option<SecretString>, KnowledgeError> {
        match &service.api_key {
            Some(sealed) => Ok(Some(self.cipher.open(&scope(account, id), sealed).await?)),
            None => Ok(None),
        }
    }
}

#[derive(Clone, Copy)]
enum Change {
    Add,
    Remove,
}

fn check(new: &NewDataset) -> Result<(), KnowledgeError> {
    let invalid = |field, message: String| Err(KnowledgeError::Invalid { field, message });
    if new.name.trim().is_empty() || new.name.chars().count() > MAX_NAME {
        return invalid("name", format!("use 1 to {MAX_NAME} characters"));
    }
    if new.description.chars().count() > MAX_DESCRIPTION {
        return invalid("description", format!("use at most {MAX_DESCRIPTION} characters"));
    }
    match &new.external {
        Some(service) if service.knowledge_id.is_empty() || service.knowledge_id.len() > 256 => {
            invalid("external/knowledge_id", "use 1 to 256 bytes".into())
        }
        _ => Ok(()),
    }
}

fn check_document(title: &str, text: &str) -> Result<(), KnowledgeError> {
    let invalid = |field, message: String| Err(KnowledgeError::Invalid { field, message });
    if title.trim().is_empty() || title.chars().count() > MAX_TITLE {
        return invalid("title", format!("use 1 to {MAX_TITLE} characters"));
    }
    if text.len() > MAX_TEXT {
        return invalid("text", format!("a document has at most {MAX_TEXT} bytes"));
    }
    if !text.chars().any(char::is_alphanumeric) {
        return invalid("text", "there is nothing in it to search for".into());
    }
    Ok(())
}

fn has_room(dataset: &Dataset, document: &Document) -> Result<(), KnowledgeError> {
    let full = |limit| Err(KnowledgeError::Full { limit });
    if dataset.documents >= MAX_DOCUMENTS as u64 {
        return full("10,000 documents");
    }
    if dataset.passages + document.passages > MAX_PASSAGES as u64 {
        return full("50,000 passages");
    }
    if dataset.bytes + document.bytes > MAX_BYTES {
        return full("20 MiB of text");
    }
    Ok(())
}

fn conflict(id: &str, error: TableError) -> KnowledgeError {
    if error.is_conflict() { KnowledgeError::Conflict(id.to_owned()) } else { error.into() }
}

fn named(id: &str) -> String {
    format!("the dataset `{id}`")
}

fn partition(account: &AccountId) -> Partition {
    Kind::Dataset.of(account)
}

fn dataset_key(account: &AccountId, id: &str) -> Key {
    partition(account).key(format!("ds#{id}"))
}

fn document_key(account: &AccountId, id: &str, document: &str) -> Key {
    partition(account).key(format!("doc#{id}#{document}"))
}

fn passage_sk(id: &str, document: &str, n: usize) -> String {
    format!("pas#{id}#{document}#{n:06}")
}

fn scope(account: &AccountId, id: &str) -> Scope {
    Scope::new(account, Kind::Dataset, id, "api_key")
}

fn parse<T: DeserializeOwned>(item: &Item) -> Result<T, KnowledgeError> {
    T::deserialize(&item.body).map_err(|_| KnowledgeError::Corrupt(item.key.sk().to_owned()))
}

fn body<T: Serialize>(record: &T) -> Result<Value, KnowledgeError> {
    serde_json::to_value(record).map_err(|error| KnowledgeError::Corrupt(error.to_string()))
}
