//! What the HIP in use has beyond the functions that this crate calls.
#![allow(unsafe_code, reason = "the calls into HIP")]

use core::ffi::CStr;
use core::ptr;

use crate::calls::check;
use crate::ffi::Functions;
use crate::table;

/// Whether the HIP in use has all of these functions, by its own account. Without a device, or in a forked child, it has none.
#[must_use]
pub fn has_functions(names: &[&CStr]) -> bool {
    table::functions("has_functions").is_ok_and(|hip| names.iter().all(|name| hip.has_function(name)))
}

impl Functions {
    fn has_function(&self, name: &CStr) -> bool {
        let (Some(look_up), Some(runtime_version)) = (self.hipGetProcAddress, self.hipRuntimeGetVersion)
        else {
            return false;
        };
        let (mut version, mut found) = (0, ptr::null_mut());
        // SAFETY: requires a pointer to an int for the result; holds because `version` is one.
        let code = unsafe { runtime_version(&mut version) };
        if check("hipRuntimeGetVersion", code).is_err() {
            return false;
        }
        // SAFETY: requires a C string and a pointer to a pointer for the result; holds for both. The status may be null.
        let code = unsafe { look_up(name.as_ptr(), &mut found, version, 0, ptr::null_mut()) };
        check("hipGetProcAddress", code).is_ok() && !found.is_null()
    }
}
