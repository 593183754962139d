//! fn-api-tools.
