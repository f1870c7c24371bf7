//! Device memory as the C library has it named.

use std::ffi::c_void;
use std::ops::Range;

use hip_alloc::Device;

/// Bytes of device memory. The library finds a registration by its exact base only, so base and offset stay apart.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub(crate) base: Address,
    pub(crate) offset: usize,
    pub(crate) len: usize,
    pub(crate) device: Device,
}

/// An address on a device. This crate hands it on and never dereferences it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(pub(crate) *mut c_void);

#[allow(unsafe_code, reason = "a number, for all that this crate does with it")]
// SAFETY: requires that the pointer may move between threads; holds because it is used as a number only.
unsafe impl Send for Address {}
#[allow(unsafe_code, reason = "a number, for all that this crate does with it")]
// SAFETY: requires that the pointer may be seen by several threads; holds because it is used as a number only.
unsafe impl Sync for Address {}

impl Address {
    /// The address `offset` bytes on. The result is only meaningful inside the same memory, which the caller checked.
    pub(crate) fn after(self, offset: usize) -> Self {
        Self(self.0.cast::<u8>().wrapping_add(offset).cast())
    }
}

impl Span {
    /// The `len` bytes from `offset` of this span. The caller checked that they are inside.
    pub(crate) fn part(self, offset: usize, len: usize) -> Self {
        Self { offset: self.offset.wrapping_add(offset), len, ..self }
    }

    /// What is left after the first `done` bytes.
    pub(crate) fn rest(self, done: usize) -> Self {
        self.part(done, self.len.saturating_sub(done))
    }

    /// The same bytes, counted from a `base` at or below them.
    pub(crate) fn based(self, base: usize) -> Self {
        let offset = self.start().0.addr().saturating_sub(base);
        Self { base: Address(self.start().0.cast::<u8>().wrapping_sub(offset).cast()), offset, ..self }
    }

    /// Which bytes they are, counted from the base.
    pub(crate) fn bytes(self) -> Range<usize> {
        self.offset..self.offset.wrapping_add(self.len)
    }

    /// The address of the first byte.
    pub(crate) fn start(self) -> Address {
        self.base.after(self.offset)
    }
}
