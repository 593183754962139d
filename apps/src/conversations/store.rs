//! Conversations in the table.
//!
//! `c#{conversation}`; `l#{app}#{entry}#{user}#{conversation}` lists a person's; `m#{conversation}#{message}` in the order
//! of time, since ids are; `i#{message}` finds a message by its id alone; `s#{message}#{step}`.

use super::{Audience, Conversation, Message, Step};
use domain::{
    AccountId, Entry,
    keys::{Key, Kind, Partition},
    ports::{Clock, Condition, Item, Query, Table, TableError, Write, query_all},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{fmt, sync::Arc};

const MAX_STEPS: usize = 5000;
/// The largest text of a step that is kept whole, in bytes.
const MAX_STEP_TEXT: usize = 256 * 1024;

/// The conversations of all accounts.
#[derive(Clone)]
pub struct Conversations {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
}

/// Why a conversation was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// There is none, or it is somebody else's.
    #[error("{0} was not found")]
    NotFound(String),
    /// A stored record is not what it should be.
    #[error("the stored record `{0}` is not readable")]
    Corrupt(String),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl Conversations {
    /// Conversations in a table.
    pub fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>) -> Self {
        Self { table, clock }
    }

    /// A conversation of this app and this person.
    pub async fn get(
        &self,
        account: &AccountId,
        app_id: &str,
        audience: &Audience,
        id: &str,
    ) -> Result<Conversation, ConversationError> {
        let item = self.table.get(&conversation_key(account, id)).await?;
        let found = item.as_ref().map(parse::<Conversation>).transpose()?;
        let found = found.filter(|conversation| conversation.belongs_to(app_id, audience));
        found.ok_or_else(|| ConversationError::NotFound(format!("the conversation `{id}`")))
    }

    /// A person's conversations with an app, newest first, a page at a time.
    pub async fn list(
        &self,
        account: &AccountId,
        app_id: &str,
        audience: &Audience,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Conversation>, Option<String>), ConversationError> {
        let query =
            Query::prefix(partition(account), listing_prefix(app_id, audience)).limit(limit).after(cursor);
        let page = self.table.query(&query.descending()).await?;
        Ok((page.items.iter().map(parse).collect::<Result<_, _>>()?, page.next_cursor))
    }

    /// The conversation that a person began last.
    pub async fn latest(
        &self,
        account: &AccountId,
        app_id: &str,
        audience: &Audience,
    ) -> Result<Option<Conversation>, ConversationError> {
        Ok(self.list(account, app_id, audience, 1, None).await?.0.pop())
    }

    /// Removes a conversation with all its messages.
    pub async fn delete(
        &self,
        account: &AccountId,
        conversation: &Conversation,
    ) -> Result<(), ConversationError> {
        let audience = Audience { entry: conversation.entry, user: conversation.user.clone() };
        let listing = listing_key(account, &conversation.app_id, &audience, &conversation.id);
        let writes = vec![Write::delete(conversation_key(account, &conversation.id)), Write::delete(listing)];
        self.table.transact(writes).await?;
        loop {
            let query = Query::prefix(partition(account), message_prefix(&conversation.id)).limit(100);
            let page = self.table.query(&query).await?;
            for item in &page.items {
                let message: Message = parse(item)?;
                let steps = Query::prefix(partition(account), step_prefix(&message.id)).limit(1000);
                let steps = query_all(self.table.as_ref(), steps, MAX_STEPS).await?;
                let mut writes: Vec<Write> = steps.into_iter().map(|step| Write::delete(step.key)).collect();
                writes.push(Write::delete(index_key(account, &message.id)));
                writes.push(Write::delete(item.key.clone()));
                self.table.write_many(writes).await?;
            }
            if page.next_cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// A conversation's messages, newest first, a page at a time.
    pub async fn messages(
        &self,
        account: &AccountId,
        conversation: &str,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Message>, Option<String>), ConversationError> {
        let query =
            Query::prefix(partition(account), message_prefix(conversation)).limit(limit).after(cursor);
        let page = self.table.query(&query.descending()).await?;
        let now = self.clock.now();
        let messages = page.items.iter().map(|item| parse::<Message>(item).map(|message| message.at(now)));
        Ok((messages.collect::<Result<_, _>>()?, page.next_cursor))
    }

    /// A message by its id, with its conversation.
    pub async fn message(
        &self,
        account: &AccountId,
        id: &str,
    ) -> Result<(Conversation, Message), ConversationError> {
        let not_found = || ConversationError::NotFound(format!("the message `{id}`"));
        let index = self.table.get(&index_key(account, id)).await?.ok_or_else(not_found)?;
        let conversation = index.body.get("conversation_id").and_then(Value::as_str).unwrap_or_default();
        let keys = [conversation_key(account, conversation), message_key(account, conversation, id)];
        match self.table.get_many(&keys).await?.as_slice() {
            [Some(conversation), Some(message)] => {
                Ok((parse(conversation)?, parse::<Message>(message)?.at(self.clock.now())))
            }
            _ => Err(not_found()),
        }
    }

    /// The steps of a message's run, in order.
    pub async fn steps(&self, account: &AccountId, message: &str) -> Result<Vec<Step>, ConversationError> {
        let query = Query::prefix(partition(account), step_prefix(message)).limit(1000);
        query_all(self.table.as_ref(), query, MAX_STEPS).await?.iter().map(parse).collect()
    }

    /// Writes a message whose run begins, and its conversation where that is new.
    pub(crate) async fn begin(
        &self,
        account: &AccountId,
        conversation: &Conversation,
        is_new: bool,
        message: &Message,
    ) -> Result<(), TableError> {
        let index = json!({"conversation_id": conversation.id});
        let mut writes = vec![
            Write::put_if(
                message_key(account, &conversation.id, &message.id),
                body(message)?,
                Condition::Absent,
            ),
            Write::put_if(index_key(account, &message.id), index, Condition::Absent),
        ];
        if is_new {
            let audience = Audience { entry: conversation.entry, user: conversation.user.clone() };
            let listing = listing_key(account, &conversation.app_id, &audience, &conversation.id);
            writes.push(Write::put(conversation_key(account, &conversation.id), body(conversation)?));
            writes.push(Write::put(listing, body(conversation)?));
        } else {
            let key = conversation_key(account, &conversation.id);
            writes.push(Write::Check { key, condition: Condition::Exists });
        }
        self.table.transact(writes).await
    }

    /// Writes how a message stands. Only its own run does.
    pub(crate) async fn put(&self, account: &AccountId, message: &Message) -> Result<(), TableError> {
        let key = message_key(account, &message.conversation_id, &message.id);
        // A conversation that was deleted meanwhile stays deleted.
        let write = Write::put_if(key, body(message)?, Condition::Exists);
        self.table.write(write).await.map(|_| ())
    }

    /// Writes one step of a run.
    pub(crate) async fn put_step(
        &self,
        account: &AccountId,
        message: &str,
        step: &Step,
    ) -> Result<(), TableError> {
        let key = partition(account).key(format!("{}{:05}", step_prefix(message), step.position));
        let mut step = step.clone();
        for text in [&mut step.event.observation, &mut step.event.thought, &mut step.event.answer] {
            shorten(text);
        }
        self.table.write(Write::put(key, body(&step)?)).await.map(|_| ())
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations").finish_non_exhaustive()
    }
}

fn shorten(text: &mut String) {
    if text.len() > MAX_STEP_TEXT {
        text.truncate(text.floor_char_boundary(MAX_STEP_TEXT));
        text.push('…');
    }
}

/// An entry's name, as it stands in keys.
fn entry_name(entry: Entry) -> &'static str {
    match entry {
        Entry::Api => "api",
        Entry::Debug => "debug",
        Entry::Debugger => "debugger",
        Entry::ServiceApi => "service_api",
        Entry::WebApp => "web_app",
        Entry::Wechat => "wechat",
        Entry::Workflow => "workflow",
        Entry::Mcp => "mcp",
    }
}

fn partition(account: &AccountId) -> Partition {
    Kind::Conversation.of(account)
}

fn conversation_key(account: &AccountId, id: &str) -> Key {
    partition(account).key(format!("c#{id}"))
}

fn listing_prefix(app_id: &str, audience: &Audience) -> String {
    format!("l#{app_id}#{}#{}#", entry_name(audience.entry), audience.user)
}

fn listing_key(account: &AccountId, app_id: &str, audience: &Audience, id: &str) -> Key {
    partition(account).key(format!("{}{id}", listing_prefix(app_id, audience)))
}

fn message_prefix(conversation: &str) -> String {
    format!("m#{conversation}#")
}

fn message_key(account: &AccountId, conversation: &str, id: &str) -> Key {
    partition(account).key(format!("{}{id}", message_prefix(conversation)))
}

fn index_key(account: &AccountId, message: &str) -> Key {
    partition(account).key(format!("i#{message}"))
}

fn step_prefix(message: &str) -> String {
    format!("s#{message}#")
}

fn parse<T: DeserializeOwned>(item: &Item) -> Result<T, ConversationError> {
    T::deserialize(&item.body).map_err(|_| ConversationError::Corrupt(item.key.sk().to_owned()))
}

fn body<T: Serialize>(record: &T) -> Result<Value, TableError> {
    serde_json::to_value(record).map_err(|error| TableError::Invalid(error.to_string()))
}
