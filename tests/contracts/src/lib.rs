//! contracts.
