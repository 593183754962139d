//! `annotations` of a tool: what a call may do to the world. All four are stated, never guessed: approval
//! policies rest on them.

use super::fields::Cursor;
use super::model::Annotations;
use crate::diagnostic::Problems;

const KEYS: &[&str] = &["read_only", "destructive", "idempotent", "open_world"];

pub(super) fn read(cursor: Cursor<'_>, problems: &mut Problems) -> Option<Annotations> {
    let fields = cursor.fields("the tool's annotations", KEYS, problems)?;
    let mut flag = |key: &str| fields.required(key, problems)?.boolean(&format!("`{key}`"), problems);
    let (read_only, destructive) = (flag("read_only"), flag("destructive"));
    let (idempotent, open_world) = (flag("idempotent"), flag("open_world"));
    let annotations = Annotations {
        read_only: read_only?,
        destructive: destructive?,
        idempotent: idempotent?,
        open_world: open_world?,
    };
    if annotations.read_only && annotations.destructive {
        problems
            .at(&cursor.place(), "a tool cannot be both `read_only` and `destructive`")
            .help("`read_only` says that it changes nothing, `destructive` that it may delete or overwrite");
    }
    Some(annotations)
}
