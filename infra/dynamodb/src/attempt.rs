//! Repeating a write until it is known how it ended.
//!
//! When the answer to an attempt is lost, the write may have been done. The next attempt then meets its own
//! work: a condition that held before no longer does. So each write leaves its id in the items it puts, and
//! a condition that fails after a lost answer is only believed when no such trace is found. Where that cannot
//! be told, the error says so, and is never a failed condition: that would prove that nothing was done.

use crate::{
    DynamoDbTable,
    backoff::Backoff,
    fault::{Outcome, fault, unknown},
    record::{self, Attributes},
};
use domain::{keys::Key, ports::TableError};

/// After how many attempts a write whose answers are lost is given up.
const UNSURE_ATTEMPTS: u32 = 4;

/// How one attempt ended.
pub(crate) enum Sent<T> {
    Done(T),
    /// The condition of the write at this place does not hold.
    ConditionFailed(usize),
    Failed(Outcome, TableError),
}

/// How a write ended that was not done, as far as is known.
#[derive(Debug)]
pub(crate) enum Ended {
    ConditionFailed(usize),
    NotDone(TableError),
    Unknown(TableError),
}

/// What is found after an answer was lost and a condition failed.
pub(crate) enum Trace<T> {
    /// An earlier attempt did it.
    Done(T),
    /// No attempt did it, or nothing of it matters any more.
    NotDone,
    /// It cannot be told.
    Unknown,
}

/// A write that can be sent any number of times.
pub(crate) trait Attempt: Sync {
    /// What a done write gives.
    type Answer: Send;

    /// Sends it once.
    fn send(&self, table: &DynamoDbTable) -> impl Future<Output = Sent<Self::Answer>> + Send;

    /// Looks for what an earlier attempt has left.
    fn trace(
        &self,
        table: &DynamoDbTable,
    ) -> impl Future<Output = Result<Trace<Self::Answer>, TableError>> + Send;
}

impl DynamoDbTable {
    pub(crate) async fn settle<A: Attempt>(&self, write: &A) -> Result<A::Answer, Ended> {
        let mut backoff = Backoff::default();
        let mut unsure = false;
        loop {
            let error = match write.send(self).await {
                Sent::Done(answer) => return Ok(answer),
                Sent::ConditionFailed(at) if !unsure => return Err(Ended::ConditionFailed(at)),
                Sent::ConditionFailed(at) => {
                    return match write.trace(self).await.map_err(Ended::Unknown)? {
                        Trace::Done(answer) => Ok(answer),
                        Trace::NotDone => Err(Ended::ConditionFailed(at)),
                        Trace::Unknown => Err(Ended::Unknown(unknown(&self.name))),
                    };
                }
                Sent::Failed(Outcome::Refused, error) => return Err(ended(unsure, error)),
                Sent::Failed(outcome, error) => {
                    unsure |= outcome == Outcome::Unknown;
                    error
                }
            };
            if (unsure && backoff.attempts() + 1 >= UNSURE_ATTEMPTS) || !backoff.pause().await {
                return Err(ended(unsure, error));
            }
        }
    }

    /// The item at a key, expired or not, and whether it comes from the write with this id.
    pub(crate) async fn written_by(&self, key: &Key, id: &str) -> Result<(Attributes, bool), TableError> {
        let request = self
            .reads
            .get_item()
            .table_name(&*self.name)
            .set_key(Some(record::key_attributes(key.pk(), key.sk())))
            .consistent_read(true);
        let answer = request.send().await.map_err(|e| fault(&self.name, e))?;
        let item = answer.item.unwrap_or_default();
        let ours = record::text(&item, "w") == Some(id);
        Ok((item, ours))
    }
}

fn ended(unsure: bool, error: TableError) -> Ended {
    if unsure { Ended::Unknown(error) } else { Ended::NotDone(error) }
}
