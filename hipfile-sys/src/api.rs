//! The function table of the process.
//!
//! The first use decides: with feature `link` the linked library is used, without it the one [`Api::open`] finds. To
//! use another one, [`set`] it before.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::{AlreadyInUse, Api, LoadError};

/// Null, or a `&'static Api`.
static TABLE: AtomicPtr<Api> = AtomicPtr::new(ptr::null_mut());

/// The table, once there is one.
fn current() -> Option<&'static Api> {
    // SAFETY: requires null or a pointer to a table that lives for ever; holds because only `install` stores one.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }
}

/// Makes `api` the table, unless there is one.
fn install(api: &'static Api) -> Result<(), AlreadyInUse> {
    let api = ptr::from_ref(api).cast_mut();
    let stored = TABLE.compare_exchange(ptr::null_mut(), api, Ordering::AcqRel, Ordering::Acquire);
    stored.map(|_| ()).map_err(|_| AlreadyInUse)
}

/// The table. Later uses cost one atomic load.
///
/// # Errors
///
/// No libhipfile can be loaded. That stays so until one is [`set`].
///
/// ```
/// let api = hipfile_sys::api::get()?;
/// println!("{}", api.path().unwrap_or_default().display());
/// # Ok::<(), &hipfile_sys::LoadError>(())
/// ```
#[inline]
pub fn get() -> Result<&'static Api, &'static LoadError> {
    match current() {
        Some(api) => Ok(api),
        None => first_use(),
    }
}

/// Chooses the table.
///
/// # Errors
///
/// The process has one already, be it this one.
///
/// ```
/// let api = hipfile_sys::api::get()?;
/// assert_eq!(hipfile_sys::api::set(api), Err(hipfile_sys::AlreadyInUse));
/// # Ok::<(), &hipfile_sys::LoadError>(())
/// ```
pub fn set(api: &'static Api) -> Result<(), AlreadyInUse> {
    install(api)
}

#[cold]
fn first_use() -> Result<&'static Api, &'static LoadError> {
    static DEFAULT: OnceLock<Result<&'static Api, LoadError>> = OnceLock::new();
    let default = DEFAULT.get_or_init(|| {
        let api = default_api()?;
        // A table that was set in the meantime is the one to use.
        let _ = install(api);
        Ok(api)
    });
    current().ok_or(()).or_else(|()| default.as_ref().copied())
}

#[cfg(feature = "link")]
fn default_api() -> Result<&'static Api, LoadError> {
    Ok(Api::linked())
}

#[cfg(not(feature = "link"))]
fn default_api() -> Result<&'static Api, LoadError> {
    // SAFETY: requires that what goes by libhipfile's name is one; holds as it does for a program that is linked with it,
    // which trusts the same names in the same places.
    unsafe { Api::open() }
}
