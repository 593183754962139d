//! The client against real servers on loopback.
//!
//! `127.0.0.2` is put on the list of allowed addresses and plays the public internet;
//! `127.0.0.3` is not and plays the inside. Both are loopback, so everything is real.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod lent;
#[cfg(test)]
mod redirects;
#[cfg(test)]
mod resolution;
#[cfg(test)]
mod support;
