//! egress.
