//! What SQS's errors mean.

use aws_sdk_sqs::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use domain::ports::QueueError;

/// Errors of requests to the queue at this address.
pub(crate) struct Faults<'a>(pub(crate) &'a str);

impl Faults<'_> {
    pub(crate) fn of<E, R>(&self, error: SdkError<E, R>) -> QueueError
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        let url = self.0;
        let said = error.message().unwrap_or("no reason given").to_owned();
        match error.code().map(|code| code.rsplit('.').next().unwrap_or(code)) {
            Some(
                "ReceiptHandleIsInvalid" | "MessageNotInflight" | "InvalidIdFormat" | "InvalidParameterValue",
            ) => QueueError::Lost,
            Some("QueueDoesNotExist" | "NonExistentQueue") => QueueError::Unusable(format!(
                "the queue {url} does not exist: create it, or correct its address"
            )),
            Some("AccessDenied" | "AccessDeniedException" | "KmsAccessDenied" | "KmsDisabled") => {
                QueueError::Unusable(format!("the queue {url} may not be used so by this role: {said}"))
            }
            _ => QueueError::Failed(DisplayErrorContext(error).to_string().into()),
        }
    }
}
