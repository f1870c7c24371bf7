//! An addition of ours: where host code may reach device memory. libhipfile of the software ROCm reads files straight
//! to that address; it looks the symbol up with dlsym and does without on other runtimes.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use soft_rocm_faults as faults;

use crate::allocation::Allocation;
use crate::fork;
use crate::memory::Memory;
use crate::place::Place;
use crate::runtime::memory;

/// As many bytes at most come in ahead of an access: a file may be much shorter than what is read of it.
const AHEAD: usize = 64 << 20;

thread_local! {
    /// The allocation this thread asked for last, and the generation it was seen at; none is ever seen at 0.
    static LAST: Cell<(u64, Allocation)> = const { Cell::new((0, Allocation::NONE)) };
}

/// Writable host address of `size` bytes of device memory from `device_ptr` on, or NULL unless they lie wholly inside
/// one live allocation. The address is for use before the allocation is freed. While a plan of faults names a copy there
/// is none, so that nothing goes around the copy.
///
/// The common case, a range of the allocation asked for last while nothing was freed, takes no lock.
#[unsafe(no_mangle)]
pub extern "C" fn softrocm_host_address(device_ptr: *const c_void, size: usize) -> *mut c_void {
    if is_planned() {
        return ptr::null_mut();
    }
    in_one_allocation(device_ptr, size)
        .and_then(Place::host)
        .map_or(ptr::null_mut(), |address| address.cast())
}

/// Whether a plan of faults names a copy, which nothing may go around then.
#[inline]
pub(super) fn is_planned() -> bool {
    !faults::idle() && copies_are_planned()
}

#[cold]
fn copies_are_planned() -> bool {
    fork::enter() && faults::names("hipMemcpy")
}

/// Where the range is, if it lies inside one live allocation of a device.
#[inline]
pub(super) fn in_one_allocation(device_ptr: *const c_void, size: usize) -> Option<Place<'static>> {
    memory().ok().and_then(|memory| place(memory, device_ptr.addr(), size))
}

#[inline]
fn place(memory: &Memory, address: usize, size: usize) -> Option<Place<'_>> {
    let (generation, last) = LAST.get();
    if generation == memory.generation() && last.holds(address, size) {
        return memory.place(&last, address, size.min(AHEAD));
    }
    look_up(memory, address, size)
}

#[cold]
fn look_up(memory: &Memory, address: usize, size: usize) -> Option<Place<'_>> {
    let (found, generation) = memory.find_device(address, size)?;
    LAST.set((generation, found));
    memory.place(&found, address, size.min(AHEAD))
}
