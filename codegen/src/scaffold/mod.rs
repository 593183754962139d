//! `tools new PROVIDER/TOOL`: writes the two files and the line that make a tool, and for a new provider its
//! entry, its list and an icon. What it writes compiles and passes its own test as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::names;
use crate::registry::{ASSETS, CATEGORIES, POSITIONS, PROVIDERS};
use crate::yaml::{self, Node, Value};

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// The argument is not two names.
    #[error("`{0}` is not of the form PROVIDER/TOOL: give two names, for example `weather/forecast`")]
    Form(String),
    /// One of the names cannot be used.
    #[error("`{name}` cannot be a name: {objection}. Use snake_case, for example `current_time`")]
    Name {
        /// The name given.
        name: String,
        /// What is wrong with it.
        objection: String,
    },
    /// Something by that name is there.
    #[error("`{0}` exists already, and is left as it is: choose another name")]
    Exists(String),
    /// The folder is no registry, or a file of it cannot be read as YAML.
    #[error("`{file}` cannot be extended: {reason}")]
    Registry {
        /// The file of the registry.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system refused.
    #[error("cannot write `{file}`: {cause}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// Adds the tool `name` (`PROVIDER/TOOL`) to the registry in `folder`; gives the files written or extended.
///
/// # Errors
/// Nothing is written when a name is unusable, or anything of it exists.
pub fn new_tool(folder: &Path, name: &str) -> Result<Vec<PathBuf>, ScaffoldError> {
    let (provider, tool) = split(name)?;
    let changes = plan(folder, provider, tool)?;
    for change in &changes {
        change.apply(folder)?;
    }
    Ok(changes.into_iter().map(|change| folder.join(change.file)).collect())
}

/// The text that a file will have.
struct Change {
    file: String,
    text: String,
}

impl Change {
    fn apply(&self, folder: &Path) -> Result<(), ScaffoldError> {
        let path = folder.join(&self.file);
        let write = || {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &self.text)
        };
        write().map_err(|cause| ScaffoldError::Io { file: self.file.clone(), cause })
    }
}

fn split(name: &str) -> Result<(&str, &str), ScaffoldError> {
    let (provider, tool) = name.split_once('/').ok_or_else(|| ScaffoldError::Form(name.to_owned()))?;
    for part in [provider, tool] {
        if let Some(objection) = names::objection(part) {
            return Err(ScaffoldError::Name { name: part.to_owned(), objection });
        }
    }
    Ok((provider, tool))
}

/// Every change, made in memory first: a refusal leaves the folder untouched.
fn plan(folder: &Path, provider: &str, tool: &str) -> Result<Vec<Change>, ScaffoldError> {
    let (providers_text, providers) = read(folder, PROVIDERS)?;
    let fill = |template: &str| {
        template
            .replace("{provider}", provider)
            .replace("{tool}", tool)
            .replace("{title}", &names::title(tool))
            .replace("{provider_title}", &names::title(provider))
            .replace("{Type}", &names::type_name(tool))
    };
    let files = [
        (format!("{provider}/{tool}.yaml"), fill(include_str!("template/tool.yaml.txt"))),
        (format!("{provider}/{tool}.rs"), fill(include_str!("template/tool.rs.txt"))),
    ];
    let mut changes: Vec<_> = files.into_iter().map(|(file, text)| Change { file, text }).collect();
    let positions = format!("{provider}/{POSITIONS}");
    if listed(&providers, "name").any(|known| known == provider) {
        let (text, list) = read(folder, &positions)?;
        if texts(&list).any(|known| known == tool) {
            return Err(ScaffoldError::Exists(format!("{provider}/{tool}")));
        }
        let line = format!("- {tool}\n");
        refuse_existing(folder, &changes)?;
        changes.push(Change { text: append(&text, &list, &line), file: positions });
        return Ok(changes);
    }
    let category = category(folder)?;
    let entry = fill(include_str!("template/provider.yaml.txt")).replace("{category}", &category);
    changes.push(Change { file: positions, text: format!("- {tool}\n") });
    let icon = include_str!("template/icon.svg.txt").to_owned();
    changes.push(Change { file: format!("{provider}/{ASSETS}/icon.svg"), text: icon });
    refuse_existing(folder, &changes)?;
    changes.push(Change { file: PROVIDERS.to_owned(), text: append(&providers_text, &providers, &entry) });
    Ok(changes)
}

fn refuse_existing(folder: &Path, changes: &[Change]) -> Result<(), ScaffoldError> {
    let existing = changes.iter().find(|change| folder.join(&change.file).exists());
    existing.map_or(Ok(()), |change| Err(ScaffoldError::Exists(change.file.clone())))
}

/// A category for a new provider: `other` where there is one, else the last.
fn category(folder: &Path) -> Result<String, ScaffoldError> {
    let (_, categories) = read(folder, CATEGORIES)?;
    let names: Vec<_> = listed(&categories, "category").collect();
    let chosen = names.iter().find(|name| **name == "other").or(names.last());
    chosen.map(|name| (*name).to_owned()).ok_or_else(|| ScaffoldError::Registry {
        file: CATEGORIES.to_owned(),
        reason: "it lists no category, and a provider needs one".to_owned(),
    })
}

fn read(folder: &Path, file: &str) -> Result<(String, Node), ScaffoldError> {
    let failed = |reason: String| ScaffoldError::Registry { file: file.to_owned(), reason };
    let text = fs::read_to_string(folder.join(file)).map_err(|error| failed(error.to_string()))?;
    let node = yaml::parse(&text).map_err(|error| failed(error.message))?;
    match &node.value {
        Value::List(items) if !items.is_empty() && text[node.span.start..].starts_with('[') => {
            Err(failed("its list is in brackets: write one item a line, each after `- `".to_owned()))
        }
        Value::List(_) | Value::Null => Ok((text, node)),
        other => Err(failed(format!("it holds {}, but a list is expected", other.kind()))),
    }
}

/// `text` with one more item; a list without items may be written as `[]`.
fn append(text: &str, list: &Node, item: &str) -> String {
    let is_empty = matches!(&list.value, Value::List(items) if items.is_empty());
    let text = if is_empty { text.replacen("[]", "", 1) } else { text.to_owned() };
    let text = text.trim_end();
    if text.is_empty() { item.to_owned() } else { format!("{text}\n{item}") }
}

fn items(list: &Node) -> &[Node] {
    if let Value::List(items) = &list.value { items } else { &[] }
}

fn texts(list: &Node) -> impl Iterator<Item = &str> {
    items(list).iter().filter_map(as_text)
}

/// The value of `key` in each item.
fn listed<'a>(list: &'a Node, key: &'a str) -> impl Iterator<Item = &'a str> {
    let maps = items(list)
        .iter()
        .filter_map(|item| if let Value::Map(map) = &item.value { Some(map) } else { None });
    maps.flat_map(move |map| map.iter().filter(move |entry| entry.key == key))
        .filter_map(|entry| as_text(&entry.node))
}

fn as_text(node: &Node) -> Option<&str> {
    if let Value::Text(text) = &node.value { Some(text) } else { None }
}
