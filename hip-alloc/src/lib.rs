//! Safe ownership of AMD GPU memory over HIP.
//!
//! ```
//! # fn main() -> hip_alloc::Result<()> {
//! use hip_alloc::DeviceBuffer;
//!
//! let mut buffer = DeviceBuffer::zeroed(4096)?;
//! buffer.copy_from_host(16, b"weights")?;
//! assert_eq!(buffer.slice(16..23)?.to_vec()?, b"weights");
//! # Ok(())
//! # }
//! ```
//!
//! It needs Linux and HIP 5.2 or later: when it is built, or, without feature `link`, only when it
//! [runs](#linked-or-loaded). Where there is none, or no GPU, the software ROCm of the
//! [repository](https://github.com/hipfile-rs/hipfile-rs) takes its place. The crate `hipfile` moves bytes between files and
//! this memory.
//!
//! # What there is
//! ```text
//!   Device::current / Device::new
//!      │ make_current ──► DeviceGuard ── Drop: the previous device is current again
//!      ▼
//!   DeviceBuffer::{new, zeroed, with_alignment, from_host, new_on}  hipMalloc, hipMallocAsync
//!      │ slice, slice_mut ──► DeviceSlice<'_>, DeviceSliceMut<'_>   checked ranges, no call
//!      │ copy_from_host, copy_to_host, to_vec, fill                 hipMemcpy, hipMemset, then a wait
//!      │ registrations that others made (hipfile)  ──► removed before the memory goes
//!      ▼
//!   Drop, free, into_raw                                            hipFree, hipFreeAsync, or leaked and counted
//!
//!   PinnedBuffer ── Deref to [u8] ── Drop                           hipHostMalloc, hipHostFree
//!
//!   Stream::new, StreamOptions::create, StreamRef::{default_of, from_raw}
//!      │ Event::record ──► wait_event                               order between streams
//!      │ copy_from_host, copy_to_host, copy, fill ──► Operation     hipMemcpyAsync, hipMemsetAsync on memory that it owns
//!      │      │                                                     hipLaunchHostFunc behind it, or an event
//!      │      ├─ wait, try_wait, await ──► the memory, back         after the stream has passed
//!      │      └─ Drop ──► a thread drops the memory                 then, or it is leaked and counted
//!      │ scope ──► Scope::{copy_from_host, copy_to_host, copy, fill}   the same on borrowed memory
//!      │      └─ the end of the scope                               hipStreamSynchronize, also on unwind, or abort
//!      ▼
//!   Drop of the last clone                                          hipStreamDestroy; its work is still done
//! ```
//!
//! # Rules that hold everywhere
//! - **Bytes.** Device memory is a run of `u8`: every bit pattern that a device can leave there is valid. Lengths, offsets
//!   and ranges are in bytes and checked with checked arithmetic before any call; zero bytes never reach HIP.
//! - **Device.** The calling thread's current HIP device is the same before and after every call, on error paths too; only
//!   [`Device::make_current`] changes it, until its guard is dropped. A buffer remembers its device.
//! - **Waiting.** Copies and fills have happened when they return: each ends with a wait for the device's default stream.
//!   They are ordered after work in the default stream and in streams that synchronise with it, not after work in
//!   streams created as non-blocking: wait for those first. Work of a scope has happened when the scope ends, that
//!   of an operation when it gives its memory back.
//! - **Drop never panics.** Memory that cannot be freed is leaked and counted ([`leaked`]); [`DeviceBuffer::free`] gives
//!   the reason and the buffer.
//! - **Threads.** The first operation starts `hip-completion`, which wakes futures and notices lost devices; the first one
//!   that is dropped under way starts `hip-discard`, which frees what those owned. They block all signals but those of
//!   faults, and live as long as the process.
//! - **Forgetting is safe.** A guard over a buffer that is passed to [`core::mem::forget`] costs at most memory: see
//!   [`DeviceMemory`].
//! - **Fork.** HIP does not survive `fork`. In a child every use of HIP returns [`ErrorKind::Forked`] and Drop does nothing.
//!
//! # Linked or loaded
//! With feature `link` (default) the program is linked with `libamdhip64`, found at build time. Without it the library is
//! loaded on first use: the one already in the process, else from `ROCM_PATH`, `/opt/rocm/core-*`, `/opt/rocm` and the
//! system's directories, else [`ErrorKind::NotLoaded`] lists the places tried. [`load`] names the file instead.
#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("hip-alloc runs on Linux only: AMD's HIP for other systems lacks what it relies on");

mod attribute;
mod buffer;
mod calls;
mod completion;
mod device;
mod discards;
mod error;
mod event;
mod failed;
mod ffi;
mod fork;
mod functions;
mod guard;
mod hip_error;
mod host_function;
mod in_flight;
mod leaks;
mod memory;
mod operation;
mod owned_copies;
mod payload;
mod pinned;
mod progress;
mod quietly;
mod range;
mod region;
mod registrations;
mod release;
mod scope;
mod scoped_copies;
mod service;
mod slice;
mod slice_mut;
mod stream;
mod stream_answers;
mod stream_calls;
mod stream_ordered;
mod sync;
mod table;
#[cfg(test)]
#[allow(unsafe_code, reason = "a HIP of our own and hooks that promise")]
mod tests;
mod transfer;
#[cfg(feature = "bytemuck")]
mod typed;

pub use attribute::DeviceAttribute;
pub use buffer::DeviceBuffer;
pub use device::{Device, MemoryInfo};
pub use error::{Error, ErrorKind, Result};
pub use event::Event;
pub use failed::Failed;
pub use guard::DeviceGuard;
pub use hip_error::HipError;
pub use in_flight::{Acquire, InFlight, Place};
pub use leaks::{Leaked, leaked};
pub use memory::{DeviceMemory, DeviceMemoryMut};
pub use operation::Operation;
pub use owned_copies::{CopyError, OwnedCopy};
pub use pinned::PinnedBuffer;
pub use release::RawBuffer;
pub use scope::Scope;
pub use slice::DeviceSlice;
pub use slice_mut::DeviceSliceMut;
pub use stream::{Stream, StreamOptions, StreamRef};
pub use table::load;
#[cfg(feature = "bytemuck")]
pub use typed::{TypedSlice, TypedSliceMut};

// What the hipfile crate needs and nobody else should: not covered by semantic versioning.
#[doc(hidden)]
pub use fork::forked;
#[doc(hidden)]
pub use functions::has_functions;
#[doc(hidden)]
pub use host_function::launch as launch_host_function;
#[doc(hidden)]
pub use leaks::record as record_leak;
#[doc(hidden)]
pub use payload::{Payload, Started, start};
#[doc(hidden)]
pub use range::resolve as resolve_range;
#[doc(hidden)]
pub use registrations::{Access, RegistrationHook, Registrations, Removal, SetError};
