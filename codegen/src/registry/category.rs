//! `categories.yaml` and the folder of its icons.

use super::fields::{self, Cursor};
use super::model::Category;
use super::{CATEGORIES, ICONS};
use crate::diagnostic::Problems;
use crate::source::{Folder, Place};

pub(super) fn read(folder: &mut Folder, problems: &mut Problems) -> Vec<Category> {
    let Some((file, root)) = folder.yaml(CATEGORIES, None, problems) else {
        return Vec::new();
    };
    let items = Cursor::new(&file, &root).list("the file", problems);
    let categories: Vec<_> = items.into_iter().filter_map(|item| category(item, folder, problems)).collect();
    fields::unique("the category", categories.iter().map(|category| &category.name), problems);
    for (name, _) in folder.names(ICONS) {
        let path = format!("{ICONS}/{name}");
        if !root_names_icon(&categories, &path) {
            problems
                .at(
                    &Place::whole(&file),
                    format!("`{path}` exists, but no category in `{CATEGORIES}` uses it"),
                )
                .help("name it as a category's `icon`, or remove the file");
        }
    }
    categories
}

fn root_names_icon(categories: &[Category], path: &str) -> bool {
    categories.iter().any(|category| category.icon == path)
}

fn category(item: Cursor<'_>, folder: &mut Folder, problems: &mut Problems) -> Option<Category> {
    let fields = item.fields("a category", &["category", "name", "icon"], problems)?;
    let name = fields.required("category", problems).and_then(|c| c.name("a category", problems));
    let label = fields.required("name", problems).and_then(|c| c.localized("the category's name", problems));
    let icon = fields.required("icon", problems).and_then(|c| c.text("the category's icon", problems));
    let icon = icon?;
    let path = format!("{ICONS}/{}", icon.value);
    check_svg(&path, &icon.place, folder, problems);
    Some(Category { name: name?, label: label?, icon: path })
}

/// A category's icon is handed out as text, so it must be an SVG drawing.
fn check_svg(path: &str, because: &Place, folder: &mut Folder, problems: &mut Problems) {
    if let Some(file) = folder.text(path, Some(because), problems)
        && !file.text.contains("<svg")
    {
        problems
            .at(because, format!("`{path}` is not an SVG drawing"))
            .help("a category's icon is an SVG file");
    }
}
