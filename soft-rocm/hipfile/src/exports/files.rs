//! `hipFileHandleRegister`, `hipFileHandleDeregister`.

use std::ffi::c_int;

use hipfile_sys::{hipFileDescr_t, hipFileError_t, hipFileHandle_t, hipFileHandleTypeOpaqueFD};
use soft_rocm_faults::point;

use crate::abi::{self, Called};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::file::File;
use crate::stats::Stats;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileHandleRegister(
    fh: *mut hipFileHandle_t,
    descr: *mut hipFileDescr_t,
) -> hipFileError_t {
    abi::status(Called::on(point::hipFileHandleRegister, &|| descriptor(descr)), || {
        if fh.is_null() || descr.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        let fd = descriptor(descr).ok_or(Failure::IO_NOT_SUPPORTED)?;
        let handle = Driver::get().register_file(File::new(fd)?)?;
        Stats::get().file_registered();
        // SAFETY: requires a writable handle; the C interface demands one.
        unsafe { fh.write(handle) };
        Ok(())
    })
}

/// The descriptor in a structure, if it is there and holds one.
fn descriptor(descr: *const hipFileDescr_t) -> Option<c_int> {
    if descr.is_null() {
        return None;
    }
    // SAFETY: requires a readable descriptor structure; the C interface demands one, and it is not null.
    let descr = unsafe { descr.read() };
    if descr.type_ != hipFileHandleTypeOpaqueFD {
        return None;
    }
    // SAFETY: requires that the union holds a descriptor; its type says so, and any int is one.
    Some(unsafe { descr.handle.fd })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileHandleDeregister(fh: hipFileHandle_t) {
    let file = || Driver::get().descriptor(fh);
    abi::silent(Called::on(point::hipFileHandleDeregister, &file), || Driver::get().deregister_file(fh));
}
