//! Apps, models and chats over a real store, a real cipher and a scripted model.

mod apps;
mod chats;
mod failures;
mod models;
mod support;
