use super::*;
use crate::backing::{Backing, Host};

const PAGE: usize = 4096;
const MIB: usize = 1 << 20;

fn memory(devices: u32, per_device: usize) -> Memory {
    Memory::new(Backing::Host(Host::new(devices, per_device, false).unwrap()), false)
}

/// Where the library reaches `len` bytes of a live allocation.
fn alias(memory: &Memory, address: usize, len: usize) -> Option<*mut u8> {
    memory.alias(&memory.find(address)?, address, len)
}

#[test]
fn allocations_start_at_a_page_and_keep_the_length_asked_for() {
    let memory = memory(1, MIB);
    let first = memory.allocate(0, 10).unwrap().addr();
    let second = memory.allocate(0, PAGE + 1).unwrap().addr();
    assert_eq!((first % PAGE, second), (0, first + PAGE));
    assert_eq!(memory.find(first).unwrap().len, 10);
    assert_eq!(memory.info(0), Ok((MIB - 3 * PAGE, MIB)));
}

#[test]
fn an_address_is_found_inside_its_allocation_only() {
    let memory = memory(1, MIB);
    let base = memory.allocate(0, 10).unwrap().addr();
    let expected = Some(Allocation { base, len: 10, device: 0, kind: Kind::Device });
    assert_eq!(memory.find(base), expected);
    assert_eq!(memory.find(base + 9), expected);
    assert_eq!(memory.find(base + 10), None);
    assert_eq!(memory.find(base - 1), None);
    assert_eq!(memory.find(0), None);
    assert_eq!(memory.find(usize::MAX), None);
}

#[test]
fn a_range_must_lie_in_one_allocation() {
    let memory = memory(1, MIB);
    let base = memory.allocate(0, PAGE).unwrap().addr();
    let next = memory.allocate(0, PAGE).unwrap().addr();
    assert_eq!(next, base + PAGE);
    let found = |address, len| memory.find_device(address, len).map(|(allocation, _)| allocation.base);
    assert_eq!(found(base, PAGE), Some(base));
    assert_eq!(found(base + 1, PAGE - 1), Some(base));
    assert_eq!(found(base + 1, PAGE), None);
    assert_eq!(found(base, PAGE + 1), None);
    assert_eq!(found(base + 1, usize::MAX), None);
    assert_eq!(found(next + PAGE, 0), Some(next));
    assert_eq!(found(next + PAGE + 1, 0), None);
    let pinned = memory.allocate_mapped(0, PAGE, Kind::Pinned { flags: 0 }).unwrap().addr();
    assert_eq!(found(pinned, 1), None);
}

#[test]
fn memory_runs_out_and_comes_back() {
    let memory = memory(1, 4 * PAGE);
    assert_eq!(memory.allocate(0, 4 * PAGE + 1), Err(hipErrorOutOfMemory));
    assert_eq!(memory.allocate(0, usize::MAX), Err(hipErrorOutOfMemory));
    let all = memory.allocate(0, 4 * PAGE).unwrap();
    assert_eq!(memory.allocate(0, 1), Err(hipErrorOutOfMemory));
    assert_eq!(memory.info(0), Ok((0, 4 * PAGE)));
    assert_eq!(memory.free(all.addr()), Ok(()));
    assert_eq!(memory.allocate(0, 4 * PAGE), Ok(all));
}

#[test]
fn freed_memory_comes_back_as_zeros() {
    let memory = memory(1, MIB);
    let address = memory.allocate(0, PAGE).unwrap();
    // SAFETY: requires a writable byte; holds inside the alias of a live allocation.
    unsafe { alias(&memory, address.addr(), 1).unwrap().write(1) };
    memory.free(address.addr()).unwrap();
    assert_eq!(memory.allocate(0, PAGE), Ok(address));
    // SAFETY: requires a readable byte; holds as above.
    assert_eq!(unsafe { alias(&memory, address.addr(), 1).unwrap().read() }, 0);
}

#[test]
fn devices_have_memory_of_their_own() {
    let memory = memory(3, PAGE);
    let bases = [2, 0, 1].map(|device| memory.allocate(device, PAGE).unwrap().addr());
    assert_eq!(bases.map(|base| memory.find(base).unwrap().device), [2, 0, 1]);
    assert_eq!(memory.allocate(1, 1), Err(hipErrorOutOfMemory));
    memory.free(bases[0]).unwrap();
    assert_eq!(memory.info(2), Ok((PAGE, PAGE)));
    assert_eq!(memory.allocate(1, 1), Err(hipErrorOutOfMemory));
    assert_eq!(memory.allocate(3, 1), Err(hipErrorInvalidDevice));
    assert_eq!(memory.info(3), Err(hipErrorInvalidDevice));
}

#[test]
fn only_the_start_of_a_live_allocation_can_be_freed_and_only_once() {
    let memory = memory(1, MIB);
    let base = memory.allocate(0, PAGE).unwrap().addr();
    let pinned = memory.allocate_mapped(0, PAGE, Kind::Pinned { flags: 0 }).unwrap().addr();
    for wrong in [base + 1, base - 1, base + PAGE, pinned, 0] {
        assert_eq!(memory.free(wrong), Err(hipErrorInvalidValue));
    }
    for wrong in [pinned + 1, base, 0] {
        assert_eq!(memory.free_pinned(wrong), Err(hipErrorInvalidValue));
    }
    assert_eq!(memory.free(base), Ok(()));
    assert_eq!(memory.free(base), Err(hipErrorInvalidValue));
    assert_eq!(memory.free_pinned(pinned), Ok(()));
    assert_eq!(memory.free_pinned(pinned), Err(hipErrorInvalidValue));
}

#[test]
fn pinned_memory_is_known_with_its_flags_and_usable_by_the_host() {
    let memory = memory(2, MIB);
    let address = memory.allocate_mapped(1, 100, Kind::Pinned { flags: 4 }).unwrap();
    // SAFETY: requires 100 writable bytes; holds for the allocation.
    unsafe { address.write_bytes(1, 100) };
    let base = address.addr();
    let expected = Allocation { base, len: 100, device: 1, kind: Kind::Pinned { flags: 4 } };
    assert_eq!(memory.find(base + 99), Some(expected));
    assert_eq!(memory.find(base + 100), None);
    assert_eq!(alias(&memory, base, 1), None);
}

#[test]
fn impossible_pinned_memory_is_out_of_memory() {
    assert_eq!(memory(1, PAGE).allocate_mapped(0, 1 << 62, Kind::Signal), Err(hipErrorOutOfMemory));
}

#[test]
fn the_generation_changes_when_something_is_freed() {
    let memory = memory(1, MIB);
    let first = memory.generation();
    let base = memory.allocate(0, 1).unwrap().addr();
    assert_eq!(memory.find_device(base, 1).unwrap().1, first);
    assert_eq!(memory.generation(), first);
    memory.free(base).unwrap();
    assert_ne!(memory.generation(), first);
}

#[test]
fn threads_never_share_an_allocation() {
    let memory = memory(1, 64 * PAGE);
    std::thread::scope(|scope| {
        for mark in 1..=4u8 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..500 {
                    let len = 1 + (round * 997) % (9 * PAGE);
                    let Ok(address) = memory.allocate(0, len) else { continue };
                    let alias = alias(memory, address.addr(), len).unwrap();
                    // SAFETY: requires writable bytes; holds inside the allocation.
                    unsafe { alias.write_bytes(mark, len) };
                    std::thread::yield_now();
                    // SAFETY: requires initialised bytes nobody writes; holds if allocations are not shared.
                    let bytes = unsafe { std::slice::from_raw_parts(alias, len) };
                    assert!(bytes.iter().all(|byte| *byte == mark));
                    memory.free(address.addr()).unwrap();
                }
            });
        }
    });
    assert_eq!(memory.info(0), Ok((64 * PAGE, 64 * PAGE)));
}
