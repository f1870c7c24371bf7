//! Why a call fails, before the reason takes one of the three forms of the C interface.

use std::ffi::c_int;

use hipfile_sys::{self as sys, hipError_t, hipFileError_t, hipFileOpError_t};

/// The reason a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A code of hipFile's own.
    Op(hipFileOpError_t),
    /// What a HIP function returned.
    Hip(hipError_t),
    /// What a system call left in `errno`.
    Os(c_int),
}

impl Failure {
    pub(crate) const NOT_INITIALIZED: Self = Self::Op(sys::hipFileDriverNotInitialized);
    pub(crate) const UNSUPPORTED_LIMIT: Self = Self::Op(sys::hipFileDriverUnsupportedLimit);
    pub(crate) const ALREADY_OPEN: Self = Self::Op(sys::hipFileDriverAlreadyOpen);
    pub(crate) const CLOSING: Self = Self::Op(sys::hipFileDriverClosing);
    pub(crate) const IO_NOT_SUPPORTED: Self = Self::Op(sys::hipFileIONotSupported);
    pub(crate) const MEMORY_TYPE: Self = Self::Op(sys::hipFileHipMemoryTypeInvalid);
    pub(crate) const POINTER_RANGE: Self = Self::Op(sys::hipFileHipPointerRangeError);
    pub(crate) const INVALID_VALUE: Self = Self::Op(sys::hipFileInvalidValue);
    pub(crate) const BUFFER_REGISTERED: Self = Self::Op(sys::hipFileMemoryAlreadyRegistered);
    pub(crate) const BUFFER_NOT_REGISTERED: Self = Self::Op(sys::hipFileMemoryNotRegistered);
    pub(crate) const FILE_REGISTERED: Self = Self::Op(sys::hipFileHandleAlreadyRegistered);
    pub(crate) const FILE_NOT_REGISTERED: Self = Self::Op(sys::hipFileHandleNotRegistered);
    pub(crate) const BATCH_FULL: Self = Self::Op(sys::hipFileBatchFull);
    pub(crate) const INTERNAL: Self = Self::Op(sys::hipFileInternalError);

    /// The failure that the calling thread's `errno` names.
    pub(crate) fn last_os() -> Self {
        Self::Os(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }

    /// The form of functions that return a `hipFileError_t`: system errors are folded into 5030.
    pub(crate) fn into_status(self) -> hipFileError_t {
        match self {
            Self::Op(err) => hipFileError_t { err, hip_drv_err: sys::hipSuccess },
            Self::Hip(code) => hipFileError_t { err: sys::hipFileHipDriverError, hip_drv_err: code },
            Self::Os(_) => Self::INTERNAL.into_status(),
        }
    }

    /// The form of the synchronous transfers. HIP codes are negated as they are, so that `hipErrorInvalidValue`
    /// comes out as −1, as it does from AMD's library.
    pub(crate) fn into_count(self) -> isize {
        match self {
            Self::Op(code) => negated(code.0),
            Self::Hip(code) => negated(code.0),
            Self::Os(_) => -1,
        }
    }

    /// The form of the events of batches: which code HIP gave is not told.
    pub(crate) fn into_event(self) -> isize {
        match self {
            Self::Op(code) => negated(code.0),
            Self::Hip(_) => negated(sys::hipFileHipDriverError.0),
            Self::Os(errno) => -(errno as isize),
        }
    }
}

/// `hipFileSuccess` in the form of functions that return a `hipFileError_t`.
pub(crate) const SUCCESS: hipFileError_t =
    hipFileError_t { err: sys::hipFileSuccess, hip_drv_err: sys::hipSuccess };

fn negated(code: u32) -> isize {
    isize::try_from(code).map_or(isize::MIN, |code| -code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(failure: Failure) -> (u32, u32) {
        let status = failure.into_status();
        (status.err.0, status.hip_drv_err.0)
    }

    #[test]
    fn statuses() {
        assert_eq!(status(Failure::INVALID_VALUE), (5022, 0));
        assert_eq!(status(Failure::Hip(hipError_t(2))), (5011, 2));
        assert_eq!(status(Failure::Os(libc::EMFILE)), (5030, 0));
        assert_eq!((SUCCESS.err.0, SUCCESS.hip_drv_err.0), (0, 0));
    }

    #[test]
    fn counts() {
        assert_eq!(Failure::FILE_NOT_REGISTERED.into_count(), -5027);
        assert_eq!(Failure::Hip(hipError_t(999)).into_count(), -999);
        assert_eq!(Failure::Hip(hipError_t(1)).into_count(), -1);
        assert_eq!(Failure::Os(libc::EBADF).into_count(), -1);
    }

    #[test]
    fn events() {
        assert_eq!(Failure::INTERNAL.into_event(), -5030);
        assert_eq!(Failure::Hip(hipError_t(1)).into_event(), -5011);
        assert_eq!(Failure::Os(libc::EFBIG).into_event(), -27);
    }

    #[test]
    fn codes() {
        let code = |failure: Failure| -failure.into_count();
        assert_eq!(code(Failure::NOT_INITIALIZED), 5001);
        assert_eq!(code(Failure::UNSUPPORTED_LIMIT), 5003);
        assert_eq!(code(Failure::ALREADY_OPEN), 5026);
        assert_eq!(code(Failure::CLOSING), 5006);
        assert_eq!(code(Failure::IO_NOT_SUPPORTED), 5008);
        assert_eq!(code(Failure::MEMORY_TYPE), 5013);
        assert_eq!(code(Failure::POINTER_RANGE), 5014);
        assert_eq!(code(Failure::BUFFER_REGISTERED), 5023);
        assert_eq!(code(Failure::BUFFER_NOT_REGISTERED), 5024);
        assert_eq!(code(Failure::FILE_REGISTERED), 5028);
        assert_eq!(code(Failure::INTERNAL), 5030);
    }
}
