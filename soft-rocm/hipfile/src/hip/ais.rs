//! The two functions of HIP that move data between a file and device memory without the host's.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use hipfile_sys::{hipError_t, hipSuccess};

use super::Hip;

pub(crate) type GetProcAddress =
    unsafe extern "C" fn(*const std::ffi::c_char, *mut *mut c_void, c_int, u64, *mut c_int) -> hipError_t;

/// `hipAmdFileRead` or `hipAmdFileWrite`: file, device address, size, file offset, bytes moved, status.
pub(crate) type ReadOrWrite =
    unsafe extern "C" fn(FileHandle, *mut c_void, u64, i64, *mut u64, *mut i32) -> hipError_t;

/// The file, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union FileHandle {
    fd: c_int,
    whole: u64,
}

impl FileHandle {
    pub(crate) fn new(fd: c_int) -> Self {
        let mut handle = Self { whole: 0 };
        handle.fd = fd;
        handle
    }

    /// The descriptor within.
    #[cfg(test)]
    pub(crate) fn fd(self) -> c_int {
        // SAFETY: requires an initialised int; holds because new wrote one.
        unsafe { self.fd }
    }
}

/// Both functions; one alone is no fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ais {
    pub(crate) read: ReadOrWrite,
    pub(crate) write: ReadOrWrite,
}

impl Hip {
    /// The fast path's functions, if this HIP has them. The first call decides for good.
    #[inline]
    pub(crate) fn ais(&self) -> Option<&Ais> {
        self.ais.get_or_init(|| self.find_ais()).as_ref()
    }

    #[cold]
    fn find_ais(&self) -> Option<Ais> {
        let version = self.version();
        Some(Ais {
            read: self.procedure(c"hipAmdFileRead", version)?,
            write: self.procedure(c"hipAmdFileWrite", version)?,
        })
    }

    fn procedure(&self, name: &CStr, version: c_int) -> Option<ReadOrWrite> {
        let look_up = self.get_proc_address?;
        let mut found = ptr::null_mut();
        // SAFETY: requires a C string and a writable pointer; holds. The status may be null.
        if unsafe { look_up(name.as_ptr(), &mut found, version, 0, ptr::null_mut()) } != hipSuccess {
            return None;
        }
        if found.is_null() {
            return None;
        }
        // SAFETY: requires a function of this type; holds because HIP gives these two names no other.
        Some(unsafe { std::mem::transmute::<*mut c_void, ReadOrWrite>(found) })
    }
}
