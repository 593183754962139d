//! infra-directory.
