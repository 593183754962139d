//! From documents to the normal form: the narrow protocol, fixtures for every trap, and hostile input.

mod corpus;
mod fixtures;
mod hostile;
mod narrow;
