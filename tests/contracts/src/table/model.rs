//! Random operations, done to a store and to a reference in memory: both must agree at every step.

use crate::{ManualClock, Subject};
use domain::{
    AccountId,
    keys::{Key, Kind, Partition},
    ports::{Clock as _, Condition, Order, Query, Range, Table, TableError, Write, query_all},
};
use jiff::Timestamp;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use tokio::{runtime::Handle, task::block_in_place};

const SKS: [&str; 6] = ["a", "a#1", "a#2", "b", "b\u{e9}", "c"];

#[derive(Clone, Debug)]
enum Op {
    Write(Step),
    Transact(Vec<Step>),
    WriteMany(Vec<Step>),
    Add { sk: usize, by: i8 },
    Query { prefix: &'static str, descending: bool, limit: usize },
    Advance { ms: u16 },
}

#[derive(Clone, Debug)]
struct Step {
    sk: usize,
    effect: Effect,
    condition: Wanted,
}

#[derive(Clone, Debug)]
enum Effect {
    Put { value: u8, expires_in_ms: Option<u16> },
    Delete,
    Check,
}

#[derive(Clone, Copy, Debug)]
enum Wanted {
    Always,
    Absent,
    Exists,
    /// The version the reference knows, or one beside it.
    Current,
    Stale,
}

fn op() -> impl Strategy<Value = Op> {
    let steps = || {
        prop::collection::btree_map(0..SKS.len(), (effect(), wanted()), 1..5).prop_map(|steps| {
            let step = |(sk, (effect, condition))| Step { sk, effect, condition };
            steps.into_iter().map(step).collect::<Vec<_>>()
        })
    };
    let unconditional = prop::collection::vec((0..SKS.len(), effect()), 0..6).prop_map(|steps| {
        let step = |(sk, effect)| Step { sk, effect, condition: Wanted::Always };
        steps.into_iter().filter(|(_, e)| !matches!(e, Effect::Check)).map(step).collect()
    });
    let prefix = prop::sample::select(vec!["", "a", "a#", "b", "d"]);
    prop_oneof![
        4 => (0..SKS.len(), effect(), wanted()).prop_map(|(sk, effect, condition)| Op::Write(Step { sk, effect, condition })),
        3 => steps().prop_map(Op::Transact),
        2 => unconditional.prop_map(Op::WriteMany),
        1 => (0..SKS.len(), any::<i8>()).prop_map(|(sk, by)| Op::Add { sk, by }),
        2 => (prefix, any::<bool>(), 1..4_usize).prop_map(|(prefix, descending, limit)| Op::Query { prefix, descending, limit }),
        1 => (1..2000_u16).prop_map(|ms| Op::Advance { ms }),
    ]
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        4 => (any::<u8>(), prop::option::of(1..3000_u16))
            .prop_map(|(value, expires_in_ms)| Effect::Put { value, expires_in_ms }),
        2 => Just(Effect::Delete),
        1 => Just(Effect::Check),
    ]
}

fn wanted() -> impl Strategy<Value = Wanted> {
    prop::sample::select(vec![Wanted::Always, Wanted::Absent, Wanted::Exists, Wanted::Current, Wanted::Stale])
}

#[derive(Clone)]
struct Known {
    /// None after a write whose version the port does not tell.
    version: Option<u64>,
    expires_at: Option<Timestamp>,
    body: Value,
}

struct Reference<'a> {
    table: &'a dyn Table,
    clock: &'a ManualClock,
    partition: Partition,
    items: BTreeMap<usize, Known>,
}

/// The store and a reference in memory agree on every answer and, after each operation, on every item.
pub async fn random_operations_agree_with_a_reference(s: Subject<dyn Table>) {
    let config = Config {
        cases: u32::try_from(s.times(48)).unwrap(),
        max_shrink_iters: 400,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = block_in_place(|| {
        TestRunner::new(config)
            .run(&prop::collection::vec(op(), 1..24), |ops| Handle::current().block_on(replay(&s, ops)))
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn replay(s: &Subject<dyn Table>, ops: Vec<Op>) -> Result<(), TestCaseError> {
    let partition = Kind::App.of(&AccountId::generate());
    let mut reference = Reference { table: &*s.it, clock: &s.clock, partition, items: BTreeMap::new() };
    for op in ops {
        reference.step(op).await?;
        reference.compare(&*s.other).await?;
    }
    Ok(())
}

impl Reference<'_> {
    async fn step(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Advance { ms } => {
                self.clock.advance(Duration::from_millis(ms.into()));
                let now = self.clock.now();
                self.items.retain(|_, item| item.expires_at.is_none_or(|at| at > now));
            }
            Op::Write(step) => {
                let (write, expected) = (self.write(&step), self.first_failing(std::slice::from_ref(&step)));
                let done = self.table.write(write).await;
                same_outcome(&done, expected)?;
                if let Ok(version) = done {
                    let before = self.items.get(&step.sk).and_then(|item| item.version);
                    self.apply(&step, Some(version));
                    if let (Some(before), Effect::Put { .. }) = (before, &step.effect) {
                        prop_assert_eq!(version, before + 1);
                    }
                }
            }
            Op::Transact(steps) => {
                let writes = steps.iter().map(|step| self.write(step)).collect();
                let expected = self.first_failing(&steps);
                let done = self.table.transact(writes).await;
                same_outcome(&done, expected)?;
                if done.is_ok() {
                    for step in &steps {
                        self.apply(step, None);
                    }
                }
            }
            Op::WriteMany(steps) => {
                let writes = steps.iter().map(|step| self.write(step)).collect();
                self.table.write_many(writes).await.map_err(fail)?;
                for step in &steps {
                    self.apply(step, None);
                }
            }
            Op::Add { sk, by } => self.add(sk, by.into()).await?,
            Op::Query { prefix, descending, limit } => self.query(prefix, descending, limit).await?,
        }
        Ok(())
    }

    fn key(&self, sk: usize) -> Key {
        self.partition.key(SKS[sk])
    }

    fn condition(&self, step: &Step) -> Condition {
        let version = self.items.get(&step.sk).and_then(|item| item.version);
        match step.condition {
            Wanted::Always => Condition::Always,
            Wanted::Absent => Condition::Absent,
            Wanted::Exists => Condition::Exists,
            Wanted::Current => Condition::Version(version.unwrap_or(1)),
            Wanted::Stale => Condition::Version(version.map_or(1, |v| v + 1)),
        }
    }

    fn write(&self, step: &Step) -> Write {
        let (key, condition) = (self.key(step.sk), self.condition(step));
        match &step.effect {
            Effect::Put { value, expires_in_ms } => Write::Put {
                key,
                body: json!({"value": value}),
                expires_at: expires_in_ms.map(|ms| self.clock.after(Duration::from_millis(ms.into()))),
                condition,
            },
            Effect::Delete => Write::Delete { key, condition },
            Effect::Check => Write::Check { key, condition },
        }
    }

    fn first_failing(&self, steps: &[Step]) -> Option<Key> {
        let fails = |step: &&Step| {
            let item = self.items.get(&step.sk);
            !match self.condition(step) {
                Condition::Always => true,
                Condition::Absent => item.is_none(),
                Condition::Exists => item.is_some(),
                Condition::Version(wanted) => item.is_some_and(|i| i.version == Some(wanted)),
            }
        };
        steps.iter().find(fails).map(|step| self.key(step.sk))
    }

    fn apply(&mut self, step: &Step, version: Option<u64>) {
        match &step.effect {
            Effect::Check => {}
            Effect::Delete => {
                self.items.remove(&step.sk);
            }
            Effect::Put { value, expires_in_ms } => {
                let expires_at = expires_in_ms.map(|ms| self.clock.after(Duration::from_millis(ms.into())));
                let known = Known { version, expires_at, body: json!({"value": value}) };
                self.items.insert(step.sk, known);
            }
        }
    }

    async fn add(&mut self, sk: usize, by: i64) -> Result<(), TestCaseError> {
        let done = self.table.add(&self.key(sk), by, None).await;
        let before = self.items.get(&sk).cloned();
        let n = match &before {
            None => Some(0),
            Some(item) => item.body.get("n").and_then(Value::as_i64),
        };
        match (done, n) {
            (Ok(sum), Some(n)) => {
                prop_assert_eq!(sum, n + by);
                let expires_at = before.and_then(|item| item.expires_at);
                self.items.insert(sk, Known { version: None, expires_at, body: json!({"n": sum}) });
                Ok(())
            }
            (Err(TableError::Invalid(_)), None) => Ok(()),
            (done, n) => Err(TestCaseError::fail(format!("add gave {done:?} over {n:?}"))),
        }
    }

    async fn query(&self, prefix: &str, descending: bool, limit: usize) -> Result<(), TestCaseError> {
        let order = if descending { Order::Descending } else { Order::Ascending };
        let range = Range::Prefix(prefix.to_owned());
        let query = Query { partition: self.partition.clone(), range, order, limit, cursor: None };
        let items = query_all(self.table, query, 100).await.map_err(fail)?;
        let found: Vec<_> = items.into_iter().map(|i| (i.key.sk().to_owned(), i.body)).collect();
        let known = self.items.iter().map(|(sk, item)| (SKS[*sk].to_owned(), item.body.clone()));
        let mut expected: Vec<_> = known.filter(|(sk, _)| sk.starts_with(prefix)).collect();
        if descending {
            expected.reverse();
        }
        prop_assert_eq!(found, expected);
        Ok(())
    }

    /// Reads everything through another instance, and learns the versions that no write told.
    async fn compare(&mut self, table: &dyn Table) -> Result<(), TestCaseError> {
        let keys: Vec<Key> = (0..SKS.len()).map(|sk| self.key(sk)).collect();
        let items = table.get_many(&keys).await.map_err(fail)?;
        for (sk, item) in items.into_iter().enumerate() {
            let known = self.items.get_mut(&sk);
            let (Some(item), Some(known)) = (&item, known) else {
                prop_assert!(item.is_none() && !self.items.contains_key(&sk), "{}: {:?}", SKS[sk], item);
                continue;
            };
            prop_assert_eq!(&item.body, &known.body);
            prop_assert_eq!(item.expires_at, known.expires_at);
            if let Some(version) = known.version.filter(|v| *v > 0) {
                prop_assert_eq!(item.version, version);
            }
            known.version = Some(item.version);
        }
        Ok(())
    }
}

fn fail(error: TableError) -> TestCaseError {
    TestCaseError::fail(format!("{error}"))
}

fn same_outcome<T: std::fmt::Debug>(
    done: &Result<T, TableError>,
    expected: Option<Key>,
) -> Result<(), TestCaseError> {
    match (done, expected) {
        (Ok(_), None) => Ok(()),
        (Err(TableError::ConditionFailed { key }), Some(expected)) if *key == expected => Ok(()),
        (done, expected) => {
            Err(TestCaseError::fail(format!("{done:?}, but the reference fails on {expected:?}")))
        }
    }
}
