//! Copies and fills between device memory, memory that both sides reach, and the rest of the host's.

use crate::allocation::Kind;
use crate::bindings::{
    hipError_t, hipErrorInvalidMemcpyDirection, hipErrorInvalidValue, hipMemcpyDefault,
    hipMemcpyDeviceToDevice, hipMemcpyDeviceToDeviceNoCU, hipMemcpyDeviceToHost, hipMemcpyHostToDevice,
    hipMemcpyHostToHost, hipMemcpyKind,
};
use crate::memory::Memory;
use crate::place::Place;

/// What a pointer given to a copy refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Device,
    /// Memory that both reach passes for host and for device memory: managed, signal, pinned or registered.
    Both,
    Host,
}

/// What a direction allows on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Device,
    Host,
    Any,
}

impl Wanted {
    fn allows(self, side: Side) -> bool {
        match self {
            Wanted::Device => side != Side::Host,
            Wanted::Host => side != Side::Device,
            Wanted::Any => true,
        }
    }
}

/// What a direction allows for destination and source.
fn sides(kind: hipMemcpyKind) -> Result<(Wanted, Wanted), hipError_t> {
    match kind {
        hipMemcpyHostToHost => Ok((Wanted::Host, Wanted::Host)),
        hipMemcpyHostToDevice => Ok((Wanted::Device, Wanted::Host)),
        hipMemcpyDeviceToHost => Ok((Wanted::Host, Wanted::Device)),
        hipMemcpyDeviceToDevice | hipMemcpyDeviceToDeviceNoCU => Ok((Wanted::Device, Wanted::Device)),
        hipMemcpyDefault => Ok((Wanted::Any, Wanted::Any)),
        _ => Err(hipErrorInvalidMemcpyDirection),
    }
}

impl Memory {
    /// Copies `len` bytes. A wrong direction is refused even where the pointers leave no doubt, so that it shows.
    ///
    /// # Safety
    ///
    /// A side that is not memory of the runtime is host memory, readable or writable for `len` bytes. Nobody writes
    /// the source or uses the destination meanwhile.
    pub(crate) unsafe fn copy(
        &self,
        dst: *mut u8,
        src: *const u8,
        len: usize,
        kind: hipMemcpyKind,
    ) -> Result<(), hipError_t> {
        let Some((dst, src)) = self.sides_of_copy(dst, src, len, kind)? else { return Ok(()) };
        // SAFETY: requires readable and writable ranges; holds for the runtime's memory because the ranges were found
        // in it, and for other memory by contract.
        unsafe { dst.copy_from(src, len) }
    }

    /// What a copy would do now: where both sides are, or None if it copies nothing.
    pub(crate) fn sides_of_copy(
        &self,
        dst: *mut u8,
        src: *const u8,
        len: usize,
        kind: hipMemcpyKind,
    ) -> Result<Option<(Place<'_>, Place<'_>)>, hipError_t> {
        if len == 0 {
            return Ok(None);
        }
        let (wanted_dst, wanted_src) = sides(kind)?;
        let (dst_side, dst) = self.side(dst, len)?;
        let (src_side, src) = self.side(src.cast_mut(), len)?;
        if !wanted_dst.allows(dst_side) || !wanted_src.allows(src_side) {
            return Err(hipErrorInvalidValue);
        }
        Ok(Some((dst, src)))
    }

    /// Fills `len` bytes of device memory, or of memory that both sides reach.
    ///
    /// # Safety
    ///
    /// Nobody uses the range meanwhile.
    pub(crate) unsafe fn fill(&self, dst: *mut u8, value: u8, len: usize) -> Result<(), hipError_t> {
        if len == 0 {
            return Ok(());
        }
        let dst = self.reach(dst, len)?;
        // SAFETY: requires a writable range; holds because it was found in the runtime's memory.
        unsafe { dst.fill(value, len) }
    }

    /// Fills `count` words of 4 bytes as [`Memory::fill`] fills bytes.
    ///
    /// # Safety
    ///
    /// As for [`Memory::fill`].
    pub(crate) unsafe fn fill_words(&self, dst: *mut u8, value: u32, count: usize) -> Result<(), hipError_t> {
        let Some(dst) = self.elements::<u32>(dst, count)? else { return Ok(()) };
        // SAFETY: requires an aligned writable range that nobody uses; holds because it was found in the runtime's
        // memory, and by contract.
        unsafe { dst.fill_words(value, count) }
    }

    /// Where aligned elements of a type are; None if there are none.
    pub(crate) fn elements<T>(&self, dst: *mut u8, count: usize) -> Result<Option<Place<'_>>, hipError_t> {
        if count == 0 {
            return Ok(None);
        }
        let len = count.checked_mul(size_of::<T>()).ok_or(hipErrorInvalidValue)?;
        let place = self.reach(dst, len)?;
        if dst.cast::<T>().is_aligned() { Ok(Some(place)) } else { Err(hipErrorInvalidValue) }
    }

    /// Where a range (more than 0 bytes) of the runtime's memory is.
    pub(crate) fn reach(&self, pointer: *mut u8, len: usize) -> Result<Place<'_>, hipError_t> {
        match self.side(pointer, len)? {
            (Side::Host, _) => Err(hipErrorInvalidValue),
            (_, place) => Ok(place),
        }
    }

    /// What a range is, and where.
    fn side(&self, pointer: *mut u8, len: usize) -> Result<(Side, Place<'_>), hipError_t> {
        let address = pointer.addr();
        match self.find(address) {
            // The rest belongs to the program as well; whether it is usable is for the caller to know.
            Some(found) if found.kind.is_registered() && !found.holds(address, len) => {
                Ok((Side::Host, Place::Host(pointer)))
            }
            Some(found) if !found.holds(address, len) => Err(hipErrorInvalidValue),
            Some(found) if found.kind == Kind::Device => self
                .place(&found, address, len)
                .map(|place| (Side::Device, place))
                .ok_or(hipErrorInvalidValue),
            Some(_) => Ok((Side::Both, Place::Host(pointer))),
            // NULL, freed memory, or the rest of an allocation's last page.
            None if pointer.is_null() || self.touches_device(address, len) => Err(hipErrorInvalidValue),
            None => Ok((Side::Host, Place::Host(pointer))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::{Backing, Host};

    const PAGE: usize = 4096;

    fn memory() -> Memory {
        Memory::new(Backing::Host(Host::new(2, 1 << 20, false).unwrap()), false)
    }

    fn copy(
        memory: &Memory,
        dst: *mut u8,
        src: *const u8,
        len: usize,
        kind: hipMemcpyKind,
    ) -> Result<(), hipError_t> {
        // SAFETY: requires host sides that are long enough; holds for every call below.
        unsafe { memory.copy(dst, src, len, kind) }
    }

    #[test]
    fn bytes_go_through_two_devices_and_back() {
        let memory = memory();
        let source: Vec<u8> = (0..10007u32).map(|n| n as u8).collect();
        let mut back = vec![0; source.len()];
        let first = memory.allocate(0, source.len()).unwrap();
        let second = memory.allocate(1, source.len() + 5).unwrap();
        copy(&memory, first, source.as_ptr(), source.len(), hipMemcpyHostToDevice).unwrap();
        copy(&memory, second.wrapping_add(5), first, source.len(), hipMemcpyDeviceToDevice).unwrap();
        copy(&memory, back.as_mut_ptr(), second.wrapping_add(5), back.len(), hipMemcpyDeviceToHost).unwrap();
        assert_eq!(back, source);
    }

    #[test]
    fn overlapping_ranges_are_moved() {
        let memory = memory();
        let device = memory.allocate(0, 6).unwrap();
        copy(&memory, device, b"abcdef".as_ptr(), 6, hipMemcpyDefault).unwrap();
        copy(&memory, device.wrapping_add(2), device, 4, hipMemcpyDeviceToDeviceNoCU).unwrap();
        let mut back = [0; 6];
        copy(&memory, back.as_mut_ptr(), device, 6, hipMemcpyDefault).unwrap();
        assert_eq!(&back, b"ababcd");
    }

    #[test]
    fn the_direction_must_fit_the_pointers() {
        let memory = memory();
        let device = memory.allocate(0, 8).unwrap();
        let pinned = memory.allocate_mapped(0, 8, Kind::Pinned { flags: 0 }).unwrap();
        let (mut one, mut two) = ([0u8; 8], [0u8; 8]);
        let (host, other) = (one.as_mut_ptr(), two.as_mut_ptr());
        let kinds = [
            hipMemcpyHostToHost,
            hipMemcpyHostToDevice,
            hipMemcpyDeviceToHost,
            hipMemcpyDeviceToDevice,
            hipMemcpyDefault,
        ];
        // Which of the five directions each pair of pointers allows.
        for (dst, src, allowed) in [
            (host, other, [true, false, false, false, true]),
            (device, host, [false, true, false, false, true]),
            (host, device, [false, false, true, false, true]),
            (device, device, [false, false, false, true, true]),
            (pinned, host, [true, true, false, false, true]),
            (host, pinned, [true, false, true, false, true]),
            (pinned, device, [false, false, true, true, true]),
            (device, pinned, [false, true, false, true, true]),
            (pinned, pinned, [true; 5]),
        ] {
            let results = kinds.map(|kind| copy(&memory, dst, src, 8, kind));
            let expected = allowed.map(|ok| if ok { Ok(()) } else { Err(hipErrorInvalidValue) });
            assert_eq!(results, expected, "{dst:?} {src:?}");
        }
        for unknown in [5, 1023, u32::MAX] {
            let result = copy(&memory, device, host, 8, hipMemcpyKind(unknown));
            assert_eq!(result, Err(hipErrorInvalidMemcpyDirection));
        }
    }

    #[test]
    fn ranges_outside_their_allocation_are_refused_and_nothing_is_written() {
        let memory = memory();
        let device = memory.allocate(0, 100).unwrap();
        let next = memory.allocate(0, PAGE).unwrap();
        let mut host = vec![1u8; 2 * PAGE];
        let start = host.as_mut_ptr();
        let refused = |at: *mut u8, len| {
            let to = copy(&memory, at, start, len, hipMemcpyHostToDevice);
            let from = copy(&memory, start, at, len, hipMemcpyDeviceToHost);
            assert_eq!((to, from), (Err(hipErrorInvalidValue), Err(hipErrorInvalidValue)), "{at:?} {len}");
        };
        refused(device, 101);
        refused(device.wrapping_add(1), 100);
        refused(device.wrapping_add(100), 1);
        refused(device, PAGE + 1);
        refused(device.wrapping_sub(1), 2);
        refused(device, usize::MAX);
        refused(std::ptr::null_mut(), 1);
        assert!(host.iter().all(|byte| *byte == 1));
        copy(&memory, start, next, PAGE, hipMemcpyDefault).unwrap();
        assert!(host[..PAGE].iter().all(|byte| *byte == 0));
        memory.free(device.addr()).unwrap();
        refused(device, 1);
    }

    #[test]
    fn empty_copies_look_at_nothing() {
        let null = std::ptr::null_mut();
        assert_eq!(copy(&memory(), null, null, 0, hipMemcpyKind(7)), Ok(()));
    }

    #[test]
    fn fills_stay_in_range_and_in_the_runtimes_memory() {
        let memory = memory();
        let device = memory.allocate(0, 10).unwrap();
        let pinned = memory.allocate_mapped(0, 10, Kind::Pinned { flags: 0 }).unwrap();
        let mut host = [0u8; 10];
        // SAFETY: requires that nobody uses the range; holds.
        let fill = |dst: *mut u8, value, len| unsafe { memory.fill(dst, value, len) };
        assert_eq!(fill(device.wrapping_add(2), 7, 3), Ok(()));
        copy(&memory, host.as_mut_ptr(), device, 10, hipMemcpyDefault).unwrap();
        assert_eq!(host, [0, 0, 7, 7, 7, 0, 0, 0, 0, 0]);
        assert_eq!(fill(pinned, 9, 10), Ok(()));
        // SAFETY: requires a readable byte; holds for pinned memory.
        assert_eq!(unsafe { pinned.wrapping_add(9).read() }, 9);
        assert_eq!(fill(device, 1, 11), Err(hipErrorInvalidValue));
        assert_eq!(fill(host.as_mut_ptr(), 1, 10), Err(hipErrorInvalidValue));
        assert_eq!(fill(std::ptr::null_mut(), 1, 1), Err(hipErrorInvalidValue));
        assert_eq!(fill(std::ptr::null_mut(), 1, 0), Ok(()));
        assert_eq!(host[0], 0);
    }
}
