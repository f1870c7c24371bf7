//! Fills of elements of 2 bytes: pairs of them as words of 4 bytes, and what is left at the ends.

use crate::bindings::{hipError_t, hipMemcpyHostToDevice};
use crate::memory::Memory;

const SIZE: usize = size_of::<u16>();

impl Memory {
    /// Fills `count` elements of 2 bytes as [`Memory::fill`] fills bytes.
    ///
    /// # Safety
    ///
    /// As for [`Memory::fill`].
    pub(crate) unsafe fn fill_halves(
        &self,
        dst: *mut u8,
        value: u16,
        count: usize,
    ) -> Result<(), hipError_t> {
        self.elements::<u16>(dst, count)?;
        let before = count.min(dst.addr() / SIZE % 2);
        let (pairs, after) = ((count - before) / 2, (count - before) % 2);
        let middle = dst.wrapping_add(before * SIZE);
        let one = value.to_ne_bytes();
        // SAFETY: requires that nobody uses the range, and a readable source; holds by contract, and for the local.
        unsafe { self.copy(dst, one.as_ptr(), before * SIZE, hipMemcpyHostToDevice) }?;
        // SAFETY: requires that nobody uses the range; holds by contract.
        unsafe { self.fill_words(middle, u32::from(value) << 16 | u32::from(value), pairs) }?;
        let end = middle.wrapping_add(pairs * 2 * SIZE);
        // SAFETY: as for the first one.
        unsafe { self.copy(end, one.as_ptr(), after * SIZE, hipMemcpyHostToDevice) }
    }
}
