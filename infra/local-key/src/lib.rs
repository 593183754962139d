//! infra-local-key.
