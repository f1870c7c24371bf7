//! Device memory, and host memory where that is asked for: what registration remembers of it, and what is found out
//! about memory nobody registered.

use std::ffi::{c_int, c_void};

use hipfile_sys::{self as sys, hipError_t};

use crate::failure::Failure;
use crate::hip::Hip;

/// A stretch of memory that transfers may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Its first byte, an address for device code, or for host code if it is host memory.
    pub(crate) base: usize,
    /// Its length in bytes, which may be 0.
    pub(crate) len: usize,
    /// The device it belongs to.
    pub(crate) device: c_int,
    /// Whether it is pinned host memory, an extension.
    pub(crate) host: bool,
}

impl Buffer {
    /// Checks memory that is to be registered.
    ///
    /// # Errors
    ///
    /// 5022 for null and for pointers HIP does not know, 5013 for memory that is neither a device's nor, if `host` is
    /// allowed, the host's, 5014 for a range that leaves its allocation (the host's are not looked up), else what HIP
    /// said.
    pub(crate) fn to_register(
        hip: &Hip,
        host: bool,
        pointer: *const c_void,
        len: usize,
    ) -> Result<Self, Failure> {
        let attributes = hip.attributes(pointer).map_err(|code| match code {
            sys::hipErrorInvalidValue => Failure::INVALID_VALUE,
            other => Failure::Hip(other),
        })?;
        let device = attributes.device;
        if host && attributes.kind == hip.host_memory() {
            let in_memory = (pointer as usize).checked_add(len).is_some();
            return if in_memory {
                Ok(Self { base: pointer as usize, len, device, host })
            } else {
                Err(Failure::POINTER_RANGE)
            };
        }
        if attributes.kind != hip.device_memory {
            return Err(Failure::MEMORY_TYPE);
        }
        let available = reach(hip, pointer).map_err(|code| match code {
            sys::hipErrorNotFound | sys::hipErrorInvalidValue => Failure::INVALID_VALUE,
            other => Failure::Hip(other),
        })?;
        if len > available {
            return Err(Failure::POINTER_RANGE);
        }
        Ok(Self { base: pointer as usize, len, device, host: false })
    }

    /// Finds out about memory that a transfer names without its being registered: it reaches to the end of its
    /// allocation.
    ///
    /// # Errors
    ///
    /// 5013 for memory that is not a device's, 5022 for the host's if `host` is allowed, since it must be registered,
    /// else what HIP said.
    pub(crate) fn unregistered(hip: &Hip, host: bool, pointer: *const c_void) -> Result<Self, Failure> {
        let attributes = hip.attributes(pointer).map_err(Failure::Hip)?;
        if host && attributes.kind == hip.host_memory() {
            return Err(Failure::INVALID_VALUE);
        }
        if attributes.kind != hip.device_memory {
            return Err(Failure::MEMORY_TYPE);
        }
        let len = reach(hip, pointer).map_err(Failure::Hip)?;
        Ok(Self { base: pointer as usize, len, device: attributes.device, host: false })
    }

    /// Whether `size` bytes at `offset` are a range to transfer: the offset must lie before the end even if the size
    /// is 0.
    pub(crate) fn check_range(&self, offset: i64, size: usize) -> Result<(), Failure> {
        usize::try_from(offset)
            .ok()
            .and_then(|offset| self.len.checked_sub(offset))
            .filter(|rest| *rest > 0 && size <= *rest)
            .map(|_| ())
            .ok_or(Failure::INVALID_VALUE)
    }

    /// The address of a byte of the buffer, for whom its base is one.
    pub(crate) fn address(&self, offset: i64) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.base.wrapping_add(offset as usize))
    }
}

/// How far it is from a pointer to the end of its allocation.
fn reach(hip: &Hip, pointer: *const c_void) -> Result<usize, hipError_t> {
    let (base, len) = hip.allocation(pointer)?;
    Ok((base as usize).saturating_add(len).saturating_sub(pointer as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hip::test::{DEVICE, Mock};

    fn buffer(len: usize) -> Buffer {
        Buffer { base: 0x1000, len, device: 0, host: false }
    }

    #[test]
    fn ranges() {
        let ok = |len, offset, size| buffer(len).check_range(offset, size).is_ok();
        assert!(ok(10, 0, 10));
        assert!(ok(10, 0, 0));
        assert!(ok(10, 9, 1));
        assert!(ok(10, 9, 0));
        assert!(!ok(10, 10, 0), "the offset must lie before the end");
        assert!(!ok(10, 9, 2));
        assert!(!ok(10, 11, 0));
        assert!(!ok(10, 1, usize::MAX));
        assert!(!ok(10, -1, 1));
        assert!(!ok(10, i64::MAX, 1));
        assert!(!ok(0, 0, 0), "a buffer without bytes has no range");
        assert!(ok(usize::MAX, 1, usize::MAX - 1));
    }

    #[test]
    fn registration_checks_in_order() {
        let mock = Mock::new(4096);
        let pointer = mock.pointer();
        let check = |pointer, len| Buffer::to_register(&mock.hip, false, pointer, len);
        assert_eq!(
            check(pointer, 4096),
            Ok(Buffer { base: pointer as usize, len: 4096, device: DEVICE, host: false })
        );
        assert_eq!(check(pointer.wrapping_byte_add(4095), 1).map(|b| b.len), Ok(1));
        assert_eq!(check(pointer, 0).map(|b| b.len), Ok(0));
        assert_eq!(check(pointer, 4097), Err(Failure::POINTER_RANGE));
        assert_eq!(check(pointer.wrapping_byte_add(1), 4096), Err(Failure::POINTER_RANGE));
        assert_eq!(check(pointer, usize::MAX), Err(Failure::POINTER_RANGE));
        let host = std::ptr::from_ref(&mock).cast();
        assert_eq!(check(host, usize::MAX), Err(Failure::MEMORY_TYPE));
    }

    #[test]
    fn hip_errors_of_registration() {
        let mock = Mock::new(4096);
        let check = || Buffer::to_register(&mock.hip, false, mock.pointer(), 1);
        mock.fail("hipMemGetAddressRange", 500);
        assert_eq!(check(), Err(Failure::INVALID_VALUE));
        mock.fail("hipMemGetAddressRange", 1);
        assert_eq!(check(), Err(Failure::INVALID_VALUE));
        mock.fail("hipMemGetAddressRange", 719);
        assert_eq!(check(), Err(Failure::Hip(hipError_t(719))));
        mock.fail("hipPointerGetAttributes", 1);
        assert_eq!(check(), Err(Failure::INVALID_VALUE));
        mock.fail("hipPointerGetAttributes", 101);
        assert_eq!(check(), Err(Failure::Hip(hipError_t(101))));
    }

    #[test]
    fn unregistered_memory_reaches_to_the_end_and_keeps_the_codes_of_hip() {
        let mock = Mock::new(4096);
        let inside = mock.pointer().wrapping_byte_add(96);
        assert_eq!(Buffer::unregistered(&mock.hip, false, inside).map(|b| b.len), Ok(4000));
        let host = std::ptr::from_ref(&mock).cast();
        assert_eq!(Buffer::unregistered(&mock.hip, false, host), Err(Failure::MEMORY_TYPE));
        mock.fail("hipMemGetAddressRange", 500);
        assert_eq!(Buffer::unregistered(&mock.hip, false, inside), Err(Failure::Hip(hipError_t(500))));
        mock.fail("hipPointerGetAttributes", 1);
        assert_eq!(Buffer::unregistered(&mock.hip, false, inside), Err(Failure::Hip(hipError_t(1))));
    }

    #[test]
    fn host_memory_is_registered_where_that_is_allowed_and_used_only_then() {
        let mock = Mock::new(4096);
        let host = vec![0_u8; 64];
        let pointer: *const c_void = host.as_ptr().cast();
        mock.pin(&host);
        let registered = Buffer { base: pointer as usize, len: 1 << 40, device: 0, host: true };
        assert_eq!(Buffer::to_register(&mock.hip, true, pointer, 1 << 40), Ok(registered));
        assert_eq!(Buffer::to_register(&mock.hip, true, pointer, usize::MAX), Err(Failure::POINTER_RANGE));
        assert_eq!(Buffer::to_register(&mock.hip, false, pointer, 1), Err(Failure::MEMORY_TYPE));
        assert_eq!(Buffer::unregistered(&mock.hip, true, pointer), Err(Failure::INVALID_VALUE));
        assert_eq!(Buffer::unregistered(&mock.hip, false, pointer), Err(Failure::MEMORY_TYPE));
        let plain = std::ptr::from_ref(&mock).cast();
        assert_eq!(Buffer::to_register(&mock.hip, true, plain, 1), Err(Failure::MEMORY_TYPE));
        assert_eq!(Buffer::unregistered(&mock.hip, true, plain), Err(Failure::MEMORY_TYPE));
    }
}
