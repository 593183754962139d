//! Tokens of links: what may be done with which blob until when, signed.
//!
//! `base64url(claims) . base64url(HMAC-SHA256)`. The signing key is random and lies beside the blobs; without
//! it every link that was given out ends, and nothing else is lost.

use crate::layout::{self, Layout};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::ports::BlobError;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::{
    fmt, fs,
    io::{self, Write as _},
    path::Path,
};

const KEY_BYTES: usize = 32;
/// Longer than any token.
const MAX_TOKEN_BYTES: usize = 4096;

/// Why a link does not work.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It was not made here, was altered, or is for another use.
    #[error("this link is not valid")]
    Invalid,
    /// Its time is over.
    #[error("this link has expired: ask for a new one")]
    Expired,
    /// The body that was being uploaded broke off.
    #[error("the upload broke off: send it again")]
    Interrupted(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The blob is gone, or could not be stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Use {
    #[serde(rename = "r")]
    Read,
    #[serde(rename = "w")]
    Write,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    #[serde(rename = "k")]
    pub(crate) key: String,
    #[serde(rename = "u")]
    usage: Use,
    /// The most bytes of an upload.
    #[serde(rename = "m")]
    pub(crate) max: u64,
    /// In milliseconds.
    #[serde(rename = "e")]
    expires: i64,
}

impl Claims {
    pub(crate) fn new(key: &str, usage: Use, max: u64, expires_at: Timestamp) -> Self {
        Self { key: key.to_owned(), usage, max, expires: expires_at.as_millisecond() }
    }

    pub(crate) fn expires_at(&self) -> Result<Timestamp, LinkError> {
        Timestamp::from_millisecond(self.expires).map_err(|_| LinkError::Invalid)
    }
}

/// Issues and reads tokens.
pub(crate) struct Tokens(Hmac<Sha256>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(..)")
    }
}

impl Tokens {
    /// The tokens of a directory, whose key is made when absent.
    pub(crate) fn of(layout: &Layout) -> Result<Self, BlobError> {
        let path = layout.link_key();
        if !path.exists() {
            make_key(layout, &path).map_err(|e| layout.fault(e))?;
        }
        let text = fs::read_to_string(&path).map_err(|e| layout.fault(e))?;
        let key = hex::decode(text.trim()).ok().filter(|key| key.len() == KEY_BYTES);
        let key = key.ok_or_else(|| {
            BlobError::Failed(
                format!(
                    "{} is not a key of {KEY_BYTES} bytes in hexadecimal: remove it; links given out so far end, and a new key is made",
                    path.display()
                )
                .into(),
            )
        })?;
        let mac = Hmac::new_from_slice(&key).map_err(|e| BlobError::Failed(e.to_string().into()))?;
        Ok(Self(mac))
    }

    pub(crate) fn issue(&self, claims: &Claims) -> Result<String, BlobError> {
        let claims = serde_json::to_vec(claims).map_err(|e| BlobError::Failed(Box::new(e)))?;
        let claims = URL_SAFE_NO_PAD.encode(claims);
        let signature = self.0.clone().chain_update(&claims).finalize().into_bytes();
        Ok(format!("{claims}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    pub(crate) fn read(&self, token: &str, usage: Use, now: Timestamp) -> Result<Claims, LinkError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(LinkError::Invalid);
        }
        let (claims, signature) = token.split_once('.').ok_or(LinkError::Invalid)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| LinkError::Invalid)?;
        let mac = self.0.clone().chain_update(claims);
        mac.verify_slice(&signature).map_err(|_| LinkError::Invalid)?;
        let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| LinkError::Invalid)?;
        let claims: Claims = serde_json::from_slice(&claims).map_err(|_| LinkError::Invalid)?;
        if claims.usage != usage {
            return Err(LinkError::Invalid);
        }
        if claims.expires <= now.as_millisecond() {
            return Err(LinkError::Expired);
        }
        Ok(claims)
    }
}

/// Writes a new key aside and links it to its place: a key that is there already is never replaced.
fn make_key(layout: &Layout, path: &Path) -> io::Result<()> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let draft = layout.new_draft().map_err(io::Error::other)?;
    let mut file = layout::new_private_file().open(&draft)?;
    file.write_all(hex::encode(key).as_bytes())?;
    file.sync_all()?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
