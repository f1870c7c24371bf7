//! `hipFileHandleRegister`, `hipFileHandleDeregister`.

use hipfile_sys::{hipFileDescr_t, hipFileError_t, hipFileHandle_t, hipFileHandleTypeOpaqueFD};

use crate::abi;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::file::File;
use crate::stats::Stats;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileHandleRegister(
    fh: *mut hipFileHandle_t,
    descr: *mut hipFileDescr_t,
) -> hipFileError_t {
    abi::status(|| {
        if fh.is_null() || descr.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        // SAFETY: requires a readable descriptor structure; the C interface demands one.
        let descr = unsafe { descr.read() };
        if descr.type_ != hipFileHandleTypeOpaqueFD {
            return Err(Failure::IO_NOT_SUPPORTED);
        }
        // SAFETY: requires that the union holds a descriptor; its type says so, and any int is one.
        let fd = unsafe { descr.handle.fd };
        let handle = Driver::get().register_file(File::new(fd)?)?;
        Stats::get().file_registered();
        // SAFETY: requires a writable handle; the C interface demands one.
        unsafe { fh.write(handle) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileHandleDeregister(fh: hipFileHandle_t) {
    abi::silent(|| Driver::get().deregister_file(fh));
}
