//! The sealed text and what is in it: a wrapped data key, and a secret sealed under that key.

use crate::fault::failed;
use aes_gcm::{
    Aes256Gcm, KeyInit as _, Nonce,
    aead::{Aead as _, Payload},
};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use domain::ports::{CipherError, Scope};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroize as _;

/// Marks the form: base64 of a checksum, the wrapped key's length, the wrapped key, and nonce, ciphertext, tag.
const FORM: &str = "haftk1:";
const NONCE_BYTES: usize = 12;
const CHECK_BYTES: usize = 8;

/// A data key in clear, with its wrapped form.
pub(crate) struct DataKey {
    cipher: Aes256Gcm,
    wrapped: Vec<u8>,
}

/// A sealed value, taken apart.
pub(crate) struct Envelope {
    wrapped: Vec<u8>,
    sealed: Vec<u8>,
}

impl DataKey {
    pub(crate) fn new(plaintext: &[u8], wrapped: Vec<u8>) -> Option<Self> {
        let cipher = Aes256Gcm::new_from_slice(plaintext).ok()?;
        Some(Self { cipher, wrapped })
    }

    pub(crate) fn seal(&self, scope: &Scope, secret: &SecretString) -> Result<Envelope, CipherError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|e| failed(&e.to_string()))?;
        let payload = Payload { msg: secret.expose_secret().as_bytes(), aad: &scope.associated_data() };
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| failed("the secret is too long to be sealed"))?;
        Ok(Envelope { wrapped: self.wrapped.clone(), sealed: [&nonce[..], &sealed].concat() })
    }

    pub(crate) fn open(&self, scope: &Scope, envelope: &Envelope) -> Option<SecretString> {
        let (nonce, msg) = envelope.sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg, aad: &scope.associated_data() };
        let opened = self.cipher.decrypt(&Nonce::from(*nonce), payload).ok()?;
        match String::from_utf8(opened) {
            Ok(secret) => Some(secret.into()),
            Err(error) => {
                error.into_bytes().zeroize();
                None
            }
        }
    }
}

impl Envelope {
    pub(crate) fn wrapped(&self) -> &[u8] {
        &self.wrapped
    }

    pub(crate) fn to_text(&self) -> Result<String, CipherError> {
        let length = u16::try_from(self.wrapped.len()).map_err(|_| failed("the wrapped key is too long"))?;
        let content = [&length.to_be_bytes()[..], &self.wrapped, &self.sealed].concat();
        let mut text = String::from(FORM);
        STANDARD_NO_PAD.encode_string([&check(&content)[..], &content].concat(), &mut text);
        Ok(text)
    }

    /// Takes a text apart. What was damaged is found here, without a request to KMS.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let bytes = STANDARD_NO_PAD.decode(text.strip_prefix(FORM)?).ok()?;
        let (sum, content) = bytes.split_first_chunk::<CHECK_BYTES>()?;
        if check(content) != *sum {
            return None;
        }
        let (length, rest) = content.split_first_chunk::<2>()?;
        let (wrapped, sealed) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        Some(Self { wrapped: wrapped.to_vec(), sealed: sealed.to_vec() })
    }
}

/// Finds damage. It keeps nobody from forging: that is the tag's part.
fn check(content: &[u8]) -> [u8; CHECK_BYTES] {
    let mut sum = [0; CHECK_BYTES];
    sum.copy_from_slice(&Sha256::digest(content)[..CHECK_BYTES]);
    sum
}
