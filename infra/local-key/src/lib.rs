//! The [`Cipher`] port over a key file.
//!
//! A file of 32 random bytes, readable by its owner alone, is the master key. A data key per account and
//! kind is derived from it (HKDF-SHA256), and each value is sealed by AES-256-GCM under a random nonce, with
//! the scope as associated data. It knows the file and the ciphertext; never what a secret is for.

mod file;

use aes_gcm::{
    Aes256Gcm, KeyInit as _, Nonce,
    aead::{Aead as _, Payload},
};
use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use domain::ports::{Cipher, CipherError, Scope, Sealed};
use hkdf::Hkdf;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use std::{fmt, path::Path};
use zeroize::{Zeroize as _, Zeroizing};

/// Marks the form of a sealed text: base64 of nonce, ciphertext and tag.
const FORM: &str = "haft1:";
const NONCE_BYTES: usize = 12;
const KEY_BYTES: usize = 32;

/// A cipher whose master key is a file.
#[derive(Clone)]
pub struct LocalKeyCipher {
    master: Hkdf<Sha256>,
}

impl fmt::Debug for LocalKeyCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalKeyCipher(..)")
    }
}

impl LocalKeyCipher {
    /// The cipher of a key file that must be there: secrets were sealed with it before.
    pub fn open(path: &Path) -> Result<Self, CipherError> {
        Ok(Self::of(&*file::read(path)?))
    }

    /// The cipher of a key file, which is made when it is absent.
    pub fn open_or_create(path: &Path) -> Result<Self, CipherError> {
        Ok(Self::of(&*file::read_or_create(path)?))
    }

    fn of(master: &[u8; KEY_BYTES]) -> Self {
        Self { master: Hkdf::new(Some(b"haft1 master key"), master) }
    }

    fn data_key(&self, scope: &Scope) -> Result<Aes256Gcm, CipherError> {
        let (kind, account) = (scope.kind.prefix(), scope.account.as_str());
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        // Neither a kind nor an account holds a `#`, so no two pairs give one text.
        let info = format!("haft1 data key#{kind}#{account}");
        self.master
            .expand(info.as_bytes(), &mut *key)
            .map_err(|e| CipherError::Failed(e.to_string().into()))?;
        Ok(Aes256Gcm::new((&*key).into()))
    }
}

#[async_trait]
impl Cipher for LocalKeyCipher {
    async fn seal(&self, scope: &Scope, secret: &SecretString) -> Result<Sealed, CipherError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|e| CipherError::Failed(e.to_string().into()))?;
        let payload = Payload { msg: secret.expose_secret().as_bytes(), aad: &scope.associated_data() };
        let sealed = self
            .data_key(scope)?
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| CipherError::Failed("the secret is too long to be sealed".into()))?;
        let mut text = String::from(FORM);
        STANDARD_NO_PAD.encode_string([&nonce[..], &sealed].concat(), &mut text);
        Ok(Sealed(text))
    }

    async fn open(&self, scope: &Scope, sealed: &Sealed) -> Result<SecretString, CipherError> {
        let closed =
            || CipherError::DoesNotOpen { resource: scope.resource.clone(), field: scope.field.clone() };
        let bytes = sealed
            .0
            .strip_prefix(FORM)
            .and_then(|text| STANDARD_NO_PAD.decode(text).ok())
            .ok_or_else(closed)?;
        let (nonce, msg) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(closed)?;
        let payload = Payload { msg, aad: &scope.associated_data() };
        let opened = self.data_key(scope)?.decrypt(&Nonce::from(*nonce), payload).map_err(|_| closed())?;
        // The bytes move into the secret uncopied; what is no text is wiped.
        String::from_utf8(opened).map(SecretString::from).map_err(|e| {
            e.into_bytes().zeroize();
            closed()
        })
    }
}
