//! A check that cannot be made here.

use std::fmt;

/// Why a check was not made: something is missing on this machine. It is no failure of `cargo xtask ci`, which says so.
#[derive(Debug)]
pub struct Skipped(pub String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skipped {}
