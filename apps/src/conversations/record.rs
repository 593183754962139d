//! What is stored of a conversation.

use domain::{Entry, ports::AgentEvent};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Whose conversations: an entry, and a person at that entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Audience {
    /// How they came in.
    pub entry: Entry,
    /// Who they are, as that entry knows them.
    pub user: String,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conversation {
    /// Its id.
    pub id: String,
    /// The app it is held with.
    pub app_id: String,
    /// The entry it came through.
    pub entry: Entry,
    /// The person, as the entry knows them.
    pub user: String,
    /// The beginning of the first question.
    pub name: String,
    /// When it began.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MessageStatus {
    /// It is going on.
    Running,
    /// It ended with an answer.
    Normal,
    /// Somebody stopped it.
    Stop,
    /// It failed.
    Error,
    /// Its time was over.
    Timeout,
}

/// A question, its run and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// Its id, which is also the id of its run.
    pub id: String,
    /// The conversation it belongs to.
    pub conversation_id: String,
    /// The app that answers.
    pub app_id: String,
    /// The version of the app; none for the draft.
    #[serde(default)]
    pub app_version: Option<u64>,
    /// What was asked.
    pub query: String,
    /// Pictures that went with it.
    #[serde(default)]
    pub image_urls: Vec<String>,
    /// What was answered, as far as it was shown.
    #[serde(default)]
    pub answer: String,
    /// How the run stands.
    pub status: MessageStatus,
    /// Why it failed.
    #[serde(default)]
    pub error: String,
    /// Tokens of all its turns.
    #[serde(default)]
    pub total_token_count: u64,
    /// What they cost, in the unit of the model's price.
    #[serde(default)]
    pub total_price: f64,
    /// How long the run took, in seconds.
    #[serde(default)]
    pub latency: f64,
    /// When it was asked.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// From when on a run that is still going on counts as failed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: Timestamp,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Step {
    /// Its place in the run, from 0.
    pub position: u32,
    /// What happened; the pieces of one text joined.
    #[serde(flatten)]
    pub event: AgentEvent,
    /// When it was over.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
}

impl Conversation {
    /// Whether it is of this app and this person.
    pub fn belongs_to(&self, app_id: &str, audience: &Audience) -> bool {
        self.app_id == app_id && self.entry == audience.entry && self.user == audience.user
    }
}

impl Message {
    /// The message as it stands at `now`: a run that nobody ended has failed.
    pub(super) fn at(mut self, now: Timestamp) -> Self {
        if self.status == MessageStatus::Running && self.until < now {
            self.status = MessageStatus::Error;
            "the run was interrupted: its process ended before it did".clone_into(&mut self.error);
        }
        self
    }
}
