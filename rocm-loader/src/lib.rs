//! Where AMD ROCm is installed, and loading its libraries at run time.
//!
//! [`Search`] knows the order in which prefixes are looked at, for build scripts and for programs alike.
//! [`open`] loads a library by name, on Linux, in this order:
//!
//! 1. whatever is loaded in the process already: a framework that brought its own HIP must share it,
//! 2. `lib` of `$ROCM_PATH`, of `/opt/rocm/core-*` (newest first) and of `/opt/rocm`,
//! 3. what the system's loader finds.
//!
//! ```
//! use std::ffi::OsStr;
//! use std::path::Path;
//!
//! let search = rocm_loader::Search::new(Path::new("/"), Some(OsStr::new("/home/me/rocm")));
//! assert_eq!(search.prefixes()[0], Path::new("/home/me/rocm"));
//! ```

#[cfg(target_os = "linux")]
mod error;
#[cfg(target_os = "linux")]
mod library;
#[cfg(target_os = "linux")]
mod open;
mod search;

#[cfg(target_os = "linux")]
pub use error::{Attempt, LoadError};
#[cfg(target_os = "linux")]
pub use library::{Library, library_of};
#[cfg(target_os = "linux")]
pub use open::{loaded, open, open_path};
pub use search::Search;
