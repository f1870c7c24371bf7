//! Which HIP this process uses: decided once, at first use or by [`load`].
#![allow(unsafe_code, reason = "reads the table through a raw pointer")]

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::path::Path;
use std::sync::OnceLock;

use rocm_loader::Library;

use crate::error::{Cause, Error, Result};
use crate::ffi::Functions;
use crate::fork::forked;

/// Null until HIP is first used, then a table that is never freed or changed.
static TABLE: AtomicPtr<Functions> = AtomicPtr::new(ptr::null_mut());

/// The file names' versions that have the functions in use, newest first.
#[cfg(not(feature = "link"))]
const VERSIONS: &[&str] = &["7", "6", "5"];

/// The table for one public call: fails in a forked child and where there is no HIP.
#[inline]
pub(crate) fn functions(operation: &'static str) -> Result<&'static Functions> {
    if forked() {
        return Err(Error::new(operation, Cause::Forked));
    }
    if let Some(functions) = in_use() {
        return Ok(functions);
    }
    first_use().map_err(|reason| Error::new(operation, Cause::NotLoaded(reason.into())))
}

/// The table if HIP is in use already.
#[inline]
pub(crate) fn in_use() -> Option<&'static Functions> {
    let table = TABLE.load(Ordering::Acquire);
    // SAFETY: requires null or a pointer to a table that lives for ever and never changes; holds because `install` alone
    // writes TABLE, after leaking the table.
    unsafe { table.as_ref() }
}

#[cold]
fn first_use() -> core::result::Result<&'static Functions, &'static str> {
    static DEFAULT: OnceLock<core::result::Result<(), String>> = OnceLock::new();
    // Whatever comes of the search, a table that `load` installed meanwhile is the one to use.
    let outcome = DEFAULT.get_or_init(|| default_functions().map(|functions| _ = install(functions)));
    in_use().ok_or(outcome.as_ref().err().map_or("no table was installed", String::as_str))
}

#[cfg(feature = "link")]
fn default_functions() -> core::result::Result<Functions, String> {
    Ok(Functions::linked())
}

#[cfg(not(feature = "link"))]
fn default_functions() -> core::result::Result<Functions, String> {
    // SAFETY: requires that the initialisers of libraries of this name may run; every program that uses HIP runs them.
    let library =
        unsafe { rocm_loader::open("libamdhip64.so", VERSIONS) }.map_err(|error| error.to_string())?;
    from_library(&library)
}

fn from_library(library: &Library) -> core::result::Result<Functions, String> {
    Functions::from_library(library).map_err(|name| {
        let path = library.path();
        let place = path.as_deref().unwrap_or(Path::new("the loaded library"));
        format!("{} lacks {name}", place.display())
    })
}

/// Makes `functions` the table, or gives it back if there is one already.
pub(crate) fn install(functions: Functions) -> core::result::Result<(), Box<Functions>> {
    let new = Box::into_raw(Box::new(functions));
    match TABLE.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(()),
        // SAFETY: requires a pointer from Box::into_raw that nobody else has; holds because the exchange failed.
        Err(_) => Err(unsafe { Box::from_raw(new) }),
    }
}

/// Loads HIP from the file at `path` and uses it for the whole process, instead of what would be linked or searched.
///
/// The library is never unloaded. Call this before anything else of this crate.
///
/// # Errors
/// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) if the file cannot be loaded or lacks a function in use;
/// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if HIP is in use already;
/// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
///
/// # Safety
/// The file is a HIP runtime (`libamdhip64`) whose functions have the types that HIP's header gives them, and loading it
/// runs its initialisers.
///
/// ```
/// // SAFETY: the path names no file, so nothing is run.
/// let error = unsafe { hip_alloc::load("/nonexistent/libamdhip64.so.7") }.unwrap_err();
/// assert_eq!(error.kind(), hip_alloc::ErrorKind::NotLoaded);
/// ```
pub unsafe fn load(path: impl AsRef<Path>) -> Result<()> {
    const OPERATION: &str = "load";
    let path = path.as_ref();
    if forked() {
        return Err(Error::new(OPERATION, Cause::Forked));
    }
    let in_use_already = || Error::new(OPERATION, Cause::InUse { path: path.to_owned() });
    if in_use().is_some() {
        return Err(in_use_already());
    }
    let not_loaded = |reason| Error::new(OPERATION, Cause::NotLoaded(reason));
    // SAFETY: requires a library whose initialisers may run; holds because our caller promises it.
    let library = unsafe { rocm_loader::open_path(path) }.map_err(|error| not_loaded(error.to_string()))?;
    let functions = from_library(&library).map_err(not_loaded)?;
    install(functions).map_err(|_| in_use_already())
}
