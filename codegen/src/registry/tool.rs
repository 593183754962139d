//! `<tool>.yaml`, together with the `<tool>.rs` beside it.

use super::fields::Cursor;
use super::model::Tool;
use super::{annotations, param, rust};
use crate::diagnostic::Problems;
use crate::source::{At, Folder};

const KEYS: &[&str] = &["name", "label", "description", "annotations", "params"];

/// A description is sent to a model with each request: it must say something, and be short.
const DESCRIPTION: std::ops::RangeInclusive<usize> = 10..=1024;

pub(super) fn read(
    provider: &str,
    listed: &At<String>,
    folder: &mut Folder,
    problems: &mut Problems,
) -> Option<Tool> {
    let stem = format!("{provider}/{}", listed.value);
    if let Some(source) = folder.text(&format!("{stem}.rs"), Some(&listed.place), problems) {
        rust::check(&listed.value, &source, problems);
    }
    let (file, root) = folder.yaml(&format!("{stem}.yaml"), Some(&listed.place), problems)?;
    let fields = Cursor::new(&file, &root).fields("the tool", KEYS, problems)?;
    let name = fields.required("name", problems).and_then(|c| c.name("a tool's name", problems));
    if let Some(name) = &name
        && name.value != listed.value
    {
        problems
            .at(&name.place, format!("the tool is named `{}`, but its file `{}`", name.value, listed.value))
            .help("a tool's name is the name of its two files");
    }
    let label = fields.required("label", problems).and_then(|c| c.localized("label", problems));
    let about = fields.required("description", problems);
    let description = about.and_then(|c| c.localized("description", problems));
    if let (Some(cursor), Some(text)) = (about, &description)
        && !DESCRIPTION.contains(&text.en_us.chars().count())
    {
        let (least, most) = (DESCRIPTION.start(), DESCRIPTION.end());
        problems
            .at(&cursor.place(), format!("the English description must have {least} to {most} characters"))
            .help("it is what a model reads to decide whether to call the tool");
    }
    let annotations = fields.required("annotations", problems).and_then(|c| annotations::read(c, problems));
    let params = param::read(fields.optional("params"), problems);
    Some(Tool {
        name: listed.value.clone(),
        label: label?,
        description: description?,
        annotations: annotations?,
        params,
    })
}
