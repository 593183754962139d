//! Single records, conditions, transactions, expiry and counters.

use super::{assert_failed_on, body, check, delete_if, number, partition, put};
use crate::Subject;
use domain::{
    keys::Key,
    ports::{Condition, Query, Table, Write},
};
use serde_json::{Value, json};
use std::time::Duration;

/// Whatever JSON can say is read as it was written.
pub async fn bodies_come_back_exactly(s: Subject<dyn Table>) {
    let mut deep = json!("bottom");
    for level in 0..40 {
        deep = if level % 2 == 0 { json!({"in": deep}) } else { json!([deep]) };
    }
    let bodies = [
        json!({}),
        json!({"": "", "null": null, "yes": true, "no": false, "list": [], "map": {}}),
        json!({"z": 1, "a": {"y": 1, "b": 2}, "m": 3}),
        json!({"one": 1, "one point nought": 1.0, "minus nought": -0.0, "max": u64::MAX, "min": i64::MIN}),
        json!({"huge": 1e300, "tiny": 5e-324, "third": 1.0 / 3.0, "long": 0.1 + 0.2}),
        json!({"text": "\u{0}\u{1f}\"\\\u{e9}\u{4f60}\u{1f600}\u{10ffff}", "line": "a\nb"}),
        json!({"deep": deep}),
        json!({"n": 5}),
        json!({"n": 5.0}),
        json!({"n": 5, "m": 6}),
    ];
    let partition = partition();
    for (i, expected) in bodies.iter().enumerate() {
        let key = partition.key(format!("body {i} \u{e9}"));
        put(&*s.it, &key, expected.clone()).await;
        let read = body(&*s.other, &key).await.unwrap();
        assert_eq!(read.to_string(), expected.to_string());
        s.it.write_many(vec![Write::put(key.clone(), expected.clone())]).await.unwrap();
        s.it.transact(vec![Write::put(key.clone(), expected.clone())]).await.unwrap();
        assert_eq!(body(&*s.other, &key).await.unwrap().to_string(), expected.to_string());
    }
}

/// A version changes with each write.
pub async fn versions_count_the_writes(s: Subject<dyn Table>) {
    let key = partition().key("item");
    assert_eq!(put(&*s.it, &key, number(1)).await, 1);
    assert_eq!(put(&*s.other, &key, number(2)).await, 2);
    s.it.transact(vec![Write::put(key.clone(), number(3))]).await.unwrap();
    let item = s.it.get(&key).await.unwrap().unwrap();
    assert_eq!((item.version, item.body, item.expires_at), (3, number(3), None));
    assert_eq!(item.key, key);

    s.it.write_many(vec![Write::put(key.clone(), number(4))]).await.unwrap();
    assert!(s.it.get(&key).await.unwrap().unwrap().version > 3);
    assert_eq!(s.it.write(check(&key, Condition::Exists)).await.unwrap(), 0);
    assert_eq!(s.it.write(Write::delete(key.clone())).await.unwrap(), 0);
    assert_eq!(s.it.get(&key).await.unwrap(), None);
    assert_eq!(put(&*s.it, &key, number(5)).await, 1);
}

/// Each kind of write under each condition, on an absent, a present and an expired item.
pub async fn conditions_hold_or_nothing_is_written(s: Subject<dyn Table>) {
    for state in ["absent", "present", "expired"] {
        let conditions = [
            (Condition::Always, true),
            (Condition::Absent, state != "present"),
            (Condition::Exists, state == "present"),
            (Condition::Version(1), state == "present"),
            (Condition::Version(2), false),
            (Condition::Version(0), false),
        ];
        for (condition, holds) in conditions {
            for effect in ["put", "delete", "check"] {
                for transact in [false, true] {
                    let key = partition().key("it");
                    prepare(&s, &key, state).await;
                    let before = body(&*s.other, &key).await;
                    let write = match effect {
                        "put" => Write::put_if(key.clone(), number(9), condition),
                        "delete" => delete_if(&key, condition),
                        _ => check(&key, condition),
                    };
                    let done = if transact {
                        s.it.transact(vec![write]).await
                    } else {
                        s.it.write(write).await.map(drop)
                    };
                    let after = body(&*s.other, &key).await;
                    let case = format!("{effect} if {condition:?}, {state}, transact: {transact}");
                    if holds {
                        assert!(done.is_ok(), "{case}: {done:?}");
                        let expected = match effect {
                            "put" => Some(number(9)),
                            "delete" => None,
                            _ => before,
                        };
                        assert_eq!(after, expected, "{case}");
                    } else {
                        assert_failed_on(done, &key);
                        assert_eq!(after, before, "{case}");
                    }
                }
            }
        }
    }
}

async fn prepare(s: &Subject<dyn Table>, key: &Key, state: &str) {
    let expires_at = match state {
        "absent" => return,
        "present" => None,
        _ => Some(s.clock.after(Duration::from_secs(1))),
    };
    let write = Write::Put { key: key.clone(), body: number(1), expires_at, condition: Condition::Absent };
    assert_eq!(s.it.write(write).await.unwrap(), 1);
    if expires_at.is_some() {
        s.clock.advance(Duration::from_secs(2));
    }
}

/// Either every write of a transaction is done, or none; the first condition that failed is named.
pub async fn a_transaction_is_all_or_nothing(s: Subject<dyn Table>) {
    let (home, away) = (partition(), partition());
    let keys: Vec<Key> =
        (0..100).map(|i| if i % 2 == 0 { &home } else { &away }.key(format!("{i:03}"))).collect();
    let puts = |n| keys.iter().map(move |key| Write::put(key.clone(), number(n)));
    s.it.transact(puts(1).collect()).await.unwrap();

    for broken in [0, 50, 99] {
        let mut writes: Vec<Write> = puts(2).collect();
        writes[broken] = Write::put_if(keys[broken].clone(), number(2), Condition::Version(7));
        assert_failed_on(s.it.transact(writes).await, &keys[broken]);
    }
    let mut writes: Vec<Write> = puts(3).collect();
    writes[20] = delete_if(&keys[20], Condition::Absent);
    writes[10] = check(&keys[10], Condition::Absent);
    assert_failed_on(s.it.transact(writes).await, &keys[10]);

    let items = s.other.get_many(&keys).await.unwrap();
    assert!(
        items.iter().all(|item| { item.as_ref().is_some_and(|i| i.body == number(1) && i.version == 1) })
    );
    s.it.transact(Vec::new()).await.unwrap();
}

/// What has expired is not read, not listed, and no obstacle.
pub async fn expired_items_are_absent(s: Subject<dyn Table>) {
    let partition = partition();
    let (gone, stays) = (partition.key("a gone"), partition.key("b stays"));
    let expires_at = s.clock.after(Duration::from_mins(1));
    let put_both = [(&gone, Some(expires_at)), (&stays, None)].map(|(key, expires_at)| Write::Put {
        key: key.clone(),
        body: number(1),
        expires_at,
        condition: Condition::Always,
    });
    s.it.write_many(put_both.to_vec()).await.unwrap();
    let read = s.it.get(&gone).await.unwrap().unwrap();
    assert_eq!(read.expires_at, Some(expires_at));

    s.clock.advance(Duration::from_mins(1));
    assert_eq!(s.it.get(&gone).await.unwrap(), None, "at the very moment it is gone");
    let both = s.other.get_many(&[gone.clone(), stays.clone()]).await.unwrap();
    assert!(both[0].is_none() && both[1].is_some());
    let page = s.it.query(&Query::prefix(partition, "")).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].key, stays);

    let anew = Write::put_if(gone.clone(), number(2), Condition::Absent);
    assert_eq!(s.it.write(anew).await.unwrap(), 1);
    let item = s.it.get(&gone).await.unwrap().unwrap();
    assert_eq!((item.expires_at, item.body), (None, number(2)), "the old expiry does not stay");
}

/// A counter sums, and begins again after it has expired.
pub async fn a_counter_starts_anew_when_it_has_expired(s: Subject<dyn Table>) {
    let key = partition().key("counter");
    let first = s.clock.after(Duration::from_mins(1));
    let later = s.clock.after(Duration::from_hours(1));
    assert_eq!(s.it.add(&key, 5, Some(first)).await.unwrap(), 5);
    assert_eq!(s.other.add(&key, -7, Some(later)).await.unwrap(), -2);
    let item = s.it.get(&key).await.unwrap().unwrap();
    assert_eq!((item.body, item.version), (json!({"n": -2}), 2));
    assert_eq!(item.expires_at, Some(first), "a running counter keeps its expiry");

    s.clock.advance(Duration::from_mins(2));
    assert_eq!(s.it.get(&key).await.unwrap(), None);
    assert_eq!(s.it.add(&key, 1, Some(later)).await.unwrap(), 1);
    let item = s.it.get(&key).await.unwrap().unwrap();
    assert_eq!(item.expires_at, Some(later));

    put(&*s.it, &key, json!({"n": 40})).await;
    assert_eq!(s.it.add(&key, 2, None).await.unwrap(), 42, "a written number is a counter");
    put(&*s.it, &key, json!({"text": "no number"})).await;
    assert!(s.it.add(&key, 1, None).await.is_err());
    assert_eq!(body(&*s.it, &key).await, Some(json!({"text": "no number"})));
}

/// Any number of keys in one call, duplicates and missing ones included.
pub async fn many_reads_keep_their_order(s: Subject<dyn Table>) {
    let partition = partition();
    let key = |i: u64| partition.key(format!("{i:04}"));
    let writes = (0..250).step_by(2).map(|i| Write::put(key(i), number(i)));
    s.it.write_many(writes.collect()).await.unwrap();

    let wanted: Vec<Key> = (0..250).rev().chain([4, 4, 5]).map(key).collect();
    let items = s.other.get_many(&wanted).await.unwrap();
    let read: Vec<Option<Value>> = items.into_iter().map(|i| i.map(|i| i.body)).collect();
    let expected = (0..250).rev().chain([4, 4, 5]).map(|i| (i % 2 == 0).then(|| number(i)));
    assert_eq!(read, expected.collect::<Vec<_>>());
    assert!(s.it.get_many(&[]).await.unwrap().is_empty());
}

/// Any number of puts and deletes in one call.
pub async fn many_writes_are_done(s: Subject<dyn Table>) {
    let partition = partition();
    let key = |i: u64| partition.key(format!("{i:04}"));
    s.it.write_many((0..130).map(|i| Write::put(key(i), number(i))).collect()).await.unwrap();
    let mixed =
        (0..260).map(|i| if i % 3 == 0 { Write::delete(key(i)) } else { Write::put(key(i), number(i + 1)) });
    s.it.write_many(mixed.collect()).await.unwrap();
    let items = s.other.get_many(&(0..260).map(key).collect::<Vec<_>>()).await.unwrap();
    for (i, item) in (0..).zip(items) {
        assert_eq!(item.map(|i| i.body), (i % 3 != 0).then(|| number(i + 1)), "{i}");
    }
    let twice = vec![Write::put(key(0), number(1)), Write::delete(key(1)), Write::put(key(0), number(2))];
    s.it.write_many(twice).await.unwrap();
    assert_eq!(body(&*s.it, &key(0)).await, Some(number(2)), "the last write of a key counts");
    s.it.write_many(Vec::new()).await.unwrap();
}

/// Bodies beyond what some stores hold in one item are written, replaced and removed whole.
pub async fn large_bodies_are_whole(s: Subject<dyn Table>) {
    let partition = partition();
    let key = partition.key("large");
    let large = |seed: u8, bytes: usize| json!({"seed": seed, "text": char::from(b'a' + seed).to_string().repeat(bytes)});
    let whole = async |expected: &Value| assert!(body(&*s.other, &key).await.as_ref() == Some(expected));

    for (version, bytes) in [(1, 399_000), (2, 410_000), (3, 3_000_000), (4, 10), (5, 900_000)] {
        let expected = large(u8::try_from(version).unwrap(), bytes);
        assert_eq!(put(&*s.it, &key, expected.clone()).await, version);
        whole(&expected).await;
    }
    assert_failed_on(
        s.it.write(Write::put_if(key.clone(), large(6, 500_000), Condition::Absent)).await,
        &key,
    );
    whole(&large(5, 900_000)).await;

    let small = partition.key("small");
    let both =
        |seed| vec![Write::put(key.clone(), large(seed, 600_000)), Write::put(small.clone(), number(1))];
    s.it.transact(both(7)).await.unwrap();
    whole(&large(7, 600_000)).await;
    s.it.write_many(both(8)).await.unwrap();
    whole(&large(8, 600_000)).await;

    let page = s.it.query(&Query::prefix(partition.clone(), "").descending()).await.unwrap();
    let keys: Vec<_> = page.items.iter().map(|i| i.key.sk()).collect();
    assert_eq!(keys, ["small", "large"], "parts of a body are not listed");
    assert!(page.items[1].body == large(8, 600_000));
    s.it.write(Write::delete(key.clone())).await.unwrap();
    s.it.write_many(vec![Write::delete(small)]).await.unwrap();
    assert!(s.it.query(&Query::prefix(partition, "")).await.unwrap().items.is_empty());
}
