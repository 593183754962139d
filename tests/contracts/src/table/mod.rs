//! The contract of [`Table`].

mod model;
mod queries;
mod races;
mod records;
mod refusals;

pub use model::random_operations_agree_with_a_reference;
pub use queries::{
    pages_follow_each_other_in_both_orders, ranges_are_bytewise, the_pages_of_a_changing_range_stay_in_order,
};
pub use races::{counters_lose_nothing, one_creator_wins, one_version_wins, transfers_keep_the_sum};
pub use records::{
    a_counter_starts_anew_when_it_has_expired, a_transaction_is_all_or_nothing, bodies_come_back_exactly,
    conditions_hold_or_nothing_is_written, expired_items_are_absent, large_bodies_are_whole,
    many_reads_keep_their_order, many_writes_are_done, versions_count_the_writes,
};
pub use refusals::{what_breaks_the_rules_is_refused, write_many_takes_no_condition};

use domain::{
    AccountId,
    keys::{Key, Kind, Partition},
    ports::{Condition, Item, Table, TableError, Write},
};
use serde_json::{Value, json};

/// Makes one test of each case of the table's contract.
#[macro_export]
macro_rules! table_contract {
    ($subject:expr) => {
        $crate::each_case!($crate::table, $subject, [
            a_counter_starts_anew_when_it_has_expired
            a_transaction_is_all_or_nothing
            bodies_come_back_exactly
            conditions_hold_or_nothing_is_written
            counters_lose_nothing
            expired_items_are_absent
            large_bodies_are_whole
            many_reads_keep_their_order
            many_writes_are_done
            one_creator_wins
            one_version_wins
            pages_follow_each_other_in_both_orders
            random_operations_agree_with_a_reference
            ranges_are_bytewise
            the_pages_of_a_changing_range_stay_in_order
            transfers_keep_the_sum
            versions_count_the_writes
            what_breaks_the_rules_is_refused
            write_many_takes_no_condition
        ]);
    };
}

/// A partition that nothing else uses.
pub(crate) fn partition() -> Partition {
    Kind::App.of(&AccountId::generate())
}

pub(crate) async fn put(table: &dyn Table, key: &Key, body: Value) -> u64 {
    table.write(Write::put(key.clone(), body)).await.unwrap()
}

pub(crate) async fn body(table: &dyn Table, key: &Key) -> Option<Value> {
    table.get(key).await.unwrap().map(|item: Item| item.body)
}

pub(crate) fn delete_if(key: &Key, condition: Condition) -> Write {
    Write::Delete { key: key.clone(), condition }
}

pub(crate) fn check(key: &Key, condition: Condition) -> Write {
    Write::Check { key: key.clone(), condition }
}

pub(crate) fn number(n: u64) -> Value {
    json!({"number": n})
}

#[track_caller]
pub(crate) fn assert_failed_on<T: std::fmt::Debug>(result: Result<T, TableError>, expected: &Key) {
    match result {
        Err(TableError::ConditionFailed { key }) => assert_eq!(&key, expected),
        other => panic!("a condition on {expected} should have failed, but: {other:?}"),
    }
}
