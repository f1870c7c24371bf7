//! Which file libhipfile is.
#![allow(unsafe_code, reason = "loads a library that the caller vouches for")]

use std::path::{Path, PathBuf};

use hipfile_sys::Api;

use crate::error::{Error, Result};
use crate::ffi;

/// Uses the libhipfile in the file `path`, for the whole process. Before anything else of this crate.
///
/// Without this the linked library is used, or the first one found. `hip_alloc::load` does the same for HIP; load
/// that first, since libhipfile uses the HIP that is in the process.
///
/// ```
/// // SAFETY: nothing is loaded, as there is no such file.
/// let error = unsafe { hipfile::load("/nonexistent/libhipfile.so.0") }.unwrap_err();
/// assert_eq!(error.kind(), hipfile::ErrorKind::NotLoaded);
/// ```
///
/// # Errors
///
/// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) if the file can't be loaded or is no libhipfile,
/// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a libhipfile is in use already.
///
/// # Safety
///
/// The file is a libhipfile. Loading it runs its code, and it is called according to hipFile's declarations.
pub unsafe fn load(path: impl AsRef<Path>) -> Result<()> {
    // SAFETY: requires a file that is a libhipfile; holds because the caller promises it.
    unsafe { ffi::load(path.as_ref()) }.map_err(|cause| Error::new("load libhipfile", cause))
}

/// The file of the libhipfile in use, as the system's loader knows it.
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// if let Some(path) = hipfile::library_path()? {
///     println!("libhipfile {} from {}", hipfile::version()?, path.display());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) if there is none,
/// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
pub fn library_path() -> Result<Option<PathBuf>> {
    ffi::api().map(Api::path).map_err(|cause| Error::new("find library", cause))
}
