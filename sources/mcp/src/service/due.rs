//! Which servers are to be asked again, and when: an index over all accounts, ordered by time, in shards.
//!
//! An entry stands under `due#{shard}` by its time; a pointer with the server says where, so that there is
//! never more than one. Taking an entry moves it to the end of a lease by a conditional write: of several
//! workers one gets it, and if that one dies, the entry comes up again.

use domain::{
    AccountId,
    keys::{Key, Kind, Lookup},
    ports::{Clock, Condition, Item, Order, Query, Range, Table, TableError, Write},
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// How many shards the index has.
pub(super) const SHARDS: u16 = 8;
/// How often a move is tried when somebody else moves the same entry.
const ATTEMPTS: usize = 5;

/// The index.
pub(crate) struct DueBook {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
}

/// A server whose time has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Due {
    pub(super) account: AccountId,
    pub(super) server: String,
}

/// Where a server's entry stands.
#[derive(Serialize, Deserialize)]
struct Pointer {
    /// The entry's sort key.
    entry: String,
    /// How often in a row a refresh has failed.
    failures: u32,
}

impl DueBook {
    pub(super) fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        Self { table, clock }
    }

    /// Sets when a server is due next, `after` from now. Gives nothing when somebody else has just done so.
    pub(super) async fn set(
        &self,
        account: &AccountId,
        server: &str,
        after: SignedDuration,
        failures: u32,
    ) -> Result<(), TableError> {
        for _ in 0..ATTEMPTS {
            let pointer = self.table.get(&pointer_key(account, server)).await?;
            match self.move_to(account, server, pointer.as_ref(), after, failures).await {
                Err(error) if error.is_conflict() => {}
                done => return done,
            }
        }
        Ok(())
    }

    /// Takes a server out of the index.
    pub(super) async fn clear(&self, account: &AccountId, server: &str) -> Result<(), TableError> {
        let key = pointer_key(account, server);
        let Some(item) = self.table.get(&key).await? else { return Ok(()) };
        let mut writes = vec![Write::delete(key)];
        if let Some(pointer) = read(&item) {
            writes.push(Write::delete(entry_key(account, server, &pointer.entry)));
        }
        self.table.transact(writes).await
    }

    /// How often in a row a server's refresh has failed.
    pub(super) async fn failures(&self, account: &AccountId, server: &str) -> Result<u32, TableError> {
        let item = self.table.get(&pointer_key(account, server)).await?;
        Ok(item.as_ref().and_then(read).map_or(0, |pointer| pointer.failures))
    }

    /// Up to `most` servers of a shard whose time has come, the longest waiting first.
    pub(super) async fn due(&self, shard: u16, most: usize) -> Result<Vec<Due>, TableError> {
        let query = Query {
            partition: Lookup::Due(shard).partition(),
            range: Range::Between(String::new(), format!("{}~", time_sk(self.clock.now()))),
            order: Order::Ascending,
            limit: most.clamp(1, 1000),
            cursor: None,
        };
        let page = self.table.query(&query).await?;
        let due = |item: Item| match serde_json::from_value::<Due>(item.body) {
            Ok(due) => Some((item.key, due)),
            Err(error) => {
                tracing::error!(key = %item.key, %error, "an entry of the refresh index is not readable");
                None
            }
        };
        let mut found = Vec::new();
        for (key, due) in page.items.into_iter().filter_map(due) {
            // An entry to which no pointer leads is left over.
            let pointer = self.table.get(&pointer_key(&due.account, &due.server)).await?;
            if pointer.as_ref().and_then(read).is_some_and(|p| p.entry == key.sk()) {
                found.push(due);
            } else {
                self.table.write(Write::delete(key)).await?;
            }
        }
        Ok(found)
    }

    /// Takes a due server for the length of a lease; false when somebody else has it.
    pub(super) async fn claim(&self, due: &Due, lease: SignedDuration) -> Result<bool, TableError> {
        let pointer = self.table.get(&pointer_key(&due.account, &due.server)).await?;
        let Some(pointer) = pointer else { return Ok(false) };
        let still_due = read(&pointer).is_some_and(|p| p.entry <= format!("{}~", time_sk(self.clock.now())));
        if !still_due {
            return Ok(false);
        }
        let failures = read(&pointer).map_or(0, |p| p.failures);
        match self.move_to(&due.account, &due.server, Some(&pointer), lease, failures).await {
            Ok(()) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn move_to(
        &self,
        account: &AccountId,
        server: &str,
        pointer: Option<&Item>,
        after: SignedDuration,
        failures: u32,
    ) -> Result<(), TableError> {
        let at = self.clock.now().saturating_add(after).unwrap_or(Timestamp::MAX);
        let entry = format!("{}#{account}#{server}", time_sk(at));
        let condition = pointer.map_or(Condition::Absent, |item| Condition::Version(item.version));
        let mut writes = vec![
            Write::put_if(
                pointer_key(account, server),
                json!(Pointer { entry: entry.clone(), failures }),
                condition,
            ),
            Write::put(
                entry_key(account, server, &entry),
                json!(Due { account: account.clone(), server: server.to_owned() }),
            ),
        ];
        if let Some(old) = pointer.and_then(read)
            && old.entry != entry
        {
            writes.push(Write::delete(entry_key(account, server, &old.entry)));
        }
        self.table.transact(writes).await
    }
}

fn read(item: &Item) -> Option<Pointer> {
    Pointer::deserialize(&item.body).ok()
}

/// A time as text whose order is that of time.
fn time_sk(at: Timestamp) -> String {
    format!("{:013}", at.as_millisecond().max(0))
}

fn pointer_key(account: &AccountId, server: &str) -> Key {
    Kind::McpServer.of(account).key(format!("due#{server}"))
}

fn entry_key(account: &AccountId, server: &str, entry: &str) -> Key {
    Lookup::Due(shard(account, server)).partition().key(entry)
}

fn shard(account: &AccountId, server: &str) -> u16 {
    let digest = Sha256::digest(format!("{account}#{server}"));
    u16::from(digest[0]) % SHARDS
}
