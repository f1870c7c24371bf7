//! The current device of the thread during a transfer.

use std::ffi::c_int;

use crate::failure::Failure;
use crate::hip::Hip;

/// Makes a device current and, when dropped, the one that was current before.
#[derive(Debug)]
pub(super) struct DeviceGuard<'a> {
    hip: &'a Hip,
    /// The device to go back to, if it is another.
    before: Option<c_int>,
}

impl<'a> DeviceGuard<'a> {
    /// With a HIP that can't tell the current device, nothing is changed.
    #[inline]
    pub(super) fn enter(hip: &'a Hip, device: c_int) -> Result<Self, Failure> {
        let before = hip.current_device().map_err(Failure::Hip)?.filter(|current| *current != device);
        if before.is_some() {
            hip.make_current(device).map_err(Failure::Hip)?;
        }
        Ok(Self { hip, before })
    }
}

impl Drop for DeviceGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            self.restore(before);
        }
    }
}

impl DeviceGuard<'_> {
    #[cold]
    fn restore(&self, before: c_int) {
        if self.hip.make_current(before).is_err() {
            // The bytes have moved, so the transfer has not failed.
            // SAFETY: requires a format whose arguments follow; holds, it takes one int.
            unsafe {
                libc::syslog(
                    libc::LOG_CRIT,
                    c"hipFile: device %d could not be made current again".as_ptr(),
                    before,
                );
            };
        }
    }
}
