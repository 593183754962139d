//! Many writers on the same items, through two instances.

use super::{delete_if, number, partition, put};
use crate::Subject;
use domain::{
    keys::Key,
    ports::{Condition, Table, TableError, Write},
};
use futures::future::join_all;
use serde_json::json;
use std::sync::Arc;

/// How many writers race. Each round is one race.
const WRITERS: usize = 8;
const ROUNDS: usize = 12;

async fn race<T: Send + 'static, F>(
    s: &Subject<dyn Table>,
    writer: impl Fn(Arc<dyn Table>, usize) -> F,
) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks = (0..WRITERS).map(|i| {
        let table = if i % 2 == 0 { s.it.clone() } else { s.other.clone() };
        tokio::spawn(writer(table, i))
    });
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

/// Tries again what the store had no time for.
macro_rules! persist {
    ($attempt:expr) => {
        loop {
            match $attempt.await {
                Err(TableError::Throttled(_)) => tokio::task::yield_now().await,
                other => break other,
            }
        }
    };
}

/// Of many that create, exactly one does; by single writes, by transactions, and by deletes.
pub async fn one_creator_wins(s: Subject<dyn Table>) {
    for round in 0..s.times(ROUNDS) {
        let key = partition().key("created once");
        let condition = if round % 3 == 2 {
            put(&*s.it, &key, number(0)).await;
            Condition::Exists
        } else {
            Condition::Absent
        };
        let wins = race(&s, |table, i| {
            let key = key.clone();
            let write = match round % 3 {
                2 => delete_if(&key, condition),
                _ => Write::put_if(key.clone(), number(i as u64), condition),
            };
            async move {
                let done = match round % 3 {
                    1 => persist!(table.transact(vec![write.clone()])),
                    _ => persist!(table.write(write.clone())).map(drop),
                };
                match done {
                    Ok(()) => true,
                    Err(error) if error.is_conflict() => false,
                    Err(error) => panic!("{error}"),
                }
            }
        })
        .await;
        assert_eq!(wins.iter().filter(|won| **won).count(), 1, "round {round}");
        let winner = wins.iter().position(|won| *won).unwrap();
        if round % 3 != 2 {
            let item = s.it.get(&key).await.unwrap().unwrap();
            assert_eq!((item.body, item.version), (number(winner as u64), 1));
        }
    }
}

/// Read, change, write if unchanged: no change is lost.
pub async fn one_version_wins(s: Subject<dyn Table>) {
    let rounds = s.times(ROUNDS);
    let key = partition().key("changed by all");
    put(&*s.it, &key, number(0)).await;
    race(&s, |table, _| {
        let key = key.clone();
        async move {
            for _ in 0..rounds {
                increment(&*table, &key).await;
            }
        }
    })
    .await;
    let item = s.it.get(&key).await.unwrap().unwrap();
    let total = (WRITERS * rounds) as u64;
    assert_eq!((item.body, item.version), (number(total), total + 1));
}

async fn increment(table: &dyn Table, key: &Key) {
    loop {
        let item = table.get(key).await.unwrap().unwrap();
        let n = item.body["number"].as_u64().unwrap() + 1;
        let write = Write::put_if(key.clone(), number(n), Condition::Version(item.version));
        match persist!(table.write(write.clone())) {
            Ok(_) => return,
            Err(error) if error.is_conflict() => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Counters are atomic.
pub async fn counters_lose_nothing(s: Subject<dyn Table>) {
    let rounds = s.times(ROUNDS);
    let key = partition().key("counter");
    let sums = race(&s, |table, _| {
        let key = key.clone();
        async move {
            let mut sums = Vec::new();
            for _ in 0..rounds {
                sums.push(persist!(table.add(&key, 1, None)).unwrap());
            }
            sums
        }
    })
    .await;
    let mut sums = sums.concat();
    sums.sort_unstable();
    let total = i64::try_from(WRITERS * rounds).unwrap();
    assert_eq!(sums, (1..=total).collect::<Vec<_>>(), "every sum was given once");
}

/// Transactions over two items never show a half, and none is lost.
pub async fn transfers_keep_the_sum(s: Subject<dyn Table>) {
    let rounds = s.times(ROUNDS);
    let partition = partition();
    let (from, to) = (partition.key("from"), partition.key("to"));
    let total = (WRITERS * rounds) as u64;
    put(&*s.it, &from, number(total)).await;
    put(&*s.it, &to, number(0)).await;
    race(&s, |table, _| {
        let (from, to) = (from.clone(), to.clone());
        async move {
            for _ in 0..rounds {
                transfer(&*table, &from, &to).await;
            }
        }
    })
    .await;
    let items = s.it.get_many(&[from, to]).await.unwrap();
    let bodies: Vec<_> = items.into_iter().map(|i| i.unwrap().body).collect();
    assert_eq!(bodies, [json!({"number": 0}), json!({"number": total})]);
}

async fn transfer(table: &dyn Table, from: &Key, to: &Key) {
    loop {
        let items = table.get_many(&[from.clone(), to.clone()]).await.unwrap();
        let [Some(a), Some(b)] = &items[..] else { panic!("one side is gone") };
        let (left, right) = (a.body["number"].as_u64().unwrap(), b.body["number"].as_u64().unwrap());
        let writes = vec![
            Write::put_if(from.clone(), number(left - 1), Condition::Version(a.version)),
            Write::put_if(to.clone(), number(right + 1), Condition::Version(b.version)),
        ];
        match persist!(table.transact(writes.clone())) {
            Ok(()) => return,
            Err(error) if error.is_conflict() => {}
            Err(error) => panic!("{error}"),
        }
    }
}
