//! The values of an operation, which its submitter may change until the stream reaches it.

use std::sync::atomic::{AtomicIsize, Ordering};

use hipfile_sys::hoff_t;

use crate::stream::Fixed;

/// Where the C interface has the values and wants the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointers {
    pub(crate) size: *mut usize,
    pub(crate) file_offset: *mut hoff_t,
    pub(crate) buffer_offset: *mut hoff_t,
    pub(crate) result: *mut isize,
}

/// The values at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) size: usize,
    pub(crate) file_offset: i64,
    pub(crate) buffer_offset: i64,
}

// SAFETY: requires that other threads may follow the pointers; holds because the C interface says that a thread of HIP
// does.
unsafe impl Send for Pointers {}

impl Pointers {
    pub(crate) fn any_null(&self) -> bool {
        self.size.is_null()
            || self.file_offset.is_null()
            || self.buffer_offset.is_null()
            || self.result.is_null()
    }

    /// The values as they are now.
    ///
    /// # Safety
    ///
    /// No pointer is null, and each is good for reading, as the C interface demands until the operation has ended.
    pub(crate) unsafe fn read(&self) -> Values {
        // SAFETY: requires readable places; holds by contract.
        unsafe { self.read_again(Values { size: 0, file_offset: 0, buffer_offset: 0 }, Fixed::default()) }
    }

    /// The values as they are now, except for those that are fixed.
    ///
    /// # Safety
    ///
    /// As for [`Pointers::read`], of those that are not fixed.
    pub(crate) unsafe fn read_again(&self, before: Values, fixed: Fixed) -> Values {
        let Values { mut size, mut file_offset, mut buffer_offset } = before;
        if !fixed.size {
            // SAFETY: requires a readable place; holds by contract.
            size = unsafe { self.size.read_volatile() };
        }
        if !fixed.file_offset {
            // SAFETY: as above.
            file_offset = unsafe { self.file_offset.read_volatile() };
        }
        if !fixed.buffer_offset {
            // SAFETY: as above.
            buffer_offset = unsafe { self.buffer_offset.read_volatile() };
        }
        Values { size, file_offset, buffer_offset }
    }

    /// Stores the result. Everything done before is visible to a thread that sees it.
    ///
    /// # Safety
    ///
    /// The result's place is good for writing, as the C interface demands until the operation has ended.
    pub(crate) unsafe fn publish(&self, result: isize) {
        // SAFETY: requires a place for an isize that is otherwise accessed in order or atomically; holds by contract.
        unsafe { AtomicIsize::from_ptr(self.result) }.store(result, Ordering::Release);
    }
}
