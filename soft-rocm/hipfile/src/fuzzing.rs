//! What the fuzz targets reach and no C function does: the variables are read once a process.

use std::ffi::OsString;

use crate::behaviour::{Behaviour, Version};
use crate::config;

/// Reads every variable, and returns the complaint if there is one.
pub fn environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    for version in Version::ALL {
        config::level(variable("HIPFILE_STATS_LEVEL").as_deref(), version);
    }
    config::async_size(variable("HIPFILE_ASYNC_BUFFER_SIZE").as_deref());
    config::boolean(variable("HIPFILE_FORCE_COMPAT_MODE").as_deref());
    Behaviour::read(variable).err()
}
