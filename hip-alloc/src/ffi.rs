//! The HIP functions in use, as a table of pointers, filled from the linked library or from a loaded one.
//!
//! Enums are integers here, in results and in arguments: a Rust enum returned by C would make a code that a newer HIP
//! added undefined behaviour. Declarations alone do not decide that, since under fat LTO the compiler keeps one
//! declaration a symbol, and another crate's (hip-runtime-sys has such enums) may lend its range to ours. So nothing calls
//! the declared functions: their addresses pass through `black_box` into a table on the heap, reached only through the
//! atomic of [`crate::table`], and the compiler can connect no call with any declaration.
//!
//! All required functions here are in every HIP since 5.2, with these signatures; the optional ones are looked up in the
//! HIP that runs.
#![allow(unsafe_code, reason = "declares and looks up foreign functions")]
#![allow(non_snake_case, reason = "the table's fields carry the names of the C functions")]

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use rocm_loader::Library;

macro_rules! hip_functions {
    (
        required { $(fn $name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)* }
        optional { $(fn $new:ident($($new_argument:ident: $new_ty:ty),*) -> $new_result:ty;)* }
    ) => {
        /// One pointer for each HIP function in use; `None` for those that this HIP lacks.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument: $ty),*) -> $result,)*
            $(pub(crate) $new: Option<unsafe extern "C" fn($($new_argument: $new_ty),*) -> $new_result>,)*
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
                let process = Library::process();
                Self {
                    $($name: black_box($name as unsafe extern "C" fn($($argument: $ty),*) -> $result),)*
                    $(
                        // SAFETY: requires that the symbol is a function of this type; holds because these are HIP's
                        // names and signatures, and this program is linked with HIP.
                        $new: unsafe { process.symbol::<unsafe extern "C" fn($($new_argument: $new_ty),*) -> $new_result>(
                            symbol_name(concat!(stringify!($new), "\0")),
                        ) },
                    )*
                }
            }

            /// The functions of a loaded HIP, or the name of the first one it lacks.
            pub(crate) fn from_library(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: requires that the symbol is a function of this type; holds because these are HIP's
                        // names and signatures, and whoever loaded the library vouched for it being HIP.
                        $name: unsafe { library.symbol::<unsafe extern "C" fn($($argument: $ty),*) -> $result>(
                            symbol_name(concat!(stringify!($name), "\0")),
                        ) }
                        .ok_or(stringify!($name))?,
                    )*
                    $(
                        // SAFETY: as above.
                        $new: unsafe { library.symbol::<unsafe extern "C" fn($($new_argument: $new_ty),*) -> $new_result>(
                            symbol_name(concat!(stringify!($new), "\0")),
                        ) },
                    )*
                })
            }
        }
    };
}

/// A name with its NUL as a C string.
fn symbol_name(name: &'static str) -> &'static CStr {
    CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default()
}

/// A function that a stream calls: it must not unwind and must not call HIP.
pub(crate) type HostFunction = unsafe extern "C" fn(data: *mut c_void);

hip_functions! {
    required {
        fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: c_int) -> c_uint;
        fn hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> c_uint;
        fn hipEventCreateWithFlags(event: *mut *mut c_void, flags: c_uint) -> c_uint;
        fn hipEventDestroy(event: *mut c_void) -> c_uint;
        fn hipEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, stop: *mut c_void) -> c_uint;
        fn hipEventQuery(event: *mut c_void) -> c_uint;
        fn hipEventRecord(event: *mut c_void, stream: *mut c_void) -> c_uint;
        fn hipEventSynchronize(event: *mut c_void) -> c_uint;
        fn hipFree(pointer: *mut c_void) -> c_uint;
        fn hipGetDevice(device: *mut c_int) -> c_uint;
        fn hipGetDeviceCount(count: *mut c_int) -> c_uint;
        fn hipGetErrorName(error: c_uint) -> *const c_char;
        fn hipGetErrorString(error: c_uint) -> *const c_char;
        fn hipHostFree(pointer: *mut c_void) -> c_uint;
        fn hipHostMalloc(pointer: *mut *mut c_void, size: usize, flags: c_uint) -> c_uint;
        fn hipMalloc(pointer: *mut *mut c_void, size: usize) -> c_uint;
        fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> c_uint;
        fn hipMemcpy(destination: *mut c_void, source: *const c_void, size: usize, kind: c_uint) -> c_uint;
        fn hipMemcpyAsync(
            destination: *mut c_void,
            source: *const c_void,
            size: usize,
            kind: c_uint,
            stream: *mut c_void
        ) -> c_uint;
        fn hipMemset(destination: *mut c_void, value: c_int, size: usize) -> c_uint;
        fn hipMemsetAsync(destination: *mut c_void, value: c_int, size: usize, stream: *mut c_void) -> c_uint;
        fn hipSetDevice(device: c_int) -> c_uint;
        fn hipStreamCreateWithPriority(stream: *mut *mut c_void, flags: c_uint, priority: c_int) -> c_uint;
        fn hipStreamDestroy(stream: *mut c_void) -> c_uint;
        fn hipStreamGetFlags(stream: *mut c_void, flags: *mut c_uint) -> c_uint;
        fn hipStreamGetPriority(stream: *mut c_void, priority: *mut c_int) -> c_uint;
        fn hipStreamQuery(stream: *mut c_void) -> c_uint;
        fn hipStreamSynchronize(stream: *mut c_void) -> c_uint;
        fn hipStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) -> c_uint;
    }
    optional {
        fn hipFreeAsync(pointer: *mut c_void, stream: *mut c_void) -> c_uint;
        fn hipGetProcAddress(
            symbol: *const c_char,
            function: *mut *mut c_void,
            version: c_int,
            flags: u64,
            status: *mut c_uint
        ) -> c_uint;
        fn hipLaunchHostFunc(stream: *mut c_void, function: HostFunction, data: *mut c_void) -> c_uint;
        fn hipMallocAsync(pointer: *mut *mut c_void, size: usize, stream: *mut c_void) -> c_uint;
        fn hipRuntimeGetVersion(version: *mut c_int) -> c_uint;
    }
}
