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
    let address = find(device_ptr, size, |memory, found, address, size| memory.alias(found, address, size));
    address.map_or(ptr::null_mut(), |address| address.cast())
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
    find(device_ptr, size, |memory, found, address, size| memory.place(found, address, size))
}

/// What `answer` makes of the live allocation of a device that holds the range: of the range, and how much of it is about to be
/// used.
#[inline]
fn find<T>(
    device_ptr: *const c_void,
    size: usize,
    answer: impl Fn(&'static Memory, &Allocation, usize, usize) -> Option<T>,
) -> Option<T> {
    let memory = memory().ok()?;
    let (address, (generation, last)) = (device_ptr.addr(), LAST.get());
    if generation == memory.generation() && last.holds(address, size) {
        return answer(memory, &last, address, size.min(AHEAD));
    }
    let found = look_up(memory, address, size)?;
    answer(memory, &found, address, size.min(AHEAD))
}

#[cold]
fn look_up(memory: &Memory, address: usize, size: usize) -> Option<Allocation> {
    let (found, generation) = memory.find_device(address, size)?;
    LAST.set((generation, found));
    Some(found)
}
