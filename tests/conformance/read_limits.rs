//! HF-READ: limits of one transfer, and transfers beside others.

use crate::case::{Case, Need, case};
use crate::file::{File, MAX_RW, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 256 * 1024;

pub fn cases() -> Vec<Case> {
    let mut cases = limits();
    cases.extend(surroundings());
    cases
}

fn moved(size: usize) -> Moved {
    Moved::Number(size as isize)
}

fn limits() -> Vec<Case> {
    vec![
        case("HF-READ-33 one call moves at most MAX_RW bytes", || {
            let memory = Memory::new(3 << 30);
            let file = File::empty();
            let handle = file.registered();
            // The bytes themselves are left out: what counts is how many a call takes for one.
            shim::always("pread", Action::Pretend(-1));
            shim::always("pwrite", Action::Pretend(-1));
            for size in [MAX_RW + 1, 3 << 30] {
                assert_eq!(raw::read(handle, memory.at, size, 1, 0), moved(MAX_RW));
                assert_eq!(raw::write(handle, memory.at, size, 1, 0), moved(MAX_RW));
            }
            assert_eq!(raw::read(handle, memory.at, MAX_RW, 1, 0), moved(MAX_RW));
            assert_eq!(raw::read(handle, memory.at, MAX_RW - 1, 1, 0), moved(MAX_RW - 1));
        })
        .fallback()
        .env("SOFT_ROCM_DEVICE_MEM", (8_u64 << 30).to_string())
        .shim(),
        case("HF-READ-34 a file offset whose end passes 2^63-1 is -1/EINVAL", || {
            let file = File::of(&[1; 100]);
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            for offset in [i64::MAX, i64::MAX - 10] {
                assert_eq!(raw::read(handle, memory.at, 100, offset, 0), Moved::Os(libc::EINVAL));
                assert_eq!(raw::write(handle, memory.at, 100, offset, 0), Moved::Os(libc::EINVAL));
            }
        }),
        case("HF-READ-35 a write past the largest offset of the file system is -1/EFBIG", || {
            let file = File::of(&[1; 100]);
            let memory = Memory::new(SIZE);
            let offset = i64::MAX - (1 << 20);
            assert_eq!(raw::write(file.registered(), memory.at, 100, offset, 0), Moved::Os(libc::EFBIG));
            assert_eq!(file.size(), 100);
        }),
        case("HF-READ-37 any size and offset round-trips through the fallback", || {
            let file = File::of(&vec![0; 40_000]);
            let handle = file.registered();
            let memory = Memory::new(40_000).registered();
            let (mut state, mut model) = (1_u64, vec![0_u8; 40_000]);
            for round in 0..300 {
                let mut next = |limit: usize| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) as usize % limit
                };
                let (file_offset, buffer_offset) = (next(30_000), next(30_000));
                let size = next(10_000) + 1;
                let bytes = pattern(size, round);
                memory.put(buffer_offset, &bytes);
                let result = raw::write(handle, memory.at, size, file_offset as i64, buffer_offset as i64);
                assert_eq!(result, moved(size));
                model[file_offset..][..size].copy_from_slice(&bytes);
                let (from, to) = (next(30_000), next(30_000));
                assert_eq!(raw::read(handle, memory.at, size, from as i64, to as i64), moved(size));
                assert!(memory.get(to..to + size) == model[from..][..size], "round {round}");
            }
            assert!(file.bytes() == model);
        })
        .fallback(),
    ]
}

fn surroundings() -> Vec<Case> {
    vec![
        case("HF-READ-38 many threads read into disjoint parts of one registration", || {
            let bytes = pattern(64 * PAGE, 9);
            let file = File::of(&bytes);
            let handle = file.registered();
            let memory = Memory::new(64 * PAGE).registered();
            let at = memory.at;
            std::thread::scope(|scope| {
                for thread in 0..16 {
                    scope.spawn(move || {
                        for part in (thread..64).step_by(16).cycle().take(200) {
                            let offset = (part * PAGE) as i64;
                            assert_eq!(raw::read(handle, at, PAGE, offset, offset), moved(PAGE));
                        }
                    });
                }
            });
            assert!(memory.bytes() == bytes);
        }),
        case("HF-READ-39 the first use of a thread may be a transfer", || {
            let file = File::of(&pattern(PAGE, 10));
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            let at = memory.at;
            std::thread::spawn(move || {
                assert_eq!(raw::read(handle, at, PAGE, 0, 0), moved(PAGE));
            })
            .join()
            .unwrap();
            std::thread::spawn(move || {
                assert_eq!(raw::write(handle, at, PAGE, 0, 0), moved(PAGE));
            })
            .join()
            .unwrap();
            assert_eq!(memory.bytes(), pattern(PAGE, 10));
        }),
        case("HF-READ-43 overlapping transfers in flight change no other bytes", || {
            let file = File::of(&vec![0x11; SIZE]);
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0x22).registered();
            let at = memory.at;
            std::thread::scope(|scope| {
                for thread in 0..4_i64 {
                    scope.spawn(move || {
                        for _ in 0..100 {
                            let offset = 64 * 1024 + thread * 512;
                            assert_eq!(raw::write(handle, at, PAGE, offset, 0), moved(PAGE));
                            assert_eq!(raw::read(handle, at, PAGE, offset, 100_000), moved(PAGE));
                        }
                    });
                }
            });
            let (file, memory) = (file.bytes(), memory.bytes());
            assert!(file[..64 * 1024].iter().all(|byte| *byte == 0x11));
            assert!(file[64 * 1024 + PAGE + 3 * 512..].iter().all(|byte| *byte == 0x11));
            assert!(memory[..100_000].iter().all(|byte| *byte == 0x22));
            assert!(memory[100_000 + PAGE..].iter().all(|byte| *byte == 0x22));
        }),
        case("HF-READ-45 HF-FALL-14 the current device is the same before and after", || {
            assert_eq!(hip::set_device(1), 0);
            let memory = Memory::new(SIZE).registered();
            assert_eq!(hip::set_device(0), 0);
            let file = File::of(&pattern(SIZE, 11));
            let handle = file.registered();
            for size in [PAGE, 100] {
                assert_eq!(raw::read(handle, memory.at, size, 0, 0), moved(size));
                assert_eq!(hip::current_device(), 0);
                assert_eq!(raw::write(handle, memory.at, size, 0, 0), moved(size));
                assert_eq!(hip::current_device(), 0);
            }
            assert_eq!(raw::read(handle, memory.at, SIZE + 1, 0, 0), Moved::Number(-5022));
            assert_eq!(raw::read(0, memory.at, SIZE, 0, 0), Moved::Number(-5027));
            assert_eq!(hip::current_device(), 0);
        })
        .needs(Need::SecondDevice)
        .since(0, 5)
        .env("SOFT_ROCM_DEVICE_COUNT", "2"),
    ]
}
