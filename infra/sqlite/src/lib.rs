//! infra-sqlite.
