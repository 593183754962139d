//! Reads a registry folder and checks that all of it agrees.
//!
//! One file per kind of registry file; [`model`] is what comes out. Knows nothing of the emitted code.

mod annotations;
mod category;
mod fields;
pub(crate) mod model;
mod param;
mod provider;
mod rust;
mod select;
mod tool;

use std::path::{Path, PathBuf};

use crate::diagnostic::{Problems, Report};
use crate::names;
use crate::source::{Folder, Place};
use model::Registry;

/// The file that lists the providers.
pub(crate) const PROVIDERS: &str = "providers.yaml";
/// The file that lists the categories.
pub(crate) const CATEGORIES: &str = "categories.yaml";
/// The file in a provider's folder that lists its tools, in their order.
pub(crate) const POSITIONS: &str = "positions.yaml";
/// The folder of the categories' icons.
pub(crate) const ICONS: &str = "icons";
/// The folder in a provider's folder for its icon and other data.
pub(crate) const ASSETS: &str = "_asset";
/// The folder in a provider's folder for code that its tools share.
pub(crate) const SHARED: &str = "_shared";

/// The registry in `root`, and every file it was read from.
pub(crate) fn read(root: &Path) -> Result<(Registry, Vec<PathBuf>), Report> {
    let mut problems = Problems::default();
    let mut folder = Folder::new(root);
    let categories = category::read(&mut folder, &mut problems);
    let providers = provider::read(&mut folder, &categories, &mut problems);
    let registry = Registry { categories, providers };
    problems.finish((registry, folder.into_read()))
}

/// What must be watched for changes even when reading fails: the lists and every folder of the registry.
pub(crate) fn watched(root: &Path) -> Vec<PathBuf> {
    let folder = Folder::new(root);
    let mut watched: Vec<_> = [PROVIDERS, CATEGORIES, ICONS].map(|name| root.join(name)).into();
    let folders = folder.names("").into_iter().filter(|(_, is_folder)| *is_folder);
    watched.extend(
        folders.map(|(name, _)| name).filter(|name| is_provider(&folder, name)).map(|n| root.join(n)),
    );
    watched
}

/// A folder is a provider's when it holds what only a provider's folder holds.
fn is_provider(folder: &Folder, name: &str) -> bool {
    folder.names(name).iter().any(|(inner, is_folder)| (*is_folder && inner == ASSETS) || inner == POSITIONS)
}

/// Reports a file or folder that exists but is not listed.
fn unlisted<'a>(
    list: &Place,
    path: &str,
    what: &str,
    name: &str,
    listed: impl IntoIterator<Item = &'a str>,
    problems: &mut Problems,
) {
    let file = list.file.name.clone();
    problems
        .at(list, format!("`{path}` exists, but {what} `{name}` is not listed in `{file}`"))
        .help_if(names::suggestion(name, listed))
        .help(format!("add `{name}` to `{file}`, or remove `{path}`"));
}
