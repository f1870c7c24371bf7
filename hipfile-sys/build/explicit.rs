//! Step 1: the two directories the user named. Whatever is wrong with them ends the search.

use crate::env::{Env, Variable};
use crate::found::Found;
use crate::header;

const LIB_DIR: &str = "HIPFILE_LIB_DIR";
const INCLUDE_DIR: &str = "HIPFILE_INCLUDE_DIR";

/// The directories in `HIPFILE_LIB_DIR` and `HIPFILE_INCLUDE_DIR`; none if neither is set.
pub(crate) fn find(env: &Env<'_>) -> Option<Result<Found, Vec<String>>> {
    match (env.for_target(LIB_DIR), env.for_target(INCLUDE_DIR)) {
        (None, None) => None,
        (Some(lib), Some(include)) => Some(check(&lib, &include)),
        (Some(set), None) => Some(Err(vec![lonely(&set, INCLUDE_DIR)])),
        (None, Some(set)) => Some(Err(vec![lonely(&set, LIB_DIR)])),
    }
}

fn check(lib: &Variable, include: &Variable) -> Result<Found, Vec<String>> {
    match (library_in(lib), version_in(include)) {
        (Ok(()), Ok(version)) => {
            let (include, lib_dir) = (include.path(), Some(lib.path()));
            Ok(Found { include, lib_dir, version, warnings: Vec::new() })
        }
        (lib, include) => Err([lib.err(), include.err()].into_iter().flatten().collect()),
    }
}

fn library_in(variable: &Variable) -> Result<(), String> {
    let folder = variable.path();
    if !folder.is_dir() {
        return Err(wrong(variable, "is not a directory", "the directory of libhipfile.so"));
    }
    if !folder.join("libhipfile.so").exists() {
        return Err(wrong(variable, "has no libhipfile.so", "the directory of libhipfile.so"));
    }
    Ok(())
}

fn version_in(variable: &Variable) -> Result<header::Version, String> {
    if !variable.path().is_dir() {
        return Err(wrong(variable, "is not a directory", "the directory of hipfile.h"));
    }
    header::version_in(&variable.path())
        .map_err(|reason| wrong(variable, &reason, "the directory of hipfile.h"))
}

fn wrong(variable: &Variable, reason: &str, wanted: &str) -> String {
    let Variable { name, value } = variable;
    let value = value.to_string_lossy();
    let reason = if reason.starts_with(&*value) { reason.to_owned() } else { format!("{value} {reason}") };
    format!("{name}={value}: {reason}; it must name {wanted}")
}

fn lonely(set: &Variable, other: &str) -> String {
    let Variable { name, value } = set;
    format!("{name}={} is set but {other} is not; set both or neither", value.to_string_lossy())
}
