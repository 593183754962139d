//! All that a run needs, read side by side before its first event.

use super::{Ask, ChatRefusal, ChatService, ConfigChoice, ConversationChoice};
use crate::{
    app::AppConfig,
    conversations::{Conversation, Message, MessageStatus},
};
use domain::{
    CallContext,
    ports::{AgentRequest, ChatMessage, ChatRole},
};
use jiff::SignedDuration;
use std::{sync::Arc, time::Duration};

/// How long after its deadline a run that nobody ended counts as failed.
const LEEWAY: SignedDuration = SignedDuration::from_secs(60);
/// The part of a model's context that history may take.
const HISTORY_PART: u64 = 2;
/// How much of the first question names a conversation, in characters.
const NAME: usize = 50;

/// A run that may begin.
pub(super) struct Prepared {
    pub(super) request: AgentRequest,
    pub(super) conversation: Conversation,
    pub(super) is_new: bool,
    pub(super) message: Message,
}

impl ChatService {
    pub(super) async fn prepare(&self, ask: Ask) -> Result<Prepared, ChatRefusal> {
        ask.check()?;
        let (config, version) = self.config(&ask).await?;
        let references = self.apps.references();
        if config.model.id.is_empty() {
            let message = "the app has no model: set `model.id` in its draft config";
            return Err(crate::app::AppError::invalid("/model/id", message).into());
        }
        let ((conversation, is_new, rounds), tokens_left, model, toolset) = tokio::try_join!(
            self.conversation(&ask, config.dialog_round),
            self.quota.take(&ask.account, &ask.app_id, &config.limits),
            async {
                references.models().model(&ask.account, &config.model.id).await.map_err(ChatRefusal::from)
            },
            async { references.toolset(&ask.account, &config).await.map_err(ChatRefusal::from) },
        )?;
        for problem in toolset.problems() {
            tracing::warn!(app = %ask.app_id, tool = %problem.reference, code = problem.code.as_str(), "a tool of an app is left out");
        }
        let timeout = Duration::from_secs(config.limits.timeout_s);
        let message = self.message(&ask, &conversation, version, timeout);
        let mut cx =
            CallContext::new(ask.account.clone(), ask.audience.entry, ask.request_id.clone(), timeout);
        cx.app_id = Some(ask.app_id.clone());
        cx.approved = ask.approved;
        cx.traceparent = ask.traceparent;
        let budget = model.info.context_tokens / HISTORY_PART;
        let request = AgentRequest {
            cx,
            parameters: config.model.parameters.clone(),
            toolset: Arc::new(toolset),
            system: config.preset_prompt.clone(),
            history: history(rounds, budget),
            query: ask.query,
            image_urls: ask.image_urls,
            limits: config.agent_limits(tokens_left),
            review: config.review(),
            model,
        };
        Ok(Prepared { request, conversation, is_new, message })
    }

    async fn config(&self, ask: &Ask) -> Result<(Arc<AppConfig>, Option<u64>), ChatRefusal> {
        match ask.config {
            ConfigChoice::Draft => {
                Ok((Arc::new(self.apps.draft(&ask.account, &ask.app_id).await?.config), None))
            }
            ConfigChoice::Published => {
                let (_, version) = self.apps.published(&ask.account, &ask.app_id).await?;
                Ok((Arc::new(version.config.clone()), Some(version.version)))
            }
        }
    }

    /// The conversation, whether it is new, and its last rounds, newest first.
    async fn conversation(
        &self,
        ask: &Ask,
        rounds: u32,
    ) -> Result<(Conversation, bool, Vec<Message>), ChatRefusal> {
        let (account, app, audience) = (&ask.account, &ask.app_id, &ask.audience);
        let found = match &ask.conversation {
            ConversationChoice::New => None,
            ConversationChoice::Latest => self.conversations.latest(account, app, audience).await?,
            ConversationChoice::Id(id) => Some(self.conversations.get(account, app, audience, id).await?),
        };
        let Some(conversation) = found else {
            return Ok((self.new_conversation(ask), true, Vec::new()));
        };
        if rounds == 0 {
            return Ok((conversation, false, Vec::new()));
        }
        // Some more than are wanted, since rounds without an answer do not count.
        let limit = usize::try_from(rounds).unwrap_or(usize::MAX).saturating_mul(2).clamp(1, 200);
        let (mut messages, _) = self.conversations.messages(account, &conversation.id, limit, None).await?;
        messages.retain(|message| message.status == MessageStatus::Normal && !message.answer.is_empty());
        messages.truncate(usize::try_from(rounds).unwrap_or(usize::MAX));
        Ok((conversation, false, messages))
    }

    fn new_conversation(&self, ask: &Ask) -> Conversation {
        Conversation {
            id: format!("cv_{}", uuid::Uuid::now_v7().simple()),
            app_id: ask.app_id.clone(),
            entry: ask.audience.entry,
            user: ask.audience.user.clone(),
            name: ask.query.trim().chars().take(NAME).collect(),
            created_at: self.clock.now(),
        }
    }

    fn message(
        &self,
        ask: &Ask,
        conversation: &Conversation,
        app_version: Option<u64>,
        timeout: Duration,
    ) -> Message {
        let created_at = self.clock.now();
        let timeout = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
        let until = created_at.checked_add(timeout.saturating_add(LEEWAY)).unwrap_or(jiff::Timestamp::MAX);
        Message {
            id: format!("msg_{}", uuid::Uuid::now_v7().simple()),
            conversation_id: conversation.id.clone(),
            app_id: ask.app_id.clone(),
            app_version,
            query: ask.query.clone(),
            image_urls: ask.image_urls.clone(),
            answer: String::new(),
            status: MessageStatus::Running,
            error: String::new(),
            total_token_count: 0,
            total_price: 0.0,
            latency: 0.0,
            created_at,
            until,
        }
    }
}

/// The newest rounds that the budget holds, oldest first.
fn history(rounds: Vec<Message>, budget: u64) -> Vec<ChatMessage> {
    let mut left = budget;
    let mut kept = Vec::new();
    for round in rounds {
        let cost = tokens(&round.query) + tokens(&round.answer);
        let Some(rest) = left.checked_sub(cost) else {
            break;
        };
        left = rest;
        kept.push(round);
    }
    let pair = |round: Message| {
        [ChatMessage::text(ChatRole::User, round.query), ChatMessage::text(ChatRole::Assistant, round.answer)]
    };
    kept.into_iter().rev().flat_map(pair).collect()
}

/// About how many tokens a text takes: four ASCII characters to one, every other character one.
fn tokens(text: &str) -> u64 {
    let ascii = text.chars().filter(char::is_ascii).count() as u64;
    let other = text.chars().count() as u64 - ascii;
    ascii.div_ceil(4) + other
}
