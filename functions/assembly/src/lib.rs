//! fn-assembly.
