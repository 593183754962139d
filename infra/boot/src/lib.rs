//! boot.
