//! The function `debugger`: an app's draft, tried out by those who work on it.
//!
//! Handlers only translate; the chat service of the crate `apps` does the work, as it does for every channel.

mod chat;
mod history;

use apps::{chat::ChatService, conversations::Audience};
use domain::Entry;
use http_kit::Principal;
use utoipa_axum::{router::OpenApiRouter, routes};

/// What the handlers use.
#[derive(Clone, Debug)]
pub struct DebuggerState {
    /// Answers with apps.
    pub chat: ChatService,
}

/// The function's routes.
pub fn router(state: DebuggerState) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(history::conversations, chat::chat, history::delete))
        .routes(routes!(chat::stop))
        .routes(routes!(history::messages))
        .with_state(state)
}

/// All who work on an account's apps share their debug conversations.
fn audience(principal: &Principal) -> Audience {
    Audience { entry: Entry::Debugger, user: principal.account.to_string() }
}
