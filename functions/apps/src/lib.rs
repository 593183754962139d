//! fn-apps.
