//! apps.
