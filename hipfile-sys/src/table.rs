//! The function table.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

use libc::timespec;
use rocm_loader::Library;

use crate::*;

/// Declares [`Api`] from the functions every supported library has and those only newer ones have.
macro_rules! api {
    (
        required { $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?;)+ }
        optional { $($(#[$doc:meta])* fn $new:ident($($new_arg:ident: $new_type:ty),*) -> $new_ret:ty;)+ }
    ) => {
        /// The functions of one libhipfile, linked or loaded.
        ///
        /// A field has the name of its function. Functions younger than hipFile 0.2 are optional: all versions share one
        /// SONAME, so the library that runs may be older than the one a program was built with.
        ///
        /// Calling through a table instead of the declarations in this crate also keeps the optimiser honest: no other
        /// crate's declaration of the same function can change what it assumes about a result.
        ///
        /// ```
        /// let api = hipfile_sys::api::get()?;
        /// let (mut major, mut minor) = (0, 0);
        /// // SAFETY: requires pointers that may be written or are null.
        /// let result = unsafe { (api.hipFileGetVersion)(&mut major, &mut minor, std::ptr::null_mut()) };
        /// assert_eq!(result.err, hipfile_sys::hipFileSuccess);
        /// assert!((major, minor) >= (0, 2));
        /// # Ok::<(), &hipfile_sys::LoadError>(())
        /// ```
        #[allow(non_snake_case, reason = "fields have the names of their functions")]
        #[derive(Debug)]
        pub struct Api {
            $(
                #[doc = concat!("[`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                pub $name: unsafe extern "C" fn($($arg: $type),*) $(-> $ret)?,
            )+
            $(
                #[doc = concat!("[`", stringify!($new), "`](fn@crate::", stringify!($new), "), since 0.5.")]
                $(#[$doc])*
                pub $new: Option<unsafe extern "C" fn($($new_arg: $new_type),*) -> $new_ret>,
            )+
        }

        // The types are those of the header. Constants are checked but leave no reference to link.
        $(const _: unsafe extern "C" fn($($type),*) $(-> $ret)? = crate::$name;)+
        $(const _: unsafe extern "C" fn($($new_type),*) -> $new_ret = crate::$new;)+

        impl Api {
            /// The functions that were linked, and the optional ones as far as the linked library has them.
            #[cfg(feature = "link")]
            fn from_linkage() -> Self {
                let process = Library::process();
                Self {
                    $($name: crate::$name,)+
                    $(
                        // SAFETY: requires the type of the symbol; holds by the comparison with the header above.
                        $new: unsafe { process.symbol(symbol_name(concat!(stringify!($new), "\0"))) },
                    )+
                }
            }

            /// The functions of a loaded library, or the name of one it lacks.
            ///
            /// # Safety
            ///
            /// The library is a libhipfile.
            unsafe fn from_library(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: requires the type of the symbol; holds by the comparison with the header above, as the
                        // caller promises that the library is a libhipfile.
                        $name: unsafe { library.symbol(symbol_name(concat!(stringify!($name), "\0"))) }
                            .ok_or(stringify!($name))?,
                    )+
                    $(
                        // SAFETY: as above.
                        $new: unsafe { library.symbol(symbol_name(concat!(stringify!($new), "\0"))) },
                    )+
                })
            }
        }
    };
}

api! {
    required {
        fn hipFileGetOpErrorString(status: hipFileOpError_t) -> *const c_char;
        fn hipFileGetVersion(major: *mut c_uint, minor: *mut c_uint, patch: *mut c_uint) -> hipFileError_t;

        fn hipFileDriverOpen() -> hipFileError_t;
        fn hipFileDriverClose() -> hipFileError_t;
        fn hipFileUseCount() -> i64;
        fn hipFileDriverGetProperties(props: *mut hipFileDriverProps_t) -> hipFileError_t;
        fn hipFileDriverSetPollMode(poll: bool, poll_threshold_size: usize) -> hipFileError_t;
        fn hipFileDriverSetMaxDirectIOSize(max_direct_io_size: usize) -> hipFileError_t;
        fn hipFileDriverSetMaxCacheSize(max_cache_size: usize) -> hipFileError_t;
        fn hipFileDriverSetMaxPinnedMemSize(max_pinned_mem_size: usize) -> hipFileError_t;

        fn hipFileHandleRegister(fh: *mut hipFileHandle_t, descr: *mut hipFileDescr_t) -> hipFileError_t;
        fn hipFileHandleDeregister(fh: hipFileHandle_t);
        fn hipFileBufRegister(buffer_base: *const c_void, length: usize, flags: c_int) -> hipFileError_t;
        fn hipFileBufDeregister(buffer_base: *const c_void) -> hipFileError_t;

        fn hipFileRead(
            fh: hipFileHandle_t,
            buffer_base: *mut c_void,
            size: usize,
            file_offset: hoff_t,
            buffer_offset: hoff_t,
        ) -> isize;
        fn hipFileWrite(
            fh: hipFileHandle_t,
            buffer_base: *const c_void,
            size: usize,
            file_offset: hoff_t,
            buffer_offset: hoff_t,
        ) -> isize;

        fn hipFileStreamRegister(stream: hipStream_t, flags: c_uint) -> hipFileError_t;
        fn hipFileStreamDeregister(stream: hipStream_t) -> hipFileError_t;
        fn hipFileReadAsync(
            fh: hipFileHandle_t,
            buffer_base: *mut c_void,
            size_p: *mut usize,
            file_offset_p: *mut hoff_t,
            buffer_offset_p: *mut hoff_t,
            bytes_read_p: *mut isize,
            stream: hipStream_t,
        ) -> hipFileError_t;
        fn hipFileWriteAsync(
            fh: hipFileHandle_t,
            buffer_base: *mut c_void,
            size_p: *mut usize,
            file_offset_p: *mut hoff_t,
            buffer_offset_p: *mut hoff_t,
            bytes_written_p: *mut isize,
            stream: hipStream_t,
        ) -> hipFileError_t;

        fn hipFileBatchIOSetUp(batch_idp: *mut hipFileBatchHandle_t, max_nr: c_uint) -> hipFileError_t;
        fn hipFileBatchIOSubmit(
            batch_idp: hipFileBatchHandle_t,
            nr: c_uint,
            iocbp: *mut hipFileIOParams_t,
            flags: c_uint,
        ) -> hipFileError_t;
        fn hipFileBatchIOGetStatus(
            batch_idp: hipFileBatchHandle_t,
            min_nr: c_uint,
            nr: *mut c_uint,
            iocbp: *mut hipFileIOEvents_t,
            timeout: *mut timespec,
        ) -> hipFileError_t;
        fn hipFileBatchIOCancel(batch_idp: hipFileBatchHandle_t) -> hipFileError_t;
        fn hipFileBatchIODestroy(batch_idp: hipFileBatchHandle_t);

        fn hipFileGetParameterSizeT(param: hipFileSizeTConfigParameter_t, value: *mut usize) -> hipFileError_t;
        fn hipFileGetParameterBool(param: hipFileBoolConfigParameter_t, value: *mut bool) -> hipFileError_t;
        fn hipFileGetParameterString(
            param: hipFileStringConfigParameter_t,
            desc_str: *mut c_char,
            len: c_int,
        ) -> hipFileError_t;
        fn hipFileSetParameterSizeT(param: hipFileSizeTConfigParameter_t, value: usize) -> hipFileError_t;
        fn hipFileSetParameterBool(param: hipFileBoolConfigParameter_t, value: bool) -> hipFileError_t;
        fn hipFileSetParameterString(
            param: hipFileStringConfigParameter_t,
            desc_str: *const c_char,
        ) -> hipFileError_t;
    }
    optional {
        fn hipFileGetStatsL1(stats: *mut hipFileStatsLevel1_t) -> hipFileError_t;
        fn hipFileGetStatsL2(stats: *mut hipFileStatsLevel2_t) -> hipFileError_t;
        fn hipFileGetStatsL3(stats: *mut hipFileStatsLevel3_t) -> hipFileError_t;
    }
}

/// The names of a libhipfile: every release so far has this SONAME.
const STEM: &str = "libhipfile.so";
const VERSIONS: &[&str] = &["0"];

impl Api {
    /// The library this program was linked with. Functions newer than 0.2 are looked up in it as it runs.
    #[cfg(feature = "link")]
    #[must_use]
    pub fn linked() -> &'static Self {
        static LINKED: std::sync::OnceLock<Api> = std::sync::OnceLock::new();
        LINKED.get_or_init(Self::from_linkage)
    }

    /// Loads the libhipfile in the file `path`, for good: neither library nor table is ever given back.
    ///
    /// # Errors
    ///
    /// The file cannot be loaded, or lacks a function of hipFile 0.2.
    ///
    /// # Safety
    ///
    /// The file is a libhipfile, and loading it runs its initialisers.
    ///
    /// ```
    /// // SAFETY: requires a libhipfile; there is no such file.
    /// let error = unsafe { hipfile_sys::Api::load("/nonexistent/libhipfile.so.0".as_ref()) }.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "cannot load /nonexistent/libhipfile.so.0: \
    ///      cannot open shared object file: No such file or directory",
    /// );
    /// ```
    pub unsafe fn load(path: &Path) -> Result<&'static Self, LoadError> {
        // SAFETY: requires that the library's initialisers may run; the caller promises it.
        let library = unsafe { rocm_loader::open_path(path) }?;
        // SAFETY: requires a libhipfile; the caller promises it.
        unsafe { Self::leak(&library) }
    }

    /// Loads libhipfile as [`rocm_loader::open`] finds it: what the process has loaded already, then `$ROCM_PATH`,
    /// `/opt/rocm/core-*`, `/opt/rocm`, then the system's loader. For good, as [`Api::load`].
    ///
    /// # Errors
    ///
    /// No library can be loaded, or the one that was lacks a function of hipFile 0.2.
    ///
    /// # Safety
    ///
    /// Whatever is named `libhipfile.so.0` or `libhipfile.so` in these places is a libhipfile.
    pub unsafe fn open() -> Result<&'static Self, LoadError> {
        // SAFETY: requires that the library's initialisers may run; holds for a libhipfile.
        let library = unsafe { rocm_loader::open(STEM, VERSIONS) }?;
        // SAFETY: requires a libhipfile; the caller promises it.
        unsafe { Self::leak(&library) }
    }

    /// The file the functions are in, as the system's loader knows it.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        rocm_loader::library_of(self.hipFileGetVersion as *const ())
    }

    /// Makes a table that lives for ever.
    ///
    /// # Safety
    ///
    /// The library is a libhipfile.
    unsafe fn leak(library: &Library) -> Result<&'static Self, LoadError> {
        // SAFETY: requires a libhipfile; the caller promises it.
        let api = unsafe { Self::from_library(library) };
        let lacks = |name| LoadError::lacks(library.path().unwrap_or_else(|| STEM.into()), name);
        Ok(Box::leak(Box::new(api.map_err(lacks)?)))
    }
}

/// A literal that ends in a NUL, as a C string. Any other text names no symbol.
const fn symbol_name(literal: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(literal.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}
