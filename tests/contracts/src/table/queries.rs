//! Ranges, orders, cursors.

use super::{number, partition};
use crate::Subject;
use domain::{
    keys::Partition,
    ports::{Order, Query, Range, Table, Write},
};
use std::collections::BTreeSet;

async fn fill<'a>(table: &dyn Table, partition: &Partition, sks: impl IntoIterator<Item = &'a str>) {
    let writes = sks.into_iter().map(|sk| Write::put(partition.key(sk), number(1)));
    table.write_many(writes.collect()).await.unwrap();
}

async fn all_pages(table: &dyn Table, mut query: Query) -> Vec<String> {
    let mut keys = Vec::new();
    for _ in 0..1000 {
        let page = table.query(&query).await.unwrap();
        assert!(page.items.len() <= query.limit);
        keys.extend(page.items.iter().map(|item| item.key.sk().to_owned()));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return keys,
        }
    }
    panic!("the pages do not end");
}

const SKS: [&str; 15] = [
    "A",
    "B#1",
    "a",
    "a#",
    "a#1",
    "a#10",
    "a#2",
    "a$",
    "ab",
    "b",
    "\u{7f}",
    "\u{e9}",
    "\u{e9}1",
    "\u{ffff}",
    "\u{1f600}",
];

fn ranges() -> Vec<Range> {
    let prefix = |p: &str| Range::Prefix(p.to_owned());
    let between = |a: &str, b: &str| Range::Between(a.to_owned(), b.to_owned());
    vec![
        Range::All,
        prefix(""),
        prefix("a"),
        prefix("a#"),
        prefix("a#1"),
        prefix("\u{e9}"),
        prefix("\u{ffff}"),
        prefix("nothing"),
        between("a", "a#2"),
        between("a#", "a#"),
        between("", "b"),
        between("a#1", "\u{10fffe}"),
        between("b", "a"),
        between("c", "d"),
    ]
}

/// Sort keys are ordered by their bytes, and a range takes exactly what it says.
pub async fn ranges_are_bytewise(s: Subject<dyn Table>) {
    let partition = partition();
    let sorted: BTreeSet<&str> = SKS.into();
    fill(&*s.it, &partition, SKS).await;
    fill(&*s.it, &super::partition(), ["a#1", "zz"]).await;

    for range in ranges() {
        let inside = |sk: &&str| match &range {
            Range::All => true,
            Range::Prefix(p) => sk.starts_with(p.as_str()),
            Range::Between(from, to) => *sk >= from.as_str() && *sk <= to.as_str(),
        };
        let mut expected: Vec<&str> = sorted.iter().copied().filter(inside).collect();
        for order in [Order::Ascending, Order::Descending] {
            for limit in [1, 3, 1000] {
                let query =
                    Query { partition: partition.clone(), range: range.clone(), order, limit, cursor: None };
                assert_eq!(all_pages(&*s.other, query).await, expected, "{range:?} {order:?} {limit}");
            }
            expected.reverse();
        }
    }
}

/// Pages have no gap and no repetition.
pub async fn pages_follow_each_other_in_both_orders(s: Subject<dyn Table>) {
    let partition = partition();
    let sks: Vec<String> = (0..250).map(|i| format!("item#{i:03}")).collect();
    fill(&*s.it, &partition, sks.iter().map(String::as_str)).await;
    let query = Query::prefix(partition, "item#").limit(100);

    let first = s.it.query(&query).await.unwrap();
    assert_eq!(first.items.len(), 100);
    assert_eq!(first.items[99].key.sk(), "item#099");
    let second = s.other.query(&query.clone().after(first.next_cursor)).await.unwrap();
    assert_eq!(second.items[0].key.sk(), "item#100", "another instance goes on with the cursor");

    let mut expected = sks;
    assert_eq!(all_pages(&*s.it, query.clone()).await, expected);
    expected.reverse();
    assert_eq!(all_pages(&*s.it, query.descending()).await, expected);
}

/// Writes between two pages do not make a page repeat or lose what was there all along.
pub async fn the_pages_of_a_changing_range_stay_in_order(s: Subject<dyn Table>) {
    let partition = partition();
    fill(&*s.it, &partition, ["b", "d", "f", "h"]).await;
    let query = Query::prefix(partition.clone(), "").limit(2);
    let first = s.it.query(&query).await.unwrap();
    let cursor = first.next_cursor.clone();
    assert!(cursor.is_some());

    fill(&*s.it, &partition, ["a", "e", "z"]).await;
    s.it.write_many(vec![Write::delete(partition.key("d")), Write::delete(partition.key("f"))])
        .await
        .unwrap();
    let rest = all_pages(&*s.it, query.after(cursor)).await;
    assert_eq!(rest, ["e", "h", "z"], "also when the item of the cursor is gone");
}
