//! How secrets look from outside: masked, and how a masked value that comes back is understood.

use std::collections::BTreeMap;

/// What every API shows in place of a secret.
pub const MASK: &str = "********";

/// Merges what a client sent with what is stored: a value that is the [`MASK`] keeps the stored one.
///
/// Returns the name of a masked value that stands for nothing stored, since it would be saved as asterisks.
pub fn keep_masked<V: Clone>(
    sent: BTreeMap<String, String>,
    stored: &BTreeMap<String, V>,
) -> Result<BTreeMap<String, Kept<V>>, MaskWithoutValue> {
    sent.into_iter()
        .map(|(name, value)| match (value == MASK, stored.get(&name)) {
            (false, _) => Ok((name, Kept::New(value))),
            (true, Some(old)) => Ok((name, Kept::Stored(old.clone()))),
            (true, None) => Err(MaskWithoutValue(name)),
        })
        .collect()
}

/// A value of a merged map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept<V> {
    /// The client sent it: seal it.
    New(String),
    /// The client left it as it was.
    Stored(V),
}

/// A masked value was sent for a name that has none stored.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` was sent masked, but no value is stored for it: send the value itself")]
pub struct MaskWithoutValue(pub String);
