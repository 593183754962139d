//! Conversations: what was asked, what was answered, and each step in between, stored once.
//!
//! A message's record is written before its run begins and closed when it ends. One that nobody closed, because its
//! process died, is read as failed once its time is over: no run stays without an end.

mod record;
mod store;

pub use record::{Audience, Conversation, Message, MessageStatus, Step};
pub use store::{ConversationError, Conversations};
