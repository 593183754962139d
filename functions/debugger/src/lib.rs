//! The function `debugger`.
