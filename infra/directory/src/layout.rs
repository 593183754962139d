//! Where things lie: `blobs/{xx}/{hash of the key}`, drafts in `drafts/`, the key of the links in `link.key`.
//!
//! A file's name is a hash, so that no key can name another file, be too long for a file system, or stand
//! in the way of a key that begins like it. The key itself stands in the file.

use domain::ports::BlobError;
use sha2::{Digest as _, Sha256};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

#[derive(Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(crate) fn make(root: PathBuf) -> Result<Self, BlobError> {
        let layout = Self { root };
        for directory in [layout.blobs(), layout.drafts()] {
            make_private(&directory).map_err(|error| {
                BlobError::ReadOnly(format!(
                    "the directory {} cannot be made ({error}): name one where this user may make files",
                    directory.display()
                ))
            })?;
        }
        Ok(layout)
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    pub(crate) fn drafts(&self) -> PathBuf {
        self.root.join("drafts")
    }

    pub(crate) fn link_key(&self) -> PathBuf {
        self.root.join("link.key")
    }

    /// Where a blob lies.
    pub(crate) fn blob(&self, key: &str) -> PathBuf {
        let name = hex::encode(Sha256::digest(key));
        self.blobs().join(&name[..2]).join(name)
    }

    /// A path for a draft that nobody else uses.
    pub(crate) fn new_draft(&self) -> Result<PathBuf, BlobError> {
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(|e| BlobError::Failed(e.to_string().into()))?;
        Ok(self.drafts().join(hex::encode(name)))
    }

    /// What an error of the file system means to an operator.
    pub(crate) fn fault(&self, error: io::Error) -> BlobError {
        let root = self.root.display();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::ReadOnly(format!(
                "the disk or the quota under {root} is full: free space and try again"
            )),
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                BlobError::ReadOnly(format!("{root} is not writable for this user: {error}"))
            }
            _ => BlobError::Failed(Box::new(error)),
        }
    }
}

/// Makes a directory that only its owner enters.
pub(crate) fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Options for a new file that only its owner reads.
pub(crate) fn new_private_file() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
