//! Files of a registry with their text, and places in them. Knows nothing of what the text means.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::Problems;
use crate::yaml::{self, Node};

/// A file that was read, under the name shown to people (relative to the registry's folder).
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A stretch of a file.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) file: Arc<SourceFile>,
    pub(crate) span: Range<usize>,
}

impl Place {
    /// The first line of a file, for what concerns the file as a whole.
    pub(crate) fn whole(file: &Arc<SourceFile>) -> Self {
        let end = file.text.find('\n').unwrap_or(file.text.len());
        Self { file: Arc::clone(file), span: 0..end }
    }
}

/// A value together with the place it was written at.
#[derive(Debug, Clone)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// Reads files below one folder, and remembers which.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    read: Vec<PathBuf>,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), read: Vec::new() }
    }

    /// The file's text; a missing or unreadable file is reported against `because`, the place that asked for it.
    pub(crate) fn text(
        &mut self,
        name: &str,
        because: Option<&Place>,
        problems: &mut Problems,
    ) -> Option<Arc<SourceFile>> {
        let path = self.root.join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                self.read.push(path);
                Some(Arc::new(SourceFile { name: name.to_owned(), text }))
            }
            Err(error) => {
                let message = if error.kind() == std::io::ErrorKind::NotFound {
                    format!("the file `{name}` is missing")
                } else {
                    format!("cannot read the file `{name}`: {error}")
                };
                match because {
                    Some(place) => problems
                        .at(place, message)
                        .label("asked for here")
                        .help(format!("create `{name}`, or remove what asks for it")),
                    None => problems.file(name, message),
                };
                None
            }
        }
    }

    /// A YAML file and its tree; what is wrong with it as YAML is reported.
    pub(crate) fn yaml(
        &mut self,
        name: &str,
        because: Option<&Place>,
        problems: &mut Problems,
    ) -> Option<(Arc<SourceFile>, Node)> {
        let file = self.text(name, because, problems)?;
        match yaml::parse(&file.text) {
            Ok(node) => Some((file, node)),
            Err(error) => {
                problems.at(&Place { file: Arc::clone(&file), span: error.span }, error.message);
                None
            }
        }
    }

    /// Whether a file exists; one that does is remembered as an input.
    pub(crate) fn has(&mut self, name: &str) -> bool {
        let path = self.root.join(name);
        let found = path.is_file();
        if found {
            self.read.push(path);
        }
        found
    }

    /// The sorted names in a folder: `(name, is a folder)`. Hidden names are left out; a folder that cannot
    /// be listed has no names (whoever needs a file of it reports that file).
    pub(crate) fn names(&self, folder: &str) -> Vec<(String, bool)> {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .flatten()
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()))
            .filter(|(name, _)| !name.starts_with('.'))
            .collect();
        names.sort();
        names
    }

    /// Every file read so far.
    pub(crate) fn into_read(self) -> Vec<PathBuf> {
        let mut read = self.read;
        read.sort();
        read.dedup();
        read
    }
}
