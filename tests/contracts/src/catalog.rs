//! What [`Catalog`] promises, over any table: readers see the old revision or the new, never a mix, whatever
//! races and whatever breaks off in the middle.

use crate::{
    Subject,
    faults::{Fault, FaultyTable},
};
use domain::{
    AccountId,
    catalog::{Catalog, CatalogError, Head},
    keys::Kind,
    ports::{Query, Table, query_all},
};
use futures::future::join_all;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Makes one test of each case of the catalog's promises.
#[macro_export]
macro_rules! catalog_contract {
    ($subject:expr) => {
        $crate::each_case!($crate::catalog, $subject, [
            a_crash_leaves_the_old_revision
            a_lost_answer_leaves_the_new_revision_whole
            a_record_changes_without_its_bodies
            deleting_leaves_nothing
            lists_and_single_bodies_agree
            names_are_unique
            readers_never_see_a_mix
        ]);
    };
}

const SIZE: usize = 30;

fn catalog(table: &Arc<dyn Table>) -> Catalog {
    Catalog::new(table.clone(), Kind::ApiTool)
}

/// A revision whose bodies all carry its mark; each mark has another number of bodies.
fn bodies(mark: u64) -> Vec<(String, Value)> {
    let count = SIZE + usize::try_from(mark % 7).unwrap();
    (0..count).map(|i| (format!("tool_{i:02}"), json!({"mark": mark, "i": i}))).collect()
}

async fn create(catalog: &Catalog, account: &AccountId, id: &str, mark: u64) {
    let record = json!({"mark": mark});
    let revision = catalog.create(account, id, id, &record, bodies(mark)).await.unwrap();
    assert_eq!(revision, 1);
}

async fn head(catalog: &Catalog, account: &AccountId, id: &str) -> Head<Value> {
    catalog.head(account, id).await.unwrap()
}

/// Asserts that a revision is whole and gives its mark.
async fn whole(catalog: &Catalog, account: &AccountId, id: &str) -> u64 {
    let head = head(catalog, account, id).await;
    let mark = head.record["mark"].as_u64().unwrap();
    let read = catalog.all_bodies(account, &head).await.unwrap();
    assert_eq!(read, bodies(mark));
    assert_eq!(head.bodies, read.len());
    mark
}

async fn stored_items(table: &dyn Table, account: &AccountId) -> Vec<String> {
    let query = Query::prefix(Kind::ApiTool.of(account), "").limit(1000);
    let items = query_all(table, query, 10_000).await.unwrap();
    items.into_iter().map(|i| i.key.sk().to_owned()).collect()
}

/// Many publish, many read: every read is of one revision, and each swap counts one up.
pub async fn readers_never_see_a_mix(s: Subject<dyn Table>) {
    const PUBLISHERS: u64 = 4;
    let each = u64::try_from(s.times(6)).unwrap();
    let account = AccountId::generate();
    create(&catalog(&s.it), &account, "p", 0).await;
    let running = Arc::new(AtomicUsize::new(usize::try_from(PUBLISHERS).unwrap()));
    let publishers = (0..PUBLISHERS).map(|p| {
        let catalog = catalog(if p % 2 == 0 { &s.it } else { &s.other });
        let (account, running) = (account.clone(), running.clone());
        tokio::spawn(async move {
            for n in 1..=each {
                publish_until_done(&catalog, &account, p * 100 + n).await;
            }
            running.fetch_sub(1, Ordering::SeqCst);
        })
    });
    let readers = (0..3).map(|r| {
        let catalog = catalog(if r % 2 == 0 { &s.other } else { &s.it });
        let (account, running) = (account.clone(), running.clone());
        tokio::spawn(async move {
            while running.load(Ordering::SeqCst) > 0 {
                read_one_revision(&catalog, &account).await;
            }
        })
    });
    let tasks: Vec<_> = publishers.chain(readers).collect();
    join_all(tasks).await.into_iter().for_each(Result::unwrap);
    assert_eq!(head(&catalog(&s.it), &account, "p").await.revision, 1 + PUBLISHERS * each);
    whole(&catalog(&s.other), &account, "p").await;
    let revisions: std::collections::BTreeSet<_> = stored_items(&*s.it, &account)
        .await
        .iter()
        .filter_map(|sk| sk.strip_prefix("body#p#").and_then(|r| r.split('#').next()).map(str::to_owned))
        .collect();
    assert!(revisions.len() <= 2, "older revisions and refused ones were removed: {revisions:?}");
}

async fn publish_until_done(catalog: &Catalog, account: &AccountId, mark: u64) {
    loop {
        let head = head(catalog, account, "p").await;
        match catalog.publish(account, &head, "p", &json!({"mark": mark}), bodies(mark)).await {
            Ok(revision) => return assert_eq!(revision, head.revision + 1),
            Err(CatalogError::Conflict(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

async fn read_one_revision(catalog: &Catalog, account: &AccountId) {
    let head = head(catalog, account, "p").await;
    let mark = head.record["mark"].as_u64().unwrap();
    let read = catalog.all_bodies(account, &head).await.unwrap();
    assert!(read.iter().all(|(_, body)| body["mark"] == mark), "bodies of another revision under this head");
    if read.len() != head.bodies {
        // Only a head that is two swaps old may have lost its bodies.
        let now = self::head(catalog, account, "p").await;
        assert!(now.revision >= head.revision + 2, "{} then {}", head.revision, now.revision);
    }
}

/// A publisher that dies while it writes bodies, or before it swaps, has changed nothing that readers see.
pub async fn a_crash_leaves_the_old_revision(s: Subject<dyn Table>) {
    let account = AccountId::generate();
    let faulty = Arc::new(FaultyTable::new(s.it.clone()));
    let breaking = catalog(&(faulty.clone() as Arc<dyn Table>));
    let (steady, record) = (catalog(&s.other), json!({"mark": 2}));
    create(&steady, &account, "p", 1).await;
    let old = head(&steady, &account, "p").await;

    for step in 0..3 {
        match step {
            0 => faulty.fail_after_writes(0),
            1 => faulty.fail_after_writes(SIZE / 2),
            _ => faulty.fail_next_transaction(Fault::Before),
        }
        let published = breaking.publish(&account, &old, "p", &record, bodies(2)).await;
        assert!(matches!(published, Err(CatalogError::Table(_))), "{published:?}");
        assert_eq!(head(&steady, &account, "p").await, old);
        assert_eq!(whole(&steady, &account, "p").await, 1);
    }
    faulty.fail_next_transaction(Fault::Before);
    let created = breaking.create(&account, "q", "q", &record, bodies(2)).await;
    assert!(created.is_err());
    assert!(matches!(steady.head::<Value>(&account, "q").await, Err(CatalogError::NotFound(_))));
    assert_eq!(steady.id_of(&account, "q").await.unwrap(), None);

    assert_eq!(breaking.publish(&account, &old, "p", &record, bodies(2)).await.unwrap(), 2);
    assert_eq!(whole(&steady, &account, "p").await, 2);
    create(&breaking, &account, "q", 3).await;
    assert_eq!(whole(&steady, &account, "q").await, 3);
}

/// When only the answer to the swap is lost, the new revision must stay whole.
pub async fn a_lost_answer_leaves_the_new_revision_whole(s: Subject<dyn Table>) {
    let account = AccountId::generate();
    let faulty = Arc::new(FaultyTable::new(s.it.clone()));
    let breaking = catalog(&(faulty.clone() as Arc<dyn Table>));
    create(&breaking, &account, "p", 1).await;
    let old = head(&breaking, &account, "p").await;
    faulty.fail_next_transaction(Fault::After);
    let published = breaking.publish(&account, &old, "p", &json!({"mark": 2}), bodies(2)).await;
    assert!(matches!(published, Err(CatalogError::Table(_))), "{published:?}");
    assert_eq!(whole(&catalog(&s.other), &account, "p").await, 2);
    let again = breaking.publish(&account, &old, "p", &json!({"mark": 3}), bodies(3)).await;
    assert!(matches!(again, Err(CatalogError::Conflict(_))), "{again:?}");
    assert_eq!(whole(&catalog(&s.other), &account, "p").await, 2);
}

/// A record may change by itself; a stale one may not.
pub async fn a_record_changes_without_its_bodies(s: Subject<dyn Table>) {
    let (account, catalog) = (AccountId::generate(), catalog(&s.it));
    create(&catalog, &account, "p", 1).await;
    let old = head(&catalog, &account, "p").await;
    let record = json!({"mark": 1, "enabled": false});
    catalog.update_record(&account, &old, "p", &record).await.unwrap();
    let new = head(&catalog, &account, "p").await;
    assert_eq!((&new.record, new.revision, &new.body_id), (&record, 1, &old.body_id));
    assert_eq!(whole(&catalog, &account, "p").await, 1);
    let stale = catalog.update_record(&account, &old, "p", &record).await;
    assert!(matches!(stale, Err(CatalogError::Conflict(_))), "{stale:?}");
    let stale = catalog.publish(&account, &old, "p", &record, bodies(1)).await;
    assert!(matches!(stale, Err(CatalogError::Conflict(_))), "{stale:?}");
}

/// One name, one provider; renaming frees the old name; accounts do not see each other.
pub async fn names_are_unique(s: Subject<dyn Table>) {
    let (account, catalog) = (AccountId::generate(), catalog(&s.it));
    let record = json!({"mark": 1});
    catalog.create(&account, "1", "Weather", &record, bodies(1)).await.unwrap();
    let taken = catalog.create(&account, "2", "weather", &record, bodies(1)).await;
    assert!(matches!(taken, Err(CatalogError::NameTaken(_))), "{taken:?}");
    assert!(stored_items(&*s.it, &account).await.iter().all(|sk| !sk.starts_with("body#2#")));
    catalog.create(&AccountId::generate(), "2", "weather", &record, bodies(1)).await.unwrap();
    assert_eq!(catalog.id_of(&account, "WEATHER").await.unwrap().as_deref(), Some("1"));

    let old = head(&catalog, &account, "1").await;
    catalog.publish(&account, &old, "Climate", &record, bodies(2)).await.unwrap();
    assert_eq!(catalog.id_of(&account, "weather").await.unwrap(), None);
    catalog.create(&account, "2", "weather", &record, bodies(1)).await.unwrap();
    let two = head(&catalog, &account, "2").await;
    let taken = catalog.update_record(&account, &two, "climate", &record).await;
    assert!(matches!(taken, Err(CatalogError::NameTaken(_))), "{taken:?}");
    assert_eq!(whole(&catalog, &account, "2").await, 1);
}

/// After a deletion no item of the provider is left.
pub async fn deleting_leaves_nothing(s: Subject<dyn Table>) {
    let (account, catalog) = (AccountId::generate(), catalog(&s.it));
    create(&catalog, &account, "p", 1).await;
    for mark in 2..5 {
        let old = head(&catalog, &account, "p").await;
        catalog.publish(&account, &old, "p", &json!({"mark": mark}), bodies(mark)).await.unwrap();
    }
    catalog.delete(&account, "p").await.unwrap();
    assert_eq!(stored_items(&*s.other, &account).await, Vec::<String>::new());
    let again = catalog.delete(&account, "p").await;
    assert!(matches!(again, Err(CatalogError::NotFound(_))), "{again:?}");
}

/// Heads, bodies and pages of them tell the same.
pub async fn lists_and_single_bodies_agree(s: Subject<dyn Table>) {
    let (account, catalog) = (AccountId::generate(), catalog(&s.it));
    for (id, mark) in [("a", 1), ("b", 2), ("c", 3)] {
        create(&catalog, &account, id, mark).await;
    }
    let heads = catalog.heads::<Value>(&account, &["c", "missing", "a"]).await.unwrap();
    let ids: Vec<_> = heads.iter().map(|h| h.as_ref().map(|h| h.id.as_str())).collect();
    assert_eq!(ids, [Some("c"), None, Some("a")]);
    let (page, cursor) = catalog.list::<Value>(&account, 2, None).await.unwrap();
    let (rest, end) = catalog.list::<Value>(&account, 2, cursor).await.unwrap();
    let listed: Vec<_> = page.iter().chain(&rest).map(|h| h.id.as_str()).collect();
    assert_eq!((listed, end), (vec!["a", "b", "c"], None));

    let b = head(&catalog, &account, "b").await;
    let c = head(&catalog, &account, "c").await;
    let wanted = [(&c, "tool_03"), (&b, "tool_00"), (&b, "nothing")];
    let read = catalog.bodies(&account, &wanted).await.unwrap();
    assert_eq!(read, [Some(json!({"mark": 3, "i": 3})), Some(json!({"mark": 2, "i": 0})), None]);
    let (first, cursor) = catalog.list_bodies(&account, &b, 20, None).await.unwrap();
    let (second, _) = catalog.list_bodies(&account, &b, 20, cursor).await.unwrap();
    assert_eq!([first, second].concat(), bodies(2));
}
