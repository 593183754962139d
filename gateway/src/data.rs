//! The data directory: who holds it, and the admin key in it.

use anyhow::{Context as _, bail};
use apps::{
    accounts::install,
    keys::{self, KeyError, NewKey},
};
use boot::Services;
use domain::{AccountId, Role};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// A directory that holds everything of one installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir(PathBuf);

/// What the first start made, or a later one found.
#[derive(Debug)]
pub struct FirstStart {
    /// The first account.
    pub account: AccountId,
    /// Its admin key.
    pub admin_key: SecretString,
    /// It was made just now.
    pub is_new: bool,
}

/// The server that holds a directory, as it wrote itself down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Where it listens.
    pub url: String,
    /// Its process.
    pub pid: u32,
}

/// The lock of a directory; it is given back when this is dropped, or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    holder: PathBuf,
}

impl DataDir {
    /// A directory, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file of the admin key.
    pub fn admin_key_path(&self) -> PathBuf {
        self.0.join("admin.key")
    }

    /// Makes the directory, for its owner alone, if it is not there.
    pub fn create(&self) -> anyhow::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0).with_context(|| {
            format!("the data directory {} cannot be made: give another with --data", self.0.display())
        })
    }

    /// Takes the directory for a server. A second server is told who holds it.
    pub fn lock(&self) -> anyhow::Result<Lock> {
        let path = self.0.join("serve.lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| format!("{} cannot be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file, holder: self.holder_path() }),
            Err(TryLockError::WouldBlock) => bail!("{}", self.held_message()),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("{} cannot be locked", path.display()))
            }
        }
    }

    /// The server that holds the directory now.
    pub fn holder(&self) -> Option<Holder> {
        let file = File::open(self.0.join("serve.lock")).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => read_holder(&self.holder_path()),
            _ => None,
        }
    }

    fn held_message(&self) -> String {
        let by = match read_holder(&self.holder_path()) {
            Some(holder) => format!("the server at {} (process {})", holder.url, holder.pid),
            None => "another process".to_owned(),
        };
        format!(
            "the data directory {} is held by {by}: stop it, or give another directory with --data",
            self.0.display()
        )
    }

    fn holder_path(&self) -> PathBuf {
        self.0.join("serve.json")
    }

    /// Reads the admin key, if its file is there.
    pub fn admin_key(&self) -> anyhow::Result<Option<SecretString>> {
        let path = self.admin_key_path();
        match fs::read_to_string(&path) {
            Ok(text) if text.trim().is_empty() => {
                bail!("{} is empty: delete it, and the next start writes a new key", path.display())
            }
            Ok(text) => Ok(Some(text.trim().to_owned().into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }

    /// Writes a new admin key, unless another process did so first; gives the one that is there then.
    fn new_admin_key(&self) -> anyhow::Result<SecretString> {
        let key = keys::generate()?;
        let path = self.admin_key_path();
        let draft = self.0.join(format!("admin.key.{}", std::process::id()));
        write_private(&draft, key.expose_secret())
            .with_context(|| format!("{} cannot be written", draft.display()))?;
        // A link appears whole or not at all, and never in the place of another.
        let linked = fs::hard_link(&draft, &path);
        fs::remove_file(&draft).with_context(|| format!("{} cannot be removed", draft.display()))?;
        match linked {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.admin_key()?.context("the admin key was removed while it was read: try again")
            }
            Err(error) => Err(error).with_context(|| format!("{} cannot be written", path.display())),
        }
    }

    /// Whether others than the owner can read the admin key.
    pub fn admin_key_is_open(&self) -> Option<bool> {
        let mode = fs::metadata(self.admin_key_path()).ok()?.permissions().mode();
        Some(mode & 0o077 != 0)
    }
}

impl Lock {
    /// Writes down where the server listens, for commands to find it.
    pub fn announce(&self, url: &str) -> anyhow::Result<()> {
        let holder = Holder { url: url.to_owned(), pid: std::process::id() };
        let draft = self.holder.with_extension("json.new");
        write_private(&draft, &serde_json::to_string(&holder)?)
            .and_then(|()| fs::rename(&draft, &self.holder))
            .with_context(|| format!("{} cannot be written", self.holder.display()))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.holder);
    }
}

/// Makes account and admin key on the first start; on a later one, sees that the key still opens the store.
pub async fn first_start(
    services: &Services,
    data: &DataDir,
    given: Option<&SecretString>,
) -> anyhow::Result<FirstStart> {
    let stored = data.admin_key()?;
    let is_written = stored.is_some();
    let admin_key = match (given, stored) {
        (Some(given), _) => given.clone(),
        (None, Some(stored)) => stored,
        (None, None) => data.new_admin_key()?,
    };
    let (table, clock, keys) = (services.table.as_ref(), services.clock.as_ref(), services.keys.as_ref());
    let installation =
        install(table, clock, keys, &admin_key).await.context("the account cannot be set up")?;
    let account = installation.account;
    if !installation.is_new {
        match keys.verify(admin_key.expose_secret()).await {
            Ok(_) => {}
            // Whoever holds the directory is the admin: a key file that was lost is made anew.
            Err(KeyError::Unknown) if given.is_some() || !is_written => {
                let new = NewKey {
                    name: "admin key of the data directory".into(),
                    role: Role::Admin,
                    expires_at: None,
                    app_id: None,
                };
                keys.register(&account, new, &admin_key).await?;
            }
            Err(KeyError::Unknown) => bail!(
                "{} does not open this store: it was revoked, or belongs to another. Delete the file, and the next start writes a new key",
                data.admin_key_path().display()
            ),
            Err(error) => return Err(error).context("the admin key cannot be looked up"),
        }
    }
    Ok(FirstStart { account, admin_key, is_new: installation.is_new })
}

fn read_holder(path: &Path) -> Option<Holder> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
