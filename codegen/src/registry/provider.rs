//! `providers.yaml` and the folder of each provider.

use super::fields::{self, Cursor};
use super::model::{Category, Icon, Provider};
use super::{ASSETS, CATEGORIES, POSITIONS, PROVIDERS, SHARED, is_provider, param, tool, unlisted};
use crate::diagnostic::Problems;
use crate::names;
use crate::source::{At, Folder, Place};

const KEYS: &[&str] =
    &["name", "label", "description", "icon", "background", "category", "available", "credentials"];

/// The kinds of picture a browser shows.
const ICON_TYPES: [(&str, &str); 4] =
    [("svg", "image/svg+xml"), ("png", "image/png"), ("jpg", "image/jpeg"), ("webp", "image/webp")];

pub(super) fn read(folder: &mut Folder, categories: &[Category], problems: &mut Problems) -> Vec<Provider> {
    let Some((file, root)) = folder.yaml(PROVIDERS, None, problems) else {
        return Vec::new();
    };
    let items = Cursor::new(&file, &root).list("the file", problems);
    let mut listed = Vec::new();
    let mut providers = Vec::new();
    for item in items {
        let Some(fields) = item.fields("a provider", KEYS, problems) else {
            continue;
        };
        let Some(name) =
            fields.required("name", problems).and_then(|c| c.name("a provider's name", problems))
        else {
            continue;
        };
        listed.push(name.clone());
        providers.extend(provider(name, &fields, folder, categories, problems));
    }
    fields::unique("the provider", &listed, problems);
    let known = || listed.iter().map(|name| name.value.as_str());
    for (name, is_folder) in folder.names("") {
        if is_folder && is_provider(folder, &name) && !known().any(|known| known == name) {
            unlisted(&Place::whole(&file), &name, "the provider", &name, known(), problems);
        }
    }
    providers
}

fn provider(
    name: At<String>,
    fields: &fields::Fields<'_>,
    folder: &mut Folder,
    categories: &[Category],
    problems: &mut Problems,
) -> Option<Provider> {
    let label = fields.required("label", problems).and_then(|c| c.localized("label", problems));
    let description =
        fields.required("description", problems).and_then(|c| c.localized("description", problems));
    let icon = fields.required("icon", problems).and_then(|c| icon(c, &name.value, folder, problems));
    let background = fields.required("background", problems).and_then(|c| colour(c, problems));
    let category = fields.required("category", problems).and_then(|c| c.text("the category", problems));
    if let Some(category) = &category {
        check_category(category, categories, problems);
    }
    let available = fields.optional("available").map_or(Some(true), |c| c.boolean("`available`", problems));
    let credentials = param::read_credentials(fields.optional("credentials"), problems);
    let tools = tools(&name, folder, problems);
    Some(Provider {
        label: label?,
        description: description?,
        icon: icon?,
        background: background?,
        category: category?.value,
        available: available?,
        credentials,
        shared: folder.has(&format!("{}/{SHARED}/mod.rs", name.value)),
        tools,
        name,
    })
}

fn icon(cursor: Cursor<'_>, provider: &str, folder: &mut Folder, problems: &mut Problems) -> Option<Icon> {
    let icon = cursor.text("the icon", problems)?;
    let path = format!("{provider}/{ASSETS}/{}", icon.value);
    if !folder.has(&path) {
        problems
            .at(&icon.place, format!("the file `{path}` is missing"))
            .label("asked for here")
            .help(format!("put the provider's icon into `{provider}/{ASSETS}/`"));
        return None;
    }
    let extension = icon.value.rsplit('.').next().unwrap_or_default();
    let Some((_, media_type)) = ICON_TYPES.iter().find(|(known, _)| *known == extension) else {
        problems
            .at(&icon.place, format!("`{}` is not a kind of icon that is known", icon.value))
            .help(format!("icons end in {}", names::list(ICON_TYPES.iter().map(|(known, _)| *known))));
        return None;
    };
    Some(Icon { path, media_type })
}

fn colour(cursor: Cursor<'_>, problems: &mut Problems) -> Option<String> {
    let text = cursor.text("the background", problems)?;
    let digits = text.value.strip_prefix('#').unwrap_or_default();
    if digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Some(text.value);
    }
    problems
        .at(&text.place, format!("`{}` is not a colour", text.value))
        .help("write six hexadecimal digits in quotes, for example \"#E8F0FE\"");
    None
}

fn check_category(category: &At<String>, categories: &[Category], problems: &mut Problems) {
    let known = || categories.iter().map(|known| known.name.value.as_str());
    if !known().any(|known| known == category.value) {
        problems
            .at(&category.place, format!("the category `{}` is not in `{CATEGORIES}`", category.value))
            .help_if(names::suggestion(&category.value, known()))
            .help(format!("the categories are {}", names::list(known())));
    }
}

/// The tools in the order of `positions.yaml`, and a complaint about every file that belongs to none.
fn tools(provider: &At<String>, folder: &mut Folder, problems: &mut Problems) -> Vec<super::model::Tool> {
    let path = format!("{}/{POSITIONS}", provider.value);
    let Some((file, root)) = folder.yaml(&path, Some(&provider.place), problems) else {
        return Vec::new();
    };
    let cursor = Cursor::new(&file, &root);
    let items = cursor.list("the file", problems);
    if items.is_empty() {
        problems.at(&Place::whole(&file), format!("the provider `{}` lists no tool", provider.value)).help(
            "write one tool's name a line, as `- current_time`; a tool not to be shown is hidden by `available: false`",
        );
    }
    let listed: Vec<_> = items.into_iter().filter_map(|item| item.name("a tool's name", problems)).collect();
    fields::unique("the tool", &listed, problems);
    let tools =
        listed.iter().filter_map(|name| tool::read(&provider.value, name, folder, problems)).collect();
    check_folder(&provider.value, &Place::whole(&file), &listed, folder, problems);
    tools
}

fn check_folder(
    provider: &str,
    list: &Place,
    listed: &[At<String>],
    folder: &mut Folder,
    problems: &mut Problems,
) {
    let known = || listed.iter().map(|name| name.value.as_str());
    for (name, is_folder) in folder.names(provider) {
        let path = format!("{provider}/{name}");
        if name == POSITIONS || (is_folder && (name == ASSETS || name == SHARED)) {
            continue;
        }
        match name.rsplit_once('.') {
            Some((tool, "yaml" | "rs")) if known().any(|known| known == tool) => {}
            Some((tool, "yaml" | "rs")) => unlisted(list, &path, "the tool", tool, known(), problems),
            _ => {
                problems.at(list, format!("`{path}` belongs to no tool")).help(format!(
                    "data belongs into `{provider}/{ASSETS}/`, shared code into `{provider}/{SHARED}/`"
                ));
            }
        }
    }
}
