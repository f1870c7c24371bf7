//! The calling thread's current device, changed for a while.

use core::ffi::c_int;
use core::marker::PhantomData;

use crate::calls::Failure;
use crate::ffi::Functions;

/// Keeps a device current on this thread; Drop makes the previous one current again.
///
/// Made by [`Device::make_current`](crate::Device::make_current). It stays on its thread, since the current device is the
/// thread's. Guards that are dropped in another order than the reverse of their making leave the device that the last one
/// dropped had found. Forgetting one leaves its device current.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Device, DeviceGuard};
///
/// let before = Device::current()?;
/// for device in Device::all()? {
///     let _guard: DeviceGuard = device.make_current()?;
///     assert_eq!(Device::current()?, device);
/// }
/// assert_eq!(Device::current()?, before);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the previous device is current again as soon as the guard is dropped"]
pub struct DeviceGuard {
    /// What to go back to, and by what; `None` if the device was current already.
    previous: Option<(&'static Functions, c_int)>,
    /// Not Send, not Sync.
    thread: PhantomData<*const ()>,
}

impl DeviceGuard {
    /// One call if `device` is current already.
    #[inline]
    pub(crate) fn enter(hip: &'static Functions, device: c_int) -> Result<Self, Failure> {
        let current = hip.current_device()?;
        let previous = if current == device {
            None
        } else {
            hip.set_device(device)?;
            Some((hip, current))
        };
        Ok(Self { previous, thread: PhantomData })
    }
}

impl Drop for DeviceGuard {
    #[inline]
    fn drop(&mut self) {
        let Some((hip, previous)) = self.previous else { return };
        if !crate::fork::forked() {
            // A failure can't be reported from here. The device was current before, so HIP has no reason to refuse it.
            _ = hip.set_device(previous);
        }
    }
}
