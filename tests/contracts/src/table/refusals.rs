//! What every store refuses, before anything is written.

use super::{check, delete_if, number, partition};
use crate::Subject;
use domain::{
    keys::{Key, Lookup},
    ports::{Condition, Query, Range, Table, TableError, Write},
};
use serde_json::json;

#[track_caller]
fn assert_invalid<T: std::fmt::Debug>(what: &str, result: Result<T, TableError>) {
    assert!(matches!(result, Err(TableError::Invalid(_))), "{what}: {result:?}");
}

/// Keys, bodies, transactions and queries beyond the port's rules.
pub async fn what_breaks_the_rules_is_refused(s: Subject<dyn Table>) {
    let partition = partition();
    let long = "x".repeat(3000);
    let keys = [
        ("an empty sort key", partition.key("")),
        ("a long sort key", partition.key("x".repeat(1025))),
        ("a long partition key", Lookup::ApiKey(&long).partition().key("x")),
        ("an adapter's own sort key", partition.key("\u{10ffff}part")),
    ];
    for (what, key) in keys {
        refuses_key(&*s.it, what, &key).await;
    }
    let key = partition.key("x".repeat(1024));
    let mut deep = json!({});
    for _ in 0..120 {
        deep = json!({"in": deep});
    }
    let huge = json!({"text": "x".repeat(9 << 20)});
    for (what, body) in [
        ("a number", json!(1)),
        ("a list", json!([])),
        ("null", json!(null)),
        ("too deep", deep),
        ("too large", huge),
    ] {
        assert_invalid(what, s.it.write(Write::put(key.clone(), body.clone())).await);
        assert_invalid(what, s.it.transact(vec![Write::put(key.clone(), body.clone())]).await);
        assert_invalid(what, s.it.write_many(vec![Write::put(key.clone(), body)]).await);
    }
    let many =
        |n: usize| (0..n).map(|i| Write::put(partition.key(format!("{i}")), number(1))).collect::<Vec<_>>();
    assert_invalid("101 writes", s.it.transact(many(101)).await);
    let twice = vec![Write::put(key.clone(), number(1)), check(&key, Condition::Absent)];
    assert_invalid("one key twice", s.it.transact(twice).await);
    for limit in [0, 1001] {
        assert_invalid("a limit", s.it.query(&Query::prefix(partition.clone(), "").limit(limit)).await);
    }
    for cursor in ["", "not base64!", "AAAA=", "_w"] {
        let query = Query::prefix(partition.clone(), "").after(Some(cursor.to_owned()));
        assert_invalid(cursor, s.it.query(&query).await);
    }
    refuses_a_cursor_of_another_range(&s).await;
    assert_eq!(s.it.get(&key).await.unwrap(), None);
}

async fn refuses_key(table: &dyn Table, what: &str, key: &Key) {
    assert_invalid(what, table.get(key).await);
    assert_invalid(what, table.write(Write::put(key.clone(), number(1))).await);
    assert_invalid(what, table.transact(vec![Write::delete(key.clone())]).await);
    assert_invalid(what, table.write_many(vec![Write::delete(key.clone())]).await);
    assert_invalid(what, table.add(key, 1, None).await);
}

async fn refuses_a_cursor_of_another_range(s: &Subject<dyn Table>) {
    let partition = partition();
    let writes = ["a1", "a2", "b1", "b2"].map(|sk| Write::put(partition.key(sk), number(1)));
    s.it.write_many(writes.to_vec()).await.unwrap();
    let page = s.it.query(&Query::prefix(partition.clone(), "a").limit(1)).await.unwrap();
    let query = Query { range: Range::Prefix("b".into()), ..Query::prefix(partition, "") };
    assert_invalid("the cursor of another range", s.it.query(&query.after(page.next_cursor)).await);
}

/// `write_many` refuses what it could not keep.
pub async fn write_many_takes_no_condition(s: Subject<dyn Table>) {
    let key = partition().key("it");
    let other = partition().key("other");
    for write in [
        Write::put_if(key.clone(), number(1), Condition::Absent),
        delete_if(&key, Condition::Exists),
        check(&key, Condition::Always),
    ] {
        let writes = vec![Write::put(other.clone(), number(1)), write];
        assert_invalid("a condition", s.it.write_many(writes).await);
        assert_eq!(s.it.get(&other).await.unwrap(), None, "nothing is written");
    }
}
