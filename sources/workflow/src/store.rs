//! Where workflows are kept: the partition `wf#{account}`.
//!
//! | sort key | what |
//! |---|---|
//! | `head#{id}` | [`Workflow`] |
//! | `name#{tool_call_name}` | the id that holds the name |
//! | `draft#{id}` | [`Draft`] |
//! | `ver#{id}#{version}` | [`Version`] |
//! | `run#{id}#{run}` | [`crate::RunRecord`] |

use crate::{
    error::WorkflowError,
    record::{Draft, Version, Workflow},
    run_record::RunRecord,
};
use domain::{
    AccountId,
    keys::{Key, Kind, Partition},
    ports::{Condition, Item, Page, Query, Table, TableError, Write, query_all},
};
use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many published versions are kept.
const KEPT_VERSIONS: u64 = 20;
/// How long records of runs are kept, in seconds.
const KEPT_RUNS: i64 = 30 * 24 * 3600;
/// The most items that one deletion looks for at a time.
const DELETE_PAGE: usize = 1000;

/// The records of workflows.
#[derive(Clone)]
pub(crate) struct Store {
    table: Arc<dyn Table>,
}

/// A record with the version its item had when it was read.
pub(crate) struct Read<T> {
    pub(crate) record: T,
    pub(crate) version: u64,
}

impl Store {
    pub(crate) fn new(table: Arc<dyn Table>) -> Self {
        Self { table }
    }

    pub(crate) async fn head(&self, account: &AccountId, id: &str) -> Result<Read<Workflow>, WorkflowError> {
        let item = self.table.get(&partition(account).key(head_sk(id))).await?;
        read(id, &item.ok_or_else(|| WorkflowError::NotFound(format!("the workflow `{id}`")))?)
    }

    /// Reads heads in one round, in the order of `ids`.
    pub(crate) async fn heads(
        &self,
        account: &AccountId,
        ids: &[&str],
    ) -> Result<Vec<Option<Workflow>>, TableError> {
        let keys: Vec<Key> = ids.iter().map(|id| partition(account).key(head_sk(id))).collect();
        let items = self.table.get_many(&keys).await?;
        Ok(items.into_iter().map(|item| item.and_then(|i| serde_json::from_value(i.body).ok())).collect())
    }

    pub(crate) async fn list(
        &self,
        account: &AccountId,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Workflow>, Option<String>), WorkflowError> {
        let query = Query::prefix(partition(account), "head#").limit(limit).after(cursor);
        let Page { items, next_cursor } = self.table.query(&query).await?;
        let heads = items.iter().map(|item| read(item.key.sk(), item).map(|read| read.record));
        Ok((heads.collect::<Result<_, _>>()?, next_cursor))
    }

    pub(crate) async fn id_of(
        &self,
        account: &AccountId,
        tool_call_name: &str,
    ) -> Result<Option<String>, TableError> {
        let item = self.table.get(&partition(account).key(name_sk(tool_call_name))).await?;
        Ok(item.and_then(|item| item.body.get("id").and_then(Value::as_str).map(str::to_owned)))
    }

    pub(crate) async fn draft(&self, account: &AccountId, id: &str) -> Result<Read<Draft>, WorkflowError> {
        let item = self.table.get(&partition(account).key(draft_sk(id))).await?;
        read(id, &item.ok_or_else(|| WorkflowError::NotFound(format!("the workflow `{id}`")))?)
    }

    /// Reads versions in one round, in the order of `wanted`.
    pub(crate) async fn versions(
        &self,
        account: &AccountId,
        wanted: &[(&str, u64)],
    ) -> Result<Vec<Option<Version>>, TableError> {
        let keys: Vec<Key> =
            wanted.iter().map(|(id, version)| partition(account).key(version_sk(id, *version))).collect();
        let items = self.table.get_many(&keys).await?;
        Ok(items.into_iter().map(|item| item.and_then(|i| serde_json::from_value(i.body).ok())).collect())
    }

    pub(crate) async fn create(
        &self,
        account: &AccountId,
        workflow: &Workflow,
        draft: &Draft,
    ) -> Result<(), WorkflowError> {
        let partition = partition(account);
        let writes = vec![
            Write::put_if(partition.key(head_sk(&workflow.id)), body(workflow)?, Condition::Absent),
            Write::put_if(
                partition.key(name_sk(&workflow.tool_call_name)),
                json!({"id": workflow.id}),
                Condition::Absent,
            ),
            Write::put_if(partition.key(draft_sk(&workflow.id)), body(draft)?, Condition::Absent),
        ];
        self.table.transact(writes).await.map_err(|error| conflict(workflow, error))
    }

    /// Writes a head that was read before; `old_name` is the name it had then.
    pub(crate) async fn update(
        &self,
        account: &AccountId,
        workflow: &Workflow,
        old_name: &str,
        version: u64,
    ) -> Result<(), WorkflowError> {
        let partition = partition(account);
        let mut writes = vec![Write::put_if(
            partition.key(head_sk(&workflow.id)),
            body(workflow)?,
            Condition::Version(version),
        )];
        if workflow.tool_call_name != old_name {
            writes.push(Write::put_if(
                partition.key(name_sk(&workflow.tool_call_name)),
                json!({"id": workflow.id}),
                Condition::Absent,
            ));
            writes.push(Write::delete(partition.key(name_sk(old_name))));
        }
        self.table.transact(writes).await.map_err(|error| conflict(workflow, error))
    }

    /// Writes a draft, under a condition.
    pub(crate) async fn put_draft(
        &self,
        account: &AccountId,
        id: &str,
        draft: &Draft,
        condition: Condition,
    ) -> Result<(), WorkflowError> {
        let partition = partition(account);
        // The head is looked at, so that no draft comes to life beside a workflow that is being deleted.
        let writes = vec![
            Write::Check { key: partition.key(head_sk(id)), condition: Condition::Exists },
            Write::put_if(partition.key(draft_sk(id)), body(draft)?, condition),
        ];
        self.table.transact(writes).await.map_err(|error| match error {
            TableError::ConditionFailed { key } if key.sk().starts_with("head#") => {
                WorkflowError::NotFound(format!("the workflow `{id}`"))
            }
            TableError::ConditionFailed { .. } => WorkflowError::Conflict(id.to_owned()),
            other => other.into(),
        })
    }

    /// Publishes: the new version, and the head that points to it, if neither head nor draft changed meanwhile.
    pub(crate) async fn publish(
        &self,
        account: &AccountId,
        workflow: &Workflow,
        head_version: u64,
        draft_version: u64,
        version: &Version,
    ) -> Result<(), WorkflowError> {
        let partition = partition(account);
        let id = &workflow.id;
        let writes = vec![
            Write::put_if(partition.key(head_sk(id)), body(workflow)?, Condition::Version(head_version)),
            Write::Check { key: partition.key(draft_sk(id)), condition: Condition::Version(draft_version) },
            Write::put_if(partition.key(version_sk(id, version.number)), body(version)?, Condition::Absent),
        ];
        self.table.transact(writes).await.map_err(|error| conflict(workflow, error))?;
        if let Some(old) = version.number.checked_sub(KEPT_VERSIONS).filter(|old| *old > 0)
            && let Err(error) = self.table.write(Write::delete(partition.key(version_sk(id, old)))).await
        {
            tracing::warn!(%error, workflow = %id, "an old version was not removed");
        }
        Ok(())
    }

    /// Removes a workflow and all that belongs to it.
    pub(crate) async fn delete(
        &self,
        account: &AccountId,
        head: &Read<Workflow>,
    ) -> Result<(), WorkflowError> {
        let partition = partition(account);
        let workflow = &head.record;
        let id = &workflow.id;
        let writes = vec![
            Write::Delete { key: partition.key(head_sk(id)), condition: Condition::Version(head.version) },
            Write::delete(partition.key(name_sk(&workflow.tool_call_name))),
            Write::delete(partition.key(draft_sk(id))),
        ];
        self.table.transact(writes).await.map_err(|error| conflict(workflow, error))?;
        for prefix in [format!("ver#{id}#"), format!("run#{id}#")] {
            loop {
                let query = Query::prefix(partition.clone(), &prefix).limit(DELETE_PAGE);
                let items = query_all(self.table.as_ref(), query, DELETE_PAGE).await?;
                if items.is_empty() {
                    break;
                }
                let deletes = items.into_iter().map(|item| Write::delete(item.key)).collect();
                self.table.write_many(deletes).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn put_run(&self, account: &AccountId, run: &RunRecord) -> Result<(), WorkflowError> {
        let expires = Timestamp::from_second(run.started_at.as_second() + KEPT_RUNS).ok();
        let key = partition(account).key(run_sk(&run.workflow_id, &run.id));
        let write = Write::Put { key, body: body(run)?, expires_at: expires, condition: Condition::Always };
        self.table.write(write).await?;
        Ok(())
    }

    pub(crate) async fn run(
        &self,
        account: &AccountId,
        id: &str,
        run: &str,
    ) -> Result<RunRecord, WorkflowError> {
        let item = self.table.get(&partition(account).key(run_sk(id, run))).await?;
        let missing = || WorkflowError::NotFound(format!("the run `{run}` of the workflow `{id}`"));
        Ok(read(run, &item.ok_or_else(missing)?)?.record)
    }

    /// The runs of a workflow, the latest first.
    pub(crate) async fn runs(
        &self,
        account: &AccountId,
        id: &str,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<RunRecord>, Option<String>), WorkflowError> {
        let query = Query::prefix(partition(account), run_sk(id, "")).limit(limit).after(cursor).descending();
        let Page { items, next_cursor } = self.table.query(&query).await?;
        let runs = items.iter().map(|item| read(item.key.sk(), item).map(|read| read.record));
        Ok((runs.collect::<Result<_, _>>()?, next_cursor))
    }
}

fn partition(account: &AccountId) -> Partition {
    Kind::Workflow.of(account)
}

fn head_sk(id: &str) -> String {
    format!("head#{id}")
}

fn name_sk(name: &str) -> String {
    format!("name#{name}")
}

fn draft_sk(id: &str) -> String {
    format!("draft#{id}")
}

fn version_sk(id: &str, version: u64) -> String {
    format!("ver#{id}#{version:010}")
}

fn run_sk(id: &str, run: &str) -> String {
    format!("run#{id}#{run}")
}

fn body(record: &impl Serialize) -> Result<Value, TableError> {
    serde_json::to_value(record).map_err(|error| TableError::Invalid(error.to_string()))
}

fn read<T: DeserializeOwned>(id: &str, item: &Item) -> Result<Read<T>, WorkflowError> {
    let corrupt =
        |error: serde_json::Error| WorkflowError::Corrupt { id: id.to_owned(), reason: error.to_string() };
    let record = T::deserialize(&item.body).map_err(corrupt)?;
    Ok(Read { record, version: item.version })
}

fn conflict(workflow: &Workflow, error: TableError) -> WorkflowError {
    match error {
        TableError::ConditionFailed { key } if key.sk().starts_with("name#") => {
            WorkflowError::NameTaken(workflow.tool_call_name.clone())
        }
        TableError::ConditionFailed { .. } => WorkflowError::Conflict(workflow.id.clone()),
        other => other.into(),
    }
}
