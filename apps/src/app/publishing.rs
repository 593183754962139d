//! Versions: a draft is published whole or not at all; an earlier version is one write away.

use super::{
    App, AppError, Apps, Draft, Version,
    store::{WebLookup, app_key, body, conflict, version_key, web_key},
};
use domain::{
    AccountId, Violation,
    ports::{Condition, Write},
};
use std::sync::Arc;

/// Letters and digits of web tokens.
const TOKEN_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const TOKEN_LENGTH: usize = 24;

impl Apps {
    /// Publishes the draft as a new version. Refused while anything it refers to is broken.
    pub async fn publish(&self, account: &AccountId, id: &str) -> Result<(App, Arc<Version>), AppError> {
        let (mut app, app_version) = self.read(account, id).await?;
        let draft = self.draft(account, id).await?;
        let looked_up = self.references.look_up(account, &draft.config).await;
        let broken: Vec<Violation> = looked_up
            .problems
            .iter()
            .filter(|problem| problem.is_fatal())
            .map(|problem| Violation { path: problem.path.clone(), message: problem.message.clone() })
            .collect();
        if !broken.is_empty() {
            return Err(AppError::Broken(broken));
        }
        let now = self.clock.now();
        let version = Version {
            version: app.latest_version + 1,
            config: draft.config,
            definitions: looked_up.definitions,
            published_at: now,
        };
        app.latest_version = version.version;
        app.published_version = Some(version.version);
        app.updated_at = now;
        let mut writes = vec![Write::put_if(
            version_key(account, id, version.version),
            body(&version)?,
            Condition::Absent,
        )];
        writes.extend(give_token(account, &mut app)?);
        writes.push(Write::put_if(app_key(account, id), body(&app)?, Condition::Version(app_version)));
        self.table.transact(writes).await.map_err(|error| conflict(id, error))?;
        Ok((app, Arc::new(version)))
    }

    /// Takes an app from its channels. Its versions stay.
    pub async fn unpublish(&self, account: &AccountId, id: &str) -> Result<App, AppError> {
        let (mut app, version) = self.read(account, id).await?;
        app.published_version = None;
        app.updated_at = self.clock.now();
        let token = app.web_token.take();
        let mut writes = vec![Write::put_if(app_key(account, id), body(&app)?, Condition::Version(version))];
        writes.extend(token.iter().map(|token| Write::delete(web_key(token))));
        self.table.transact(writes).await.map_err(|error| conflict(id, error))?;
        Ok(app)
    }

    /// Publishes an earlier version again, as it was.
    pub async fn roll_back(&self, account: &AccountId, id: &str, number: u64) -> Result<App, AppError> {
        let (mut app, version) = self.read(account, id).await?;
        self.version(account, id, number).await?;
        app.published_version = Some(number);
        app.updated_at = self.clock.now();
        let mut writes = Vec::new();
        writes.extend(give_token(account, &mut app)?);
        writes.push(Write::put_if(app_key(account, id), body(&app)?, Condition::Version(version)));
        self.table.transact(writes).await.map_err(|error| conflict(id, error))?;
        Ok(app)
    }

    /// Puts an earlier version's config into the draft.
    pub async fn restore_draft(&self, account: &AccountId, id: &str, number: u64) -> Result<Draft, AppError> {
        let version = self.version(account, id, number).await?;
        let draft = self.draft(account, id).await?;
        self.put_draft(account, id, version.config.clone(), draft.revision).await
    }
}

/// A token for the app's web page, where it has none yet.
fn give_token(account: &AccountId, app: &mut App) -> Result<Option<Write>, AppError> {
    if app.web_token.is_some() {
        return Ok(None);
    }
    let mut bytes = [0_u8; TOKEN_LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| AppError::Entropy(error.to_string()))?;
    let token: String = bytes.iter().map(|byte| char::from(TOKEN_ALPHABET[usize::from(byte % 64)])).collect();
    let lookup = WebLookup { account: account.clone(), app_id: app.id.clone() };
    let write = Write::put_if(web_key(&token), body(&lookup)?, Condition::Absent);
    app.web_token = Some(token);
    Ok(Some(write))
}
