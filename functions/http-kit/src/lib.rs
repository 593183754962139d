//! http-kit.
