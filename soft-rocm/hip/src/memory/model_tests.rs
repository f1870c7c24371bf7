//! Random calls on memory of every kind, compared with a list of what lives.

use proptest::prelude::*;

use super::*;
use crate::backing::{Backing, Host};

const PAGE: usize = 4096;
const PER_DEVICE: usize = 16 * PAGE;
/// Bytes of the program's own that registrations are made in.
const OWN: usize = 256;

#[derive(Clone, Debug)]
enum Step {
    Allocate {
        device: u32,
        len: usize,
    },
    Map {
        device: u32,
        len: usize,
        kind: Kind,
    },
    Register {
        start: usize,
        len: usize,
    },
    /// Ends what the number leads to, by one of the three functions, at an offset from its start.
    End {
        which: usize,
        function: usize,
        offset: usize,
    },
    Reset {
        device: u32,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        Just(Kind::Managed { flags: 1 }),
        Just(Kind::Signal),
        any::<u32>().prop_map(|flags| Kind::Pinned { flags })
    ];
    prop_oneof![
        3 => (0u32..2, 1usize..3 * PAGE).prop_map(|(device, len)| Step::Allocate { device, len }),
        2 => (0u32..2, 1usize..2 * PAGE, kind).prop_map(|(device, len, kind)| Step::Map { device, len, kind }),
        2 => (0..OWN, 1usize..64).prop_map(|(start, len)| Step::Register { start, len }),
        4 => (any::<usize>(), 0usize..3, 0usize..2)
            .prop_map(|(which, function, offset)| Step::End { which, function, offset }),
        1 => (0u32..2).prop_map(|device| Step::Reset { device }),
    ]
}

/// What the three functions that end an allocation answer where it is not theirs.
const REFUSALS: [hipError_t; 3] =
    [hipErrorInvalidValue, hipErrorInvalidValue, hipErrorHostMemoryNotRegistered];

fn own_function(kind: Kind) -> usize {
    match kind {
        Kind::Device | Kind::Managed { .. } | Kind::Signal => 0,
        Kind::Pinned { .. } => 1,
        Kind::Registered { .. } => 2,
    }
}

fn pages(live: &[Allocation], device: u32) -> usize {
    let its = live.iter().filter(|found| found.device == device && found.kind == Kind::Device);
    its.map(|found| found.len.next_multiple_of(PAGE)).sum()
}

proptest! {
    #[test]
    fn memory_is_what_a_list_of_allocations_says(steps in prop::collection::vec(step(), 1..80)) {
        let memory = Memory::new(Backing::Host(Host::new(2, PER_DEVICE, false).unwrap()), true);
        let own = vec![0u8; OWN + 64];
        let mut live: Vec<Allocation> = Vec::new();
        for step in steps {
            match step {
                Step::Allocate { device, len } => {
                    if let Ok(address) = memory.allocate(device, len) {
                        live.push(Allocation { base: address.addr(), len, device, kind: Kind::Device });
                    } else {
                        // A free page is worth nothing if its neighbours are not free.
                        prop_assert!(pages(&live, device) + len > PAGE);
                    }
                }
                Step::Map { device, len, kind } => {
                    let base = memory.allocate_mapped(device, len, kind).unwrap().addr();
                    live.push(Allocation { base, len, device, kind });
                }
                Step::Register { start, len } => {
                    let base = own.as_ptr().addr() + start;
                    let is_taken =
                        live.iter().any(|found| found.base < base + len && base < found.base + found.len);
                    let expected = if is_taken { Err(hipErrorHostMemoryAlreadyRegistered) } else { Ok(()) };
                    prop_assert_eq!(memory.register(1, base, len, 7), expected);
                    if !is_taken {
                        live.push(Allocation { base, len, device: 1, kind: Kind::Registered { flags: 7 } });
                    }
                }
                Step::End { which, function, offset } if !live.is_empty() => {
                    let which = which % live.len();
                    let found = live[which];
                    let address = found.base + offset;
                    // A neighbour may start one byte on.
                    let found_at = live.iter().position(|other| other.base == address);
                    let answer = match function {
                        0 => memory.free(address),
                        1 => memory.free_pinned(address),
                        _ => memory.unregister(address),
                    };
                    match found_at.filter(|at| own_function(live[*at].kind) == function) {
                        Some(at) => {
                            prop_assert_eq!(answer, Ok(()));
                            let ended = live.remove(at);
                            let verdict = memory.judge_end(ended.base);
                            let is_known = matches!(verdict, Verdict::Ended(freed) if freed.allocation == ended);
                            prop_assert!(is_known, "{:?}", verdict);
                        }
                        None => prop_assert_eq!(answer, Err(REFUSALS[function])),
                    }
                }
                Step::End { .. } => {}
                Step::Reset { device } => {
                    memory.free_all(device);
                    live.retain(|found| found.device != device || own_function(found.kind) != 0);
                }
            }
            live.sort_by_key(|found| found.base);
            prop_assert_eq!(memory.live(), live.clone());
            for found in &live {
                for inside in [found.base, found.base + found.len / 2, found.base + found.len - 1] {
                    prop_assert_eq!(memory.find(inside), Some(*found));
                }
                let behind = found.base + found.len;
                let next = live.iter().find(|other| other.holds(behind, 1)).copied();
                prop_assert_eq!(memory.find(behind), next);
                let is_device = found.kind == Kind::Device;
                prop_assert_eq!(memory.find_device(found.base, found.len).is_some(), is_device);
                prop_assert!(memory.find_device(found.base, found.len + 1).is_none());
            }
            for device in 0..2 {
                prop_assert_eq!(memory.info(device), Ok((PER_DEVICE - pages(&live, device), PER_DEVICE)));
            }
        }
        // All that is left can be ended.
        for found in live {
            let ended = [Memory::free, Memory::free_pinned, Memory::unregister][own_function(found.kind)];
            prop_assert_eq!(ended(&memory, found.base), Ok(()));
        }
        prop_assert_eq!(memory.live(), Vec::new());
    }
}
