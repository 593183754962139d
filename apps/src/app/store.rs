//! Apps, drafts and versions in the table.

use super::{App, AppConfig, AppDetails, AppError, Draft, References, Version};
use domain::{
    AccountId,
    keys::{Key, Kind, Lookup},
    ports::{Clock, Condition, Item, Query, Table, TableError, Write},
};
use jiff::Timestamp;
use moka::sync::Cache;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{fmt, sync::Arc};

const MAX_NAME: usize = 100;
const MAX_ICON: usize = 2048;
const MAX_DESCRIPTION: usize = 2000;
const MAX_CACHED: u64 = 2000;

/// The apps of all accounts.
#[derive(Clone)]
pub struct Apps {
    pub(super) table: Arc<dyn Table>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) references: Arc<References>,
    /// A version never changes.
    versions: Cache<(AccountId, String, u64), Arc<Version>>,
}

#[derive(Serialize, Deserialize)]
struct StoredDraft {
    config: AppConfig,
    updated_at: Timestamp,
}

/// What a web token leads to.
#[derive(Serialize, Deserialize)]
pub(super) struct WebLookup {
    pub(super) account: AccountId,
    pub(super) app_id: String,
}

impl Apps {
    /// Apps in a table; what they refer to is looked up by `references`.
    pub fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>, references: Arc<References>) -> Self {
        Self { table, clock, references, versions: Cache::new(MAX_CACHED) }
    }

    /// What configs refer to.
    pub fn references(&self) -> &References {
        &self.references
    }

    /// Makes an app with an empty draft.
    pub async fn create(&self, account: &AccountId, details: AppDetails) -> Result<App, AppError> {
        check(&details)?;
        let now = self.clock.now();
        let app = App {
            id: format!("app_{}", uuid::Uuid::now_v7().simple()),
            name: details.name,
            icon: details.icon,
            description: details.description,
            published_version: None,
            latest_version: 0,
            web_token: None,
            created_at: now,
            updated_at: now,
        };
        let draft = StoredDraft { config: AppConfig::default(), updated_at: now };
        let writes = vec![
            Write::put_if(app_key(account, &app.id), body(&app)?, Condition::Absent),
            Write::put_if(draft_key(account, &app.id), body(&draft)?, Condition::Absent),
        ];
        self.table.transact(writes).await?;
        Ok(app)
    }

    /// An app.
    pub async fn get(&self, account: &AccountId, id: &str) -> Result<App, AppError> {
        Ok(self.read(account, id).await?.0)
    }

    /// The account's apps, a page at a time.
    pub async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<App>, Option<String>), AppError> {
        let query = Query::prefix(Kind::App.of(account), "app#").limit(limit).after(cursor);
        let page = self.table.query(&query).await?;
        Ok((page.items.iter().map(parse).collect::<Result<_, _>>()?, page.next_cursor))
    }

    /// Changes an app's name and looks.
    pub async fn update(&self, account: &AccountId, id: &str, details: AppDetails) -> Result<App, AppError> {
        check(&details)?;
        let (mut app, version) = self.read(account, id).await?;
        app.name = details.name;
        app.icon = details.icon;
        app.description = details.description;
        app.updated_at = self.clock.now();
        let write = Write::put_if(app_key(account, id), body(&app)?, Condition::Version(version));
        self.table.write(write).await.map_err(|error| conflict(id, error))?;
        Ok(app)
    }

    /// Removes an app, its draft and its versions. Its conversations are no longer reached.
    pub async fn delete(&self, account: &AccountId, id: &str) -> Result<(), AppError> {
        let (app, version) = self.read(account, id).await?;
        let mut writes = vec![
            Write::Delete { key: app_key(account, id), condition: Condition::Version(version) },
            Write::delete(draft_key(account, id)),
        ];
        writes.extend(app.web_token.iter().map(|token| Write::delete(web_key(token))));
        self.table.transact(writes).await.map_err(|error| conflict(id, error))?;
        loop {
            let query = Query::prefix(Kind::App.of(account), version_prefix(id)).limit(1000);
            let page = self.table.query(&query).await?;
            let more = page.next_cursor.is_some();
            self.table
                .write_many(page.items.into_iter().map(|item| Write::delete(item.key)).collect())
                .await?;
            if !more {
                return Ok(());
            }
        }
    }

    /// An app's draft, secrets sealed.
    pub async fn draft(&self, account: &AccountId, id: &str) -> Result<Draft, AppError> {
        let item = self.table.get(&draft_key(account, id)).await?;
        let item = item.ok_or_else(|| AppError::NotFound(named(id)))?;
        let stored: StoredDraft = parse(&item)?;
        Ok(Draft { config: stored.config, revision: item.version, updated_at: stored.updated_at })
    }

    /// Writes an app's draft. Secrets among the params of references are sealed; a masked one keeps what is stored.
    ///
    /// Broken references are no reason to refuse: what they are is asked for with [`References::problems`]. Where
    /// `revision` is given and the draft has another one, nothing is written.
    pub async fn save_draft(
        &self,
        account: &AccountId,
        id: &str,
        config: AppConfig,
        revision: Option<u64>,
    ) -> Result<Draft, AppError> {
        let violations = config.violations();
        if !violations.is_empty() {
            return Err(AppError::Invalid(violations));
        }
        let before = self.draft(account, id).await?;
        if revision.is_some_and(|revision| revision != before.revision) {
            return Err(AppError::Conflict(id.to_owned()));
        }
        let config = self.references.protect(account, config, &before.config).await?;
        self.put_draft(account, id, config, before.revision).await
    }

    pub(super) async fn put_draft(
        &self,
        account: &AccountId,
        id: &str,
        config: AppConfig,
        revision: u64,
    ) -> Result<Draft, AppError> {
        let updated_at = self.clock.now();
        let stored = StoredDraft { config, updated_at };
        let write = Write::put_if(draft_key(account, id), body(&stored)?, Condition::Version(revision));
        let revision = self.table.write(write).await.map_err(|error| conflict(id, error))?;
        Ok(Draft { config: stored.config, revision, updated_at })
    }

    /// The version that channels use.
    pub async fn published(&self, account: &AccountId, id: &str) -> Result<(App, Arc<Version>), AppError> {
        let app = self.get(account, id).await?;
        let number = app.published_version.ok_or_else(|| AppError::NotPublished(id.to_owned()))?;
        let version = self.version(account, id, number).await?;
        Ok((app, version))
    }

    /// The published app behind the token of a web page, and whose it is.
    pub async fn by_web_token(&self, token: &str) -> Result<Option<(AccountId, String)>, AppError> {
        let is_token = (1..=64).contains(&token.len()) && !token.contains('#');
        let item = if is_token { self.table.get(&web_key(token)).await? } else { None };
        let Some(item) = item else { return Ok(None) };
        let found: WebLookup = parse(&item)?;
        Ok(Some((found.account, found.app_id)))
    }

    /// A version.
    pub async fn version(
        &self,
        account: &AccountId,
        id: &str,
        number: u64,
    ) -> Result<Arc<Version>, AppError> {
        let known = (account.clone(), id.to_owned(), number);
        if let Some(version) = self.versions.get(&known) {
            return Ok(version);
        }
        let item = self.table.get(&version_key(account, id, number)).await?;
        let item = item.ok_or_else(|| AppError::NotFound(format!("version {number} of the app `{id}`")))?;
        let version: Arc<Version> = Arc::new(parse(&item)?);
        self.versions.insert(known, version.clone());
        Ok(version)
    }

    /// The versions of an app, newest first, a page at a time.
    pub async fn versions(
        &self,
        account: &AccountId,
        id: &str,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Version>, Option<String>), AppError> {
        self.read(account, id).await?;
        let query = Query::prefix(Kind::App.of(account), version_prefix(id)).limit(limit).after(cursor);
        let page = self.table.query(&query.descending()).await?;
        Ok((page.items.iter().map(parse).collect::<Result<_, _>>()?, page.next_cursor))
    }

    pub(super) async fn read(&self, account: &AccountId, id: &str) -> Result<(App, u64), AppError> {
        let item = self.table.get(&app_key(account, id)).await?;
        let item = item.ok_or_else(|| AppError::NotFound(named(id)))?;
        Ok((parse(&item)?, item.version))
    }
}

impl fmt::Debug for Apps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apps").finish_non_exhaustive()
    }
}

fn check(details: &AppDetails) -> Result<(), AppError> {
    let characters = details.name.trim().chars().count();
    if characters == 0 || characters > MAX_NAME {
        return Err(AppError::invalid("/name", format!("use 1 to {MAX_NAME} characters")));
    }
    if details.icon.len() > MAX_ICON {
        return Err(AppError::invalid("/icon", format!("use at most {MAX_ICON} bytes")));
    }
    if details.description.chars().count() > MAX_DESCRIPTION {
        return Err(AppError::invalid("/description", format!("use at most {MAX_DESCRIPTION} characters")));
    }
    Ok(())
}

pub(super) fn conflict(id: &str, error: TableError) -> AppError {
    if error.is_conflict() { AppError::Conflict(id.to_owned()) } else { error.into() }
}

fn named(id: &str) -> String {
    format!("the app `{id}`")
}

pub(super) fn app_key(account: &AccountId, id: &str) -> Key {
    Kind::App.of(account).key(format!("app#{id}"))
}

fn draft_key(account: &AccountId, id: &str) -> Key {
    Kind::App.of(account).key(format!("draft#{id}"))
}

pub(super) fn version_key(account: &AccountId, id: &str, number: u64) -> Key {
    Kind::App.of(account).key(format!("{}{number:010}", version_prefix(id)))
}

fn version_prefix(id: &str) -> String {
    format!("version#{id}#")
}

pub(super) fn web_key(token: &str) -> Key {
    Lookup::WebToken(token).partition().key("app")
}

pub(super) fn parse<T: DeserializeOwned>(item: &Item) -> Result<T, AppError> {
    T::deserialize(&item.body).map_err(|_| AppError::Corrupt(item.key.sk().to_owned()))
}

pub(super) fn body<T: Serialize>(record: &T) -> Result<Value, AppError> {
    serde_json::to_value(record).map_err(|error| AppError::Corrupt(error.to_string()))
}
