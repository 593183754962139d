//! The one way from a document's text to tools: reads it, tells the front ends apart, compiles, selects.
//!
//! Neighbours: [`crate::narrow`] and [`crate::openapi`] compile; [`crate::normal`] is what comes out, with a
//! [`crate::report`] on every operation. Nothing here opens a connection or a file.

pub(crate) mod args;
pub(crate) mod guess;
pub(crate) mod names;
pub(crate) mod path;
pub(crate) mod policy;
mod read;
pub(crate) mod report_parts;
pub(crate) mod select;
pub(crate) mod text;

pub use read::MAX_DOCUMENT_BYTES;
pub use select::{Selection, SelectionError};

use crate::{
    narrow::{self, NarrowErrors},
    normal::Document,
    openapi,
    report::Report,
};
use serde_json::{Map, Value};

/// The stack that the deepest document which is read needs, with room to spare. Only what is used is taken.
const STACK: usize = 16 * 1024 * 1024;

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which operations to take; all by default.
    pub select: Selection,
}

/// A compiled document and the report on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// What can be called.
    pub document: Document,
    /// What became of every operation.
    pub report: Report,
}

/// Why nothing at all could be read of a document.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DocumentError {
    /// There is nothing in it.
    #[error("the document is empty")]
    Empty,
    /// It is too large to be looked at.
    #[error("the document has {0} bytes: at most {MAX_DOCUMENT_BYTES} are read")]
    TooLarge(usize),
    /// It is neither JSON nor YAML.
    #[error("the document is not readable as {format}: {message} at line {line}, column {column}")]
    Syntax {
        /// What it looks like.
        format: &'static str,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong there.
        message: String,
    },
    /// It is not an object.
    #[error("the document is {0}: an API document is an object")]
    NotAnObject(&'static str),
    /// It has neither `openapi` nor `swagger`, and is no narrow document either.
    #[error(
        "the document has neither `openapi` nor `swagger` at its top, and none of `server` and `paths` of the \
         narrow protocol"
    )]
    Unrecognised,
    /// A version that is not known.
    #[error("`{key}: {version}` is not supported: it may be Swagger 2.0, or OpenAPI 3.0, 3.1 or later 3.x")]
    Version {
        /// `openapi` or `swagger`.
        key: &'static str,
        /// What is there.
        version: String,
    },
    /// The system gave no thread to read it on.
    #[error("the document could not be read for want of a thread: {0}")]
    NoThread(String),
    /// It breaks rules of the narrow protocol.
    #[error(transparent)]
    Narrow(#[from] NarrowErrors),
}

/// Compiles a document. It is told apart by its top-level keys: `openapi`, `swagger`, else narrow.
///
/// Fails only when nothing at all can be read; whatever is wrong with an operation is in the report.
pub fn compile(text: &str, options: &Options) -> Result<Compiled, DocumentError> {
    // Parsers and the compiler recurse as deep as documents nest, which is more than a worker's stack holds.
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("compile".to_owned()).stack_size(STACK);
        match worker
            .spawn_scoped(scope, || compile_here(text, options))
            .map(std::thread::ScopedJoinHandle::join)
        {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(DocumentError::NoThread(error.to_string())),
        }
    })
}

fn compile_here(text: &str, options: &Options) -> Result<Compiled, DocumentError> {
    let read = read::read(text)?;
    let Value::Object(root) = read.value else {
        return Err(DocumentError::NotAnObject(text::kind_of(&read.value)));
    };
    let mut compiled = match family(&root)? {
        Family::OpenApi(dialect) => openapi::compile(Value::Object(root), dialect, &options.select),
        Family::Narrow => match read.not_json {
            None => narrow::compile(&root, &options.select)?,
            Some(not_json) if not_json.was_meant => return Err(not_json.error),
            Some(_) => return Err(NarrowErrors::not_json().into()),
        },
    };
    compiled.report.add_up();
    Ok(compiled)
}

enum Family {
    Narrow,
    OpenApi(crate::normal::Dialect),
}

fn family(root: &Map<String, Value>) -> Result<Family, DocumentError> {
    use crate::normal::Dialect;
    let unknown =
        |key, found: &Value| DocumentError::Version { key, version: text::trimmed(&text::plain(found), 40) };
    // YAML reads an unquoted `3.1` or `2.0` as a number.
    if let Some(found) = root.get("openapi") {
        let version = text::plain(found);
        return match version.trim() {
            v if v == "3" || v.starts_with("3.0") => Ok(Family::OpenApi(Dialect::OpenApi30)),
            v if v.starts_with("3.") => Ok(Family::OpenApi(Dialect::OpenApi31)),
            _ => Err(unknown("openapi", found)),
        };
    }
    if let Some(found) = root.get("swagger") {
        let version = text::plain(found);
        return match version.trim() {
            v if v == "2" || v.starts_with("2.0") => Ok(Family::OpenApi(Dialect::Swagger20)),
            _ => Err(unknown("swagger", found)),
        };
    }
    if root.contains_key("server") || root.contains_key("paths") {
        Ok(Family::Narrow)
    } else {
        Err(DocumentError::Unrecognised)
    }
}
