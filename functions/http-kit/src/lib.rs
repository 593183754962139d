//! What every HTTP function shares: who is asking, what a refusal looks like, how a request is followed.
//!
//! - [`stack`] puts the layers around a router: request id, one log line per request, problem documents,
//!   caught panics, authentication, body limit. The gateway and every function use this one.
//! - [`Principal`], [`RequestId`], [`JsonBody`] and [`ListQuery`] are what handlers take.
//! - [`ApiError`] is what they refuse with; it alone knows which error of ours is which HTTP status.
//!
//! Functions depend on this crate; it depends on `domain` and on `apps` for the meaning of a key. It knows no
//! route, no adapter and no Lambda.

mod apps_error;
mod auth;
mod body;
mod context;
mod error;
mod list;
mod logging;
mod output;
mod principal;
mod problem;
mod request_id;
mod sse;
mod stack;
mod trace;

pub use auth::PUBLIC_ROUTES;
pub use body::{JsonBody, MAX_BODY_BYTES};
pub use context::{CancelOnDrop, call_context};
pub use error::ApiError;
pub use list::{List, ListQuery, MAX_LIMIT};
pub use logging::{LogFormat, init_logging};
pub use output::ToolOutputBody;
pub use principal::Principal;
pub use problem::{ProblemDocument, Refusals};
pub use request_id::RequestId;
pub use sse::event_stream;
pub use stack::stack;

pub use http::StatusCode;
