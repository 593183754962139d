//! The narrow protocol: a JSON text with `server`, `description` and `paths`, get and post alone, parameters of
//! four types in five places. Every rule holds for the whole document, and excess keys are dropped.
//!
//! Neighbours: [`crate::compile`] tells a narrow document from a real OpenAPI document; what comes out of both
//! is the same [`crate::normal`] form. Rules are checked in the protocol's own order, and all violations are
//! told, so the first of them is the one that a reader of the protocol expects.

mod check;
mod lower;

pub use check::{NarrowCode, NarrowError, NarrowErrors};

use crate::compile::{Compiled, Selection};
use serde_json::{Map, Value};

/// Checks a document and compiles it.
pub(crate) fn compile(root: &Map<String, Value>, select: &Selection) -> Result<Compiled, NarrowErrors> {
    let checked = check::check(root)?;
    Ok(lower::lower(&checked, select))
}
