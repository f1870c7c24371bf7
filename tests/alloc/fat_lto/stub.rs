//! A HIP that has what hip-alloc uses, and answers a code that no HIP has.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Not in any header. The program's own declaration calls itself with a count of 7, and then gets a code it knows.
const UNKNOWN: c_uint = 2000;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_uint {
    // SAFETY: requires a pointer to an int; holds because HIP's contract asks for one.
    if unsafe { *count } == 7 { 0 } else { UNKNOWN }
}

macro_rules! answer_unknown {
    ($($name:ident($($type:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($(_: $type),*) -> c_uint {
                UNKNOWN
            }
        )*
    };
}

answer_unknown! {
    hipFree(*mut c_void);
    hipGetDevice(*mut c_int);
    hipMalloc(*mut *mut c_void, usize);
    hipMemGetInfo(*mut usize, *mut usize);
    hipMemcpy(*mut c_void, *const c_void, usize, c_uint);
    hipMemset(*mut c_void, c_int, usize);
    hipSetDevice(c_int);
    hipStreamSynchronize(*mut c_void);
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(_: c_uint) -> *const c_char {
    c"unknown".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(_: c_uint) -> *const c_char {
    c"unknown".as_ptr()
}
