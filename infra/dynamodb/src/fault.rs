//! What DynamoDB's errors mean: whether trying again can help, whether a write may have been done, and what to
//! tell the operator.

use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
};
use domain::ports::TableError;

/// What is known after a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Too much at once: not done, and trying again helps.
    Throttled,
    /// Nobody knows whether it was done.
    Unknown,
    /// Not done, and trying again does not help.
    Refused,
}

type Failure<E> = SdkError<E, HttpResponse>;

pub(crate) fn outcome<E: ProvideErrorMetadata>(error: &Failure<E>) -> Outcome {
    match error {
        SdkError::ConstructionFailure(_) => Outcome::Refused,
        SdkError::ServiceError(service) => match service.err().code() {
            Some(code) if is_throttle(code) => Outcome::Throttled,
            _ if service.raw().status().is_server_error() => Outcome::Unknown,
            _ => Outcome::Refused,
        },
        _ => Outcome::Unknown,
    }
}

pub(crate) fn is_throttle(code: &str) -> bool {
    matches!(
        code,
        "ProvisionedThroughputExceededException"
            | "ProvisionedThroughputExceeded"
            | "ThrottlingException"
            | "ThrottlingError"
            | "RequestLimitExceeded"
            | "TransactionInProgressException"
            | "TransactionConflictException"
            | "TransactionConflict"
    )
}

/// The port's error for a failed request.
pub(crate) fn fault<E>(table: &str, error: Failure<E>) -> TableError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let said = error.message().unwrap_or("no reason given").to_owned();
    match error.code() {
        Some("ResourceNotFoundException") => TableError::Unusable(format!(
            "the DynamoDB table `{table}` does not exist in this account and region: create it, or correct its name"
        )),
        Some("AccessDeniedException") => TableError::Unusable(format!(
            "the DynamoDB table `{table}` may not be used so by this role: {said}"
        )),
        Some("UnrecognizedClientException" | "ExpiredTokenException" | "InvalidSignatureException") => {
            TableError::Unusable(format!("AWS does not accept the credentials: {said}"))
        }
        Some("ValidationException") if said.contains("schema") || said.contains("key element") => {
            TableError::Unusable(format!(
                "the DynamoDB table `{table}` has another shape than a string `pk` and a string `sk`: {said}"
            ))
        }
        Some("ValidationException") => TableError::Invalid(said),
        Some(code) if is_throttle(code) => throttled(table, code),
        _ => TableError::Failed(DisplayErrorContext(error).to_string().into()),
    }
}

pub(crate) fn throttled(table: &str, code: &str) -> TableError {
    TableError::Throttled(format!(
        "the DynamoDB table `{table}` refused the request as too much at once ({code}) each time it was tried"
    ))
}

/// The error for a write of which nobody knows whether it was done.
pub(crate) fn unknown(table: &str) -> TableError {
    TableError::Failed(
        format!("the answer to a write to the DynamoDB table `{table}` was lost: it may have been done")
            .into(),
    )
}
