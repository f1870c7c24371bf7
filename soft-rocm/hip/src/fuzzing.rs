//! What the fuzz targets reach and no C function does: the variables are read once a process.

use std::ffi::OsString;

use crate::config::Config;

/// Reads every variable, and returns the complaint if there is one.
pub fn environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    Config::read(variable).err().map(|error| error.to_string())
}
