//! The errors of apps, models and chats as HTTP.

use crate::error::ApiError;
use apps::{app::AppError, chat::ChatRefusal, conversations::ConversationError, models::ModelStoreError};
use domain::ports::{ModelError, RetrieveError, SignalError};
use http::StatusCode;

impl From<AppError> for ApiError {
    fn from(error: AppError) -> Self {
        let detail = error.to_string();
        match error {
            AppError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            AppError::Invalid(violations) => {
                Self::unprocessable("invalid_body", detail).with_violations(violations)
            }
            AppError::Broken(violations) => {
                Self::unprocessable("broken_references", detail).with_violations(violations)
            }
            AppError::NotPublished(_) => Self::conflict("not_published", detail),
            AppError::Conflict(_) => Self::conflict("conflict", detail),
            AppError::Corrupt(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail),
            AppError::Entropy(_) => Self::internal(detail),
            AppError::Table(error) => error.into(),
        }
    }
}

impl From<ModelStoreError> for ApiError {
    fn from(error: ModelStoreError) -> Self {
        let detail = error.to_string();
        match error {
            ModelStoreError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            ModelStoreError::Invalid { field, message } => Self::invalid_body(format!("/{field}"), message),
            ModelStoreError::Conflict(_) => Self::conflict("conflict", detail),
            ModelStoreError::Corrupt(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail)
            }
            ModelStoreError::Table(error) => error.into(),
            ModelStoreError::Cipher(error) => error.into(),
        }
    }
}

impl From<ConversationError> for ApiError {
    fn from(error: ConversationError) -> Self {
        let detail = error.to_string();
        match error {
            ConversationError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            ConversationError::Corrupt(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt_record", detail)
            }
            ConversationError::Table(error) => error.into(),
        }
    }
}

impl From<ChatRefusal> for ApiError {
    fn from(error: ChatRefusal) -> Self {
        let detail = error.to_string();
        match error {
            ChatRefusal::Invalid(violations) => {
                Self::unprocessable("invalid_body", detail).with_violations(violations)
            }
            ChatRefusal::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            ChatRefusal::App(error) => error.into(),
            ChatRefusal::Model(ModelError::NotFound(_)) => Self::conflict("model_not_found", detail),
            ChatRefusal::Model(ModelError::Failed { .. }) => Self::conflict("model_unusable", detail),
            ChatRefusal::DailyLimit { retry_after, .. } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "daily_limit", detail)
                    .with_retry_after(Some(retry_after))
            }
            ChatRefusal::Datasets(RetrieveError::NotFound(_)) => Self::conflict("dataset_not_found", detail),
            ChatRefusal::Datasets(RetrieveError::Failed(_)) => Self::unavailable("datasets_unusable", detail),
            ChatRefusal::Conversation(error) => error.into(),
            ChatRefusal::Table(error) | ChatRefusal::Signal(SignalError::Table(error)) => error.into(),
        }
    }
}
