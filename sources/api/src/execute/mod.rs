//! From arguments to a request, and from an answer to a result.
//!
//! A request is written by the rules of [`percent`] and [`style`] into a path, a query, headers, cookies
//! ([`request`]) and a body ([`body`]); it is sent by [`send`] through the guard, and its answer is read by
//! [`response`]. Nothing here knows documents or the store; secrets arrive opened and leave only on the wire.

pub(crate) mod args;
mod body;
mod files;
pub(crate) mod headers;
mod multipart;
mod path;
mod percent;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod send;
mod style;
mod text;

pub(crate) use text::in_charset as decode_text;
