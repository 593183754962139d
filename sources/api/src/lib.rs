//! source-api.
