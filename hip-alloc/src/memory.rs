//! Memory that others may register and keep.
#![allow(unsafe_code, reason = "promises what registering code relies on")]

use core::ffi::c_void;
use std::sync::Arc;

use crate::buffer::DeviceBuffer;
use crate::device::Device;
use crate::registrations::{Access, Registrations};

/// Device memory that a library may be told about and keep a note of, as `hipfile::Driver::register` does.
///
/// Implemented by [`DeviceBuffer`], `&mut DeviceBuffer`, and `Arc` of any implementor. A framework implements it for its
/// own owning type:
///
/// ```
/// use std::ffi::c_void;
/// use hip_alloc::{Device, DeviceBuffer, DeviceMemory, DeviceMemoryMut};
///
/// struct Tensor {
///     storage: DeviceBuffer,
///     shape: Vec<usize>,
/// }
///
/// // SAFETY: the storage is private, is never replaced, goes with the tensor, and is written through `&mut` only.
/// unsafe impl DeviceMemory for Tensor {
///     fn as_ptr(&self) -> *mut c_void {
///         self.storage.as_ptr()
///     }
///     fn len(&self) -> usize {
///         self.storage.len()
///     }
///     fn device(&self) -> Device {
///         self.storage.device()
///     }
/// }
///
/// // SAFETY: only one tensor has the storage, and nothing is written through `&Tensor`.
/// unsafe impl DeviceMemoryMut for Tensor {}
///
/// # fn main() -> hip_alloc::Result<()> {
/// let tensor = Tensor { storage: DeviceBuffer::new(24)?, shape: vec![2, 3] };
/// assert!(!tensor.is_empty());
/// # assert_eq!(tensor.shape, [2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// - [`as_ptr`](Self::as_ptr), [`len`](Self::len) and [`device`](Self::device) describe device memory and return the same as
///   long as the value exists, also after it was moved.
/// - That memory stays allocated until the value is dropped, and **for ever if the value is forgotten** (as the pinning
///   guarantee has it, but for what the value owns). A view into a pool that can be emptied under it can't promise this.
/// - No safe function writes the memory while the value is shared, by `&` or in an [`Arc`]: slices that borrow it rely on
///   its bytes staying as they are.
///
/// A mutable borrow ends when its guard is forgotten, so `&mut T` can't promise the second in general. That of a
/// [`DeviceBuffer`] may, because the buffer keeps note of its registrations and removes them before its memory goes.
pub unsafe trait DeviceMemory {
    /// The address of the first byte on the device.
    fn as_ptr(&self) -> *mut c_void;

    /// Number of bytes, at most `isize::MAX`.
    fn len(&self) -> usize;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device that the memory is on.
    fn device(&self) -> Device;

    /// Where registrations of this memory are noted, and what access this value has to it; `None` if the memory promises to
    /// stay by itself.
    #[doc(hidden)]
    fn registrations(&self) -> Option<(&Registrations, Access)> {
        None
    }
}

/// Device memory that its value has to itself: what `&mut` of the value allows to write.
///
/// # Safety
/// Nobody else reads or writes the memory while the value exists, except through a borrow of the value; through `&` only to
/// read.
pub unsafe trait DeviceMemoryMut: DeviceMemory {}

// SAFETY: requires a stable description of memory that goes only with the value and is not written while that is shared;
// holds because no method changes the region of a buffer, only Drop, `free` and `into_raw` take the memory, forgetting a
// buffer runs none of them, and what writes takes `&mut` or the buffer.
unsafe impl DeviceMemory for DeviceBuffer {
    fn as_ptr(&self) -> *mut c_void {
        self.as_ptr()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn device(&self) -> Device {
        self.device()
    }

    fn registrations(&self) -> Option<(&Registrations, Access)> {
        Some((&self.registrations, Access::Exclusive))
    }
}

// SAFETY: requires exclusive memory; holds because a buffer is the only owner, and `&DeviceBuffer` only reads.
unsafe impl DeviceMemoryMut for DeviceBuffer {}

// SAFETY: requires a stable description of memory that does not go before the value and is not written while that is
// shared; holds because the buffer can't be dropped, moved, replaced or written while it is borrowed, but through the
// borrow. After the borrow was forgotten the memory may go, but not before the buffer has removed what was registered.
unsafe impl DeviceMemory for &mut DeviceBuffer {
    fn as_ptr(&self) -> *mut c_void {
        DeviceBuffer::as_ptr(self)
    }

    fn len(&self) -> usize {
        DeviceBuffer::len(self)
    }

    fn device(&self) -> Device {
        DeviceBuffer::device(self)
    }

    fn registrations(&self) -> Option<(&Registrations, Access)> {
        Some((&self.registrations, Access::Exclusive))
    }
}

// SAFETY: requires exclusive memory; holds because the borrow is exclusive, and `&&mut DeviceBuffer` only reads.
unsafe impl DeviceMemoryMut for &mut DeviceBuffer {}

// SAFETY: requires a stable description of memory that does not go before the value and is not written while that is
// shared; holds because the pointee, which promises the same, is not moved, and is dropped at the earliest with this `Arc`:
// not at all if this one is forgotten.
unsafe impl<M: DeviceMemory + ?Sized> DeviceMemory for Arc<M> {
    fn as_ptr(&self) -> *mut c_void {
        (**self).as_ptr()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn device(&self) -> Device {
        (**self).device()
    }

    fn registrations(&self) -> Option<(&Registrations, Access)> {
        (**self).registrations().map(|(registrations, _)| (registrations, Access::Shared))
    }
}
