//! What KMS's errors mean.

use aws_sdk_kms::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use domain::ports::{CipherError, Scope};

/// Why KMS gave no data key.
pub(crate) enum Fault {
    /// The wrapped key is not one that this scope and key open.
    Closed { resource: String, field: String },
    /// The key is not to be had, with what to do.
    Unusable(String),
    /// Anything else.
    Other(String),
}

impl Fault {
    pub(crate) fn of<E, R>(key: &str, scope: &Scope, error: SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        let kind = scope.kind.prefix();
        let unusable = |what: String| Self::Unusable(format!("the KMS key {key} {what}"));
        match error.code() {
            Some("InvalidCiphertextException" | "IncorrectKeyException") => Self::Closed {
                resource: scope.resource.clone(),
                field: scope.field.clone(),
            },
            Some("DisabledException") => unusable("is disabled: enable it, and secrets open again".to_owned()),
            Some("KMSInvalidStateException") => unusable(
                "cannot be used in its present state, probably as it is to be deleted: cancel its deletion and enable it".to_owned(),
            ),
            Some("NotFoundException") => {
                unusable("does not exist in this account and region: correct its ARN".to_owned())
            }
            Some("InvalidKeyUsageException") => {
                unusable("is not for encryption: name a symmetric key with usage ENCRYPT_DECRYPT".to_owned())
            }
            Some("AccessDeniedException") => unusable(format!(
                "may not be used by this role for secrets of kind `{kind}`: its policy needs kms:Decrypt and kms:GenerateDataKey under that encryption context"
            )),
            _ => Self::Other(DisplayErrorContext(error).to_string()),
        }
    }

    pub(crate) fn into_error(self) -> CipherError {
        match self {
            Self::Closed { resource, field } => CipherError::DoesNotOpen { resource, field },
            Self::Unusable(what) => CipherError::KeyUnusable(what),
            Self::Other(what) => failed(&what),
        }
    }
}

pub(crate) fn failed(what: &str) -> CipherError {
    CipherError::Failed(what.into())
}
