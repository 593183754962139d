//! What is asked of an app, and why it may be refused.

use crate::{
    app::AppError,
    conversations::{Audience, ConversationError},
};
use domain::{
    AccountId, Violation,
    ports::{ModelError, RetrieveError, SignalError, TableError},
};
use std::time::Duration;

/// The longest question, in characters.
const MAX_QUERY: usize = 100_000;
/// The most pictures of one question.
const MAX_IMAGES: usize = 5;
/// The longest address of a picture; one that carries the picture itself may be longer.
const MAX_IMAGE_URL: usize = 4096;
const MAX_IMAGE_DATA: usize = 4 * 1024 * 1024;
const MAX_USER: usize = 128;

/// A question to an app.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Whose app it is.
    pub account: AccountId,
    /// The app.
    pub app_id: String,
    /// Which of its configs answers.
    pub config: ConfigChoice,
    /// Who is asking, and through what.
    pub audience: Audience,
    /// In which conversation.
    pub conversation: ConversationChoice,
    /// The question.
    pub query: String,
    /// Addresses of pictures that go with it.
    pub image_urls: Vec<String>,
    /// A person has approved what the agent may do in this run.
    pub approved: bool,
    /// The request it came with, for logs and audit.
    pub request_id: String,
    /// W3C trace context, to pass on.
    pub traceparent: Option<String>,
}

/// Which config of an app answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigChoice {
    /// What is being worked on.
    Draft,
    /// What channels use.
    Published,
}

/// In which conversation a question is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationChoice {
    /// A new one.
    New,
    /// The last one of this person; a new one where there is none.
    Latest,
    /// This one.
    Id(String),
}

/// Why a run does not begin.
#[derive(Debug, thiserror::Error)]
pub enum ChatRefusal {
    /// The question is not one that can be asked.
    #[error("the question cannot be asked: {}", first(.0))]
    Invalid(Vec<Violation>),
    /// What it is about does not exist.
    #[error("{0} was not found")]
    NotFound(String),
    /// The app cannot be used.
    #[error(transparent)]
    App(#[from] AppError),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The app has used up what it may use in a day.
    #[error("the app has used up its {what} of today ({limit}): try again tomorrow, or raise the limit")]
    DailyLimit {
        /// What is used up.
        what: &'static str,
        /// How much it was.
        limit: u64,
        /// When the next day begins.
        retry_after: Duration,
    },
    /// The datasets cannot be used.
    #[error(transparent)]
    Datasets(#[from] RetrieveError),
    /// The conversation cannot be read.
    #[error(transparent)]
    Conversation(ConversationError),
    /// The store failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The stop flag could not be set.
    #[error(transparent)]
    Signal(#[from] SignalError),
}

impl From<ConversationError> for ChatRefusal {
    fn from(error: ConversationError) -> Self {
        match error {
            ConversationError::NotFound(what) => Self::NotFound(what),
            other => Self::Conversation(other),
        }
    }
}

impl Ask {
    /// Refuses what no run should begin with.
    pub(super) fn check(&self) -> Result<(), ChatRefusal> {
        let mut violations = Vec::new();
        let mut wrong = |path: String, message: String| violations.push(Violation { path, message });
        let characters = self.query.trim().chars().count();
        if characters == 0 || characters > MAX_QUERY {
            wrong("/query".into(), format!("use 1 to {MAX_QUERY} characters"));
        }
        if self.image_urls.len() > MAX_IMAGES {
            wrong("/image_urls".into(), format!("at most {MAX_IMAGES} pictures"));
        }
        for (i, url) in self.image_urls.iter().enumerate() {
            if let Err(message) = check_image(url) {
                wrong(format!("/image_urls/{i}"), message);
            }
        }
        let legal = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | ':');
        let user = &self.audience.user;
        if user.is_empty() || user.len() > MAX_USER || !user.chars().all(legal) {
            let message = format!("use 1 to {MAX_USER} letters, digits, `-`, `_`, `.`, `@` or `:`");
            wrong("/end_user_id".into(), message);
        }
        if violations.is_empty() { Ok(()) } else { Err(ChatRefusal::Invalid(violations)) }
    }
}

fn check_image(url: &str) -> Result<(), String> {
    if url.starts_with("data:image/") {
        return if url.len() <= MAX_IMAGE_DATA {
            Ok(())
        } else {
            Err(format!("at most {MAX_IMAGE_DATA} bytes"))
        };
    }
    if url.len() > MAX_IMAGE_URL {
        return Err(format!("an address has at most {MAX_IMAGE_URL} bytes"));
    }
    match url::Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(()),
        _ => Err("use an http or https address, or a data address of a picture".into()),
    }
}

fn first(violations: &[Violation]) -> String {
    violations.first().map(|v| format!("at {}: {}", v.path, v.message)).unwrap_or_default()
}
