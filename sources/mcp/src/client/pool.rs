//! `Pool`: live connections by account, server and revision, closed when nobody uses them.

use domain::AccountId;
use futures::future::BoxFuture;
use std::{
    collections::HashMap,
    future::Future,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// A connection that can be kept.
pub(crate) trait Pooled: Send + Sync + 'static {
    /// Whether it can still be used.
    fn is_live(&self) -> bool;
    /// Ends it and waits until it has ended.
    fn close(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

/// Whose connection it is, to what. Connections are never shared between accounts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PoolKey {
    pub(crate) account: AccountId,
    pub(crate) server: String,
    pub(crate) revision: u64,
}

/// Keeps connections.
pub(crate) struct Pool<C: Pooled>(Arc<Inner<C>>);

struct Inner<C: Pooled> {
    slots: Mutex<HashMap<PoolKey, Arc<Slot<C>>>>,
    idle: Duration,
    most: usize,
    sweeping: AtomicBool,
}

struct Slot<C> {
    /// Held while connecting, so that callers that come together make one connection.
    connection: tokio::sync::Mutex<Option<Arc<C>>>,
    users: AtomicUsize,
    used: Mutex<Instant>,
}

/// A connection in use. It is not closed as idle while this lives.
pub(crate) struct Lease<C: Pooled> {
    connection: Arc<C>,
    place: Place<C>,
}

/// A slot in use, also while it is being connected.
struct Place<C>(Arc<Slot<C>>);

/// All connections are in use.
#[derive(Debug)]
pub(crate) struct Full(pub(crate) usize);

impl<C: Pooled> Pool<C> {
    /// A pool of at most `most` connections that closes those that were idle for `idle`.
    pub(crate) fn new(most: usize, idle: Duration) -> Self {
        Self(Arc::new(Inner { slots: Mutex::default(), idle, most, sweeping: AtomicBool::new(false) }))
    }

    /// The live connection of `key`, or a new one made by `connect`. Says which of both it is.
    pub(crate) async fn get<F, E>(
        &self,
        key: &PoolKey,
        connect: impl FnOnce() -> F,
    ) -> Result<(Lease<C>, bool), E>
    where
        F: Future<Output = Result<C, E>>,
        E: From<Full>,
    {
        let place = Place(self.slot(key)?);
        let mut held = place.0.connection.lock().await;
        if let Some(connection) = held.as_ref().filter(|c| c.is_live()) {
            let connection = Arc::clone(connection);
            drop(held);
            return Ok((Lease { connection, place }, false));
        }
        // A dead one ends by itself.
        *held = None;
        self.sweep_later();
        let connection = Arc::new(connect().await?);
        *held = Some(Arc::clone(&connection));
        drop(held);
        Ok((Lease { connection, place }, true))
    }

    /// Forgets a connection, so that the next call makes another, and ends it in the background.
    pub(crate) fn discard(&self, key: &PoolKey, lease: &Lease<C>) {
        let mut slots = self.0.slots();
        if slots.get(key).is_some_and(|slot| Arc::ptr_eq(slot, &lease.place.0)) {
            slots.remove(key);
        }
        tokio::spawn(Arc::clone(&lease.connection).close());
    }

    /// Ends all connections to a server, of whatever revision.
    pub(crate) async fn close_server(&self, account: &AccountId, server: &str) {
        let gone = self.0.take(|key, _| &key.account == account && key.server == server);
        close_all(gone).await;
    }

    /// Ends all connections to other revisions of a server than this one that nobody uses.
    pub(crate) fn close_others(&self, key: &PoolKey) {
        let other =
            |k: &PoolKey| k.account == key.account && k.server == key.server && k.revision != key.revision;
        let gone = self.0.take(|k, slot| other(k) && slot.users.load(SeqCst) == 0);
        if !gone.is_empty() {
            tokio::spawn(close_all(gone));
        }
    }

    /// Ends everything.
    pub(crate) async fn close_all(&self) {
        close_all(self.0.take(|_, _| true)).await;
    }

    /// How many connections there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.slots().len()
    }

    /// The slot of a key, counted as used.
    fn slot(&self, key: &PoolKey) -> Result<Arc<Slot<C>>, Full> {
        let mut slots = self.0.slots();
        if let Some(slot) = slots.get(key) {
            slot.users.fetch_add(1, SeqCst);
            return Ok(Arc::clone(slot));
        }
        if slots.len() >= self.0.most {
            let oldest = slots
                .iter()
                .filter(|(_, slot)| slot.users.load(SeqCst) == 0)
                .min_by_key(|(_, slot)| slot.last_used())
                .map(|(key, _)| key.clone());
            let oldest = oldest.ok_or(Full(self.0.most))?;
            if let Some(slot) = slots.remove(&oldest) {
                tokio::spawn(close_all(vec![slot]));
            }
        }
        let slot = Arc::new(Slot {
            connection: tokio::sync::Mutex::new(None),
            users: AtomicUsize::new(1),
            used: Mutex::new(Instant::now()),
        });
        slots.insert(key.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Starts the task that closes idle connections, unless it runs. It ends with the last connection.
    fn sweep_later(&self) {
        if self.0.sweeping.swap(true, SeqCst) {
            return;
        }
        let (pool, pause) = (Arc::downgrade(&self.0), self.0.idle / 2);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                if !sweep(&pool) {
                    return;
                }
            }
        });
    }
}

/// Closes what is idle or dead; says whether there is anything left to look after.
fn sweep<C: Pooled>(pool: &Weak<Inner<C>>) -> bool {
    let Some(pool) = pool.upgrade() else { return false };
    let now = Instant::now();
    let gone = pool.take(|_, slot| {
        let dead = || {
            let held = slot.connection.try_lock();
            held.is_ok_and(|held| held.as_ref().is_none_or(|c| !c.is_live()))
        };
        slot.users.load(SeqCst) == 0 && (now.duration_since(slot.last_used()) >= pool.idle || dead())
    });
    tokio::spawn(close_all(gone));
    let slots = pool.slots();
    if slots.is_empty() {
        pool.sweeping.store(false, SeqCst);
    }
    !slots.is_empty()
}

async fn close_all<C: Pooled>(slots: Vec<Arc<Slot<C>>>) {
    let close = |slot: Arc<Slot<C>>| async move {
        let connection = slot.connection.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    };
    futures::future::join_all(slots.into_iter().map(close)).await;
}

impl<C: Pooled> Inner<C> {
    fn slots(&self) -> MutexGuard<'_, HashMap<PoolKey, Arc<Slot<C>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, which: impl Fn(&PoolKey, &Slot<C>) -> bool) -> Vec<Arc<Slot<C>>> {
        self.slots().extract_if(|key, slot| which(key, slot)).map(|(_, slot)| slot).collect()
    }
}

impl<C> Slot<C> {
    fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Drop for Place<C> {
    fn drop(&mut self) {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.users.fetch_sub(1, SeqCst);
    }
}

impl<C: Pooled> Lease<C> {
    /// The connection itself, without keeping it from being closed as idle.
    pub(crate) fn connection(&self) -> &Arc<C> {
        &self.connection
    }
}

impl<C: Pooled> Deref for Lease<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::watch;

    struct Fake(watch::Sender<bool>);

    impl Pooled for Fake {
        fn is_live(&self) -> bool {
            *self.0.borrow()
        }

        fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
            Box::pin(async move {
                self.0.send_replace(false);
            })
        }
    }

    impl From<Full> for &'static str {
        fn from(_: Full) -> Self {
            "full"
        }
    }

    fn key(server: &str, revision: u64) -> PoolKey {
        PoolKey { account: AccountId::try_from("a".to_owned()).unwrap(), server: server.into(), revision }
    }

    async fn get(pool: &Pool<Fake>, key: &PoolKey) -> Result<(Lease<Fake>, bool), &'static str> {
        pool.get(key, || async { Ok(Fake(watch::Sender::new(true))) }).await
    }

    #[tokio::test]
    async fn a_live_connection_is_used_again_and_a_dead_one_is_not() {
        let pool = Pool::new(9, Duration::from_mins(1));
        let (first, fresh) = get(&pool, &key("s", 1)).await.unwrap();
        assert!(fresh);
        assert!(!get(&pool, &key("s", 1)).await.unwrap().1);
        assert!(get(&pool, &key("s", 2)).await.unwrap().1, "another revision is another connection");
        first.0.send_replace(false);
        assert!(get(&pool, &key("s", 1)).await.unwrap().1);
    }

    #[tokio::test]
    async fn idle_connections_are_closed_and_used_ones_are_not() {
        let pool = Pool::new(9, Duration::from_millis(40));
        let (busy, _) = get(&pool, &key("busy", 1)).await.unwrap();
        let (idle, _) = get(&pool, &key("idle", 1)).await.unwrap();
        let mut watched = idle.0.subscribe();
        drop(idle);
        watched.wait_for(|live| !live).await.unwrap();
        assert!(busy.is_live());
    }

    #[tokio::test]
    async fn a_full_pool_closes_the_oldest_idle_one_or_says_so() {
        let pool = Pool::new(2, Duration::from_mins(1));
        let (_busy, _) = get(&pool, &key("a", 1)).await.unwrap();
        let (idle, _) = get(&pool, &key("b", 1)).await.unwrap();
        let mut watched = idle.0.subscribe();
        drop(idle);
        let (_other, _) = get(&pool, &key("c", 1)).await.unwrap();
        watched.wait_for(|live| !live).await.unwrap();
        assert_eq!(get(&pool, &key("d", 1)).await.err(), Some("full"));
        assert_eq!(pool.len(), 2);
    }

    #[tokio::test]
    async fn a_failed_connection_leaves_room_for_the_next() {
        let pool = Pool::<Fake>::new(1, Duration::from_mins(1));
        let failed = pool.get(&key("a", 1), || async { Err("no") }).await;
        assert_eq!(failed.err(), Some("no"));
        assert!(get(&pool, &key("b", 1)).await.is_ok());
    }
}
