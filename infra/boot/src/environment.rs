//! The environment as configuration reads it: once, through a trait, so that tests need no process environment.

use std::collections::BTreeMap;

/// Looks up variables.
pub trait Environment {
    /// A variable's value; none where it is not set, or is empty.
    fn get(&self, name: &str) -> Option<String>;
}

/// The variables of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }
}

impl Environment for BTreeMap<String, String> {
    fn get(&self, name: &str) -> Option<String> {
        self.get(name).filter(|value| !value.is_empty()).cloned()
    }
}
