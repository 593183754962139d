//! Projections: known answers, the providers' rules, and what a projection may never do.

#[cfg(test)]
mod checker;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod restoring;
