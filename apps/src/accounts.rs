//! Accounts, and the first start of an installation.

use crate::keys::{KeyError, Keys, NewKey};
use domain::{
    AccountId, Role,
    keys::{Key, Kind, Lookup},
    ports::{Clock, Condition, Table, TableError, Write},
};
use secrecy::SecretString;
use serde_json::{Value, json};

/// What [`install`] found or made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The first account.
    pub account: AccountId,
    /// It was made just now, with the key that was given as its admin key.
    pub is_new: bool,
}

/// Makes the first account with `admin` as its admin key, once. Where an account is there already, nothing is
/// written and the key is not looked at.
///
/// Of two processes that start at the same time, one makes it and both return it.
pub async fn install(
    table: &dyn Table,
    clock: &dyn Clock,
    keys: &Keys,
    admin: &SecretString,
) -> Result<Installation, KeyError> {
    if let Some(account) = first(table).await? {
        return Ok(Installation { account, is_new: false });
    }
    let account = AccountId::generate();
    let created_at = clock.now();
    let new = NewKey { name: "first admin key".into(), role: Role::Admin, expires_at: None, app_id: None };
    let (_, mut writes) = keys.prepare(&account, new, admin)?;
    let installation = json!({"account": account, "created_at": created_at});
    let record = json!({"name": "default", "created_at": created_at});
    writes.push(Write::put_if(installation_key(), installation, Condition::Absent));
    writes.push(Write::put_if(Kind::Account.of(&account).key("account"), record, Condition::Absent));
    match table.transact(writes).await {
        Ok(()) => Ok(Installation { account, is_new: true }),
        Err(error) if error.is_conflict() => {
            let account = first(table).await?.ok_or(error)?;
            Ok(Installation { account, is_new: false })
        }
        Err(error) => Err(error.into()),
    }
}

/// The first account; none before the first start.
pub async fn first(table: &dyn Table) -> Result<Option<AccountId>, KeyError> {
    let Some(item) = table.get(&installation_key()).await? else {
        return Ok(None);
    };
    let id = item.body.get("account").and_then(Value::as_str).unwrap_or_default();
    let account = AccountId::try_from(id.to_owned())
        .map_err(|e| TableError::Unusable(format!("the record of the installation is not readable: {e}")))?;
    Ok(Some(account))
}

fn installation_key() -> Key {
    Lookup::Installation.partition().key("installation")
}
