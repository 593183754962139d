//! Credentials of a provider: what a user gives, how it is kept, and what is shown of it.
//!
//! A credential is given under the name of one of the document's security schemes, or under any other name
//! when it says itself where it goes. It is sealed at once and opened only to be put into a request
//! ([`opened`]); which of them a request needs is decided in [`choice`]; OAuth 2 tokens are fetched and kept
//! in [`oauth`]. No secret is ever in an error, a log or a `Debug` text.

mod choice;
mod headers;
mod input;
mod oauth;
mod opened;
mod stored;

pub(crate) use choice::{Choice, Stored as StoredIn, choose, location_of};
pub(crate) use headers::seal_headers;
pub use headers::{HeaderInput, StoredHeader};
pub use input::{ClientAuth, CredentialFields, CredentialInput, CredentialType};
pub(crate) use oauth::{TokenRequest, Tokens};
pub(crate) use opened::{OpenedCredentials, Opener, open};
pub use stored::{CredentialView, StoredCredential};
pub(crate) use stored::{seal_all, token_urls};

use domain::ports::CipherError;

/// Why a credential was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CredentialProblem {
    /// It is not what its scheme needs, or does not say enough.
    #[error("the credential `{name}` {reason}")]
    Unfit {
        /// Its name.
        name: String,
        /// What is wrong, and what to give.
        reason: String,
    },
    /// A header of the provider cannot be sent.
    #[error("the header `{name}` {reason}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// It could not be sealed.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

impl CredentialProblem {
    fn unfit(name: &str, reason: impl Into<String>) -> Self {
        Self::Unfit { name: name.to_owned(), reason: reason.into() }
    }
}
