//! From a request to the context of a call.

use crate::{principal::Principal, request_id::RequestId};
use domain::{CallContext, Entry};
use std::time::Duration;
use tokio_util::sync::DropGuard;

/// The context of a call that this request makes, which must end within `timeout`.
///
/// Hold a [`CancelOnDrop`] of it for as long as the request is served.
pub fn call_context(
    principal: &Principal,
    request_id: &RequestId,
    entry: Entry,
    timeout: Duration,
) -> CallContext {
    CallContext::new(principal.account.clone(), entry, request_id.0.clone(), timeout)
}

/// Cancels a call when it is dropped: a client that goes away drops its request, and with it this.
#[derive(Debug)]
pub struct CancelOnDrop {
    _guard: DropGuard,
}

impl CancelOnDrop {
    /// Guards a call.
    pub fn of(cx: &CallContext) -> Self {
        Self { _guard: cx.cancel.clone().drop_guard() }
    }
}
