//! What earlier releases do otherwise in synchronous calls, and what AMD's library does that the software one mends.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved};

use hipfile_tests::shim::{self, Action};

const MIB: usize = 1 << 20;
const SIZE: usize = 64 * 1024;

pub fn cases() -> Vec<Case> {
    [versions(), earlier(), defects()].into_iter().flatten().collect()
}

fn versions() -> Vec<Case> {
    let told =
        |name: &str, run| case(format!("HF-VER-01 the software library told to be {name} says so"), run);
    let all: [(Case, u32); 3] = [
        (told("0.2", || assert_eq!(raw::version(), (0, 2, 0))), 2),
        (told("0.4", || assert_eq!(raw::version(), (0, 4, 0))), 4),
        (told("0.5", || assert_eq!(raw::version(), (0, 5, 0))), 5),
    ];
    all.into_iter().map(|(case, minor)| case.needs(Need::Ours).since(0, minor).until(0, minor)).collect()
}

/// A read and a write: size, file offset, buffer offset.
fn both(size: usize, file_offset: i64, buffer_offset: i64) -> [Moved; 2] {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    let memory = Memory::new(SIZE);
    let moved =
        [raw::read, raw::write].map(|transfer| transfer(handle, memory.at, size, file_offset, buffer_offset));
    raw::deregister(handle);
    moved
}

/// Offsets of which one at least is negative.
const NEGATIVE: [(i64, i64); 5] = [(-1, 0), (0, -1), (-4096, 0), (-4096, -4096), (i64::MIN, i64::MIN)];

fn earlier() -> Vec<Case> {
    vec![
        case("HF-READ-12 up to 0.3 negative offsets are -5022", || {
            for (file_offset, buffer_offset) in NEGATIVE {
                for size in [0, 1, PAGE] {
                    assert_eq!(both(size, file_offset, buffer_offset), [Moved::Number(-5022); 2]);
                }
            }
        })
        .until(0, 3),
        case("HF-READ-12 up to 0.3 with the fallback disabled they are -5030", || {
            for (file_offset, buffer_offset) in NEGATIVE {
                assert_eq!(both(PAGE, file_offset, buffer_offset), [Moved::Number(-5030); 2]);
            }
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .until(0, 3),
        case("HF-PATH-17 in 0.2 FORCE true and ALLOW false leave no path", || {
            let said = crate::output::captured(|| {
                for (size, offset) in [(PAGE, 0), (100, 1), (0, 0)] {
                    assert_eq!(both(size, offset, 0), [Moved::Number(-5030); 2], "{size}@{offset}");
                }
            });
            assert_eq!(said, "");
        })
        .fallback()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .until(0, 2),
    ]
}

fn defects() -> Vec<Case> {
    let cases = vec![
        case("HF-FALL-04 an error in the middle of a read loses the count, the bytes are moved", || {
            let file = File::of(&pattern(SIZE, 2));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0);
            shim::rule("pread", Action::Error(i64::from(libc::EIO)), 2, 0);
            shim::rule("pread", Action::Short(8192), 1, 1);
            assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), Moved::Os(libc::EIO));
            shim::release("pread");
            assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), Moved::Number(SIZE as isize));
        }),
        case("HF-FALL-04 a write of two chunks that fails in the second has written the first", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::of(&pattern(17 * MIB, 3));
            shim::rule("pwrite", Action::Error(i64::from(libc::ENOSPC)), 2, 0);
            assert_eq!(raw::write(handle, memory.at, 17 * MIB, 0, 0), Moved::Os(libc::ENOSPC));
            assert_eq!(file.size(), 16 * MIB as u64);
            assert!(file.bytes() == pattern(17 * MIB, 3)[..16 * MIB]);
        }),
        case("HF-FALL-19 without room for its 16 MiB a transfer is -1/ENOMEM, and nothing is moved", || {
            let file = File::of(&pattern(SIZE, 4));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0x21);
            assert_eq!(raw::read(handle, memory.at, 0, 0, 0), Moved::Number(0));
            let pages: u64 = std::fs::read_to_string("/proc/self/statm")
                .map(|text| text.split(' ').next().map_or(0, |pages| pages.parse().unwrap()))
                .unwrap();
            let limit = libc::rlimit { rlim_cur: (pages << 12) + (8 << 20), rlim_max: libc::RLIM_INFINITY };
            // SAFETY: requires a limit; holds because it is ours.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
            for transfer in [raw::read, raw::write] {
                assert_eq!(transfer(handle, memory.at, 1, 0, 0), Moved::Os(libc::ENOMEM));
            }
            assert_eq!(memory.bytes(), [0x21; SIZE]);
        }),
        case("HF-FALL-09 each chunk of at most 16 MiB is synced", || {
            let memory = Memory::new(40 * MIB);
            for (size, chunks) in [(1, 1), (PAGE, 1), (16 * MIB, 1), (16 * MIB + 1, 2), (40 * MIB, 3)] {
                let file = File::empty();
                let handle = file.registered();
                shim::always("fdatasync", Action::Short(0));
                assert_eq!(raw::write(handle, memory.at, size, 0, 0), Moved::Number(size as isize));
                assert_eq!(shim::calls("fdatasync"), chunks, "{size} bytes");
                shim::release("fdatasync");
                raw::deregister(handle);
            }
        }),
    ];
    cases.into_iter().map(|case| case.fallback().shim().amds()).collect()
}
