//! The key file: one line of base64, 32 bytes, for its owner's eyes only.

use crate::KEY_BYTES;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::ports::CipherError;
use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};
use zeroize::Zeroizing;

pub(crate) type MasterKey = Zeroizing<[u8; KEY_BYTES]>;

/// More than a key file ever has.
const MAX_FILE_BYTES: u64 = 1024;

/// Reads a key file that must be there.
pub(crate) fn read(path: &Path) -> Result<MasterKey, CipherError> {
    let file = fs::File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            unusable(path, "is missing: put back the key file that the stored secrets were sealed with")
        }
        _ => unusable(path, &format!("cannot be read ({error}): make it readable for this user")),
    })?;
    check_mode(path, &file)?;
    let mut text = Zeroizing::new(String::new());
    file.take(MAX_FILE_BYTES)
        .read_to_string(&mut text)
        .map_err(|_| corrupt(path, "it is not a line of text"))?;
    decode(path, text.trim())
}

/// Reads a key file, making it first when it is absent. Of several processes that make it, one wins and all
/// read the same key.
pub(crate) fn read_or_create(path: &Path) -> Result<MasterKey, CipherError> {
    if !path.exists() {
        create(path).map_err(|error| {
            unusable(path, &format!("cannot be made ({error}): its directory must be writable for this user"))
        })?;
    }
    read(path)
}

fn decode(path: &Path, text: &str) -> Result<MasterKey, CipherError> {
    let bytes = STANDARD.decode(text).map(Zeroizing::new).map_err(|_| corrupt(path, "it is not base64"))?;
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    if bytes.len() != KEY_BYTES {
        return Err(corrupt(path, &format!("it holds {} bytes instead of {KEY_BYTES}", bytes.len())));
    }
    key.copy_from_slice(&bytes);
    Ok(key)
}

/// Writes a new key beside `path` and links it there whole: a reader never sees half a key, and a key that
/// is there already is never replaced.
fn create(path: &Path) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !directory.exists() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory)?;
    }
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    let mut suffix = [0; 8];
    getrandom::fill(&mut *key).map_err(io::Error::other)?;
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let draft = directory.join(format!(".key-{:016x}", u64::from_be_bytes(suffix)));
    let written = write_new(&draft, &key).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&draft);
    written?;
    removed?;
    fs::File::open(directory)?.sync_all()
}

fn write_new(path: &Path, key: &[u8; KEY_BYTES]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let mut line = Zeroizing::new(STANDARD.encode(key));
    line.push('\n');
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

#[cfg(unix)]
fn check_mode(path: &Path, file: &fs::File) -> Result<(), CipherError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata =
        file.metadata().map_err(|error| unusable(path, &format!("cannot be examined ({error})")))?;
    if !metadata.is_file() {
        return Err(unusable(path, "is not a file: name the key file itself"));
    }
    match metadata.permissions().mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(unusable(
            path,
            &format!(
                "may be read or written by other users (mode {mode:03o}): run `chmod 600` on it, and replace the secrets if others could see it"
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_mode(_path: &Path, _file: &fs::File) -> Result<(), CipherError> {
    Ok(())
}

fn corrupt(path: &Path, what: &str) -> CipherError {
    unusable(
        path,
        &format!(
            "is not a key file ({what}): put back the one that the stored secrets were sealed with; only if there are none, move it away and a new one is made"
        ),
    )
}

fn unusable(path: &Path, what: &str) -> CipherError {
    CipherError::KeyUnusable(format!("{} {what}", path.display()))
}
