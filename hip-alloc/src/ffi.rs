//! The HIP functions in use, as a table of pointers, filled from the linked library or from a loaded one.
//!
//! Enums are integers here, in results and in arguments: a Rust enum returned by C would make a code that a newer HIP
//! added undefined behaviour. Declarations alone do not decide that, since under fat LTO the compiler keeps one
//! declaration a symbol, and another crate's (hip-runtime-sys has such enums) may lend its range to ours. So nothing calls
//! the declared functions: their addresses pass through `black_box` into a table on the heap, reached only through the
//! atomic of [`crate::table`], and the compiler can connect no call with any declaration.
//!
//! All functions here are in every HIP since 5.2, with these signatures.
#![allow(unsafe_code, reason = "declares and looks up foreign functions")]
#![allow(non_snake_case, reason = "the table's fields carry the names of the C functions")]

use core::ffi::{c_char, c_int, c_uint, c_void};
use std::ffi::CString;

use rocm_loader::Library;

macro_rules! hip_functions {
    ($(fn $name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {
        /// One pointer for each HIP function in use.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument: $ty),*) -> $result,)*
        }

        impl Functions {
            /// The functions of the HIP that this program is linked with.
            #[cfg(feature = "link")]
            pub(crate) fn linked() -> Self {
                use core::hint::black_box;
                // Nothing of this crate is used by name; it emits the link line, and cargo drops unused crates.
                use hip_runtime_sys as _;
                unsafe extern "C" {
                    $(fn $name($($argument: $ty),*) -> $result;)*
                }
                Self {
                    $($name: black_box($name as unsafe extern "C" fn($($argument: $ty),*) -> $result),)*
                }
            }

            /// The functions of a loaded HIP, or the name of the first one it lacks.
            pub(crate) fn from_library(library: &Library) -> Result<Self, &'static str> {
                Ok(Self { $(
                    $name: {
                        let name = CString::new(stringify!($name)).map_err(|_| stringify!($name))?;
                        // SAFETY: requires that the symbol is a function of this type; holds because these are HIP's
                        // names and signatures, and whoever loaded the library vouched for it being HIP.
                        unsafe { library.symbol::<unsafe extern "C" fn($($argument: $ty),*) -> $result>(&name) }
                            .ok_or(stringify!($name))?
                    },
                )* })
            }
        }
    };
}

hip_functions! {
    fn hipFree(pointer: *mut c_void) -> c_uint;
    fn hipGetDevice(device: *mut c_int) -> c_uint;
    fn hipGetDeviceCount(count: *mut c_int) -> c_uint;
    fn hipGetErrorName(error: c_uint) -> *const c_char;
    fn hipGetErrorString(error: c_uint) -> *const c_char;
    fn hipMalloc(pointer: *mut *mut c_void, size: usize) -> c_uint;
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> c_uint;
    fn hipMemcpy(destination: *mut c_void, source: *const c_void, size: usize, kind: c_uint) -> c_uint;
    fn hipMemset(destination: *mut c_void, value: c_int, size: usize) -> c_uint;
    fn hipSetDevice(device: c_int) -> c_uint;
    fn hipStreamSynchronize(stream: *mut c_void) -> c_uint;
}
