//! HF-FALL: the transfer through the page cache.

use std::os::fd::AsRawFd;
use std::path::Path;

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, open, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved};

use hipfile_tests::shim::{self, Action};

const MIB: usize = 1 << 20;
const SIZE: usize = 100_000;

pub fn cases() -> Vec<Case> {
    let all = [continued(), errors(), durable(), files()].into_iter().flatten();
    all.map(Case::fallback).collect()
}

fn moved(size: usize) -> Moved {
    Moved::Number(size as isize)
}

fn continued() -> Vec<Case> {
    vec![
        case("HF-FALL-01 the size is cut before the range check: 4 GiB on a 3 GiB buffer is short", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::new(3 << 30);
            shim::always("pread", Action::Pretend(-1));
            shim::always("pwrite", Action::Pretend(-1));
            assert_eq!(raw::read(handle, memory.at, 4 << 30, 0, 0), moved(crate::file::MAX_RW));
            assert_eq!(raw::write(handle, memory.at, 4 << 30, 0, 0), moved(crate::file::MAX_RW));
            assert_eq!(raw::read(handle, memory.at, 4 << 30, 0, 2 << 30), Moved::Number(-5022));
        })
        .env("SOFT_ROCM_DEVICE_MEM", (8_u64 << 30).to_string())
        .shim(),
        case("HF-FALL-02 short counts are continued", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            for cap in [99_999, 4096, 1000] {
                shim::always("pread", Action::Short(cap));
                assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), moved(SIZE), "at most {cap} a call");
                assert!(shim::calls("pread") > 1);
                shim::release("pread");
                assert!(memory.bytes() == pattern(SIZE, 1));
                let copy = File::empty();
                let to = copy.registered();
                shim::always("pwrite", Action::Short(cap));
                assert_eq!(raw::write(to, memory.at, SIZE, 0, 0), moved(SIZE));
                raw::deregister(to);
                assert!(shim::calls("pwrite") > 1);
                shim::release("pwrite");
                assert!(copy.bytes() == pattern(SIZE, 1));
            }
        })
        .shim(),
        case("HF-FALL-03 EINTR is retried, also in the middle", || {
            let file = File::of(&pattern(SIZE, 2));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            for (first, count) in [(1, 3), (2, 1)] {
                shim::rule("pread", Action::Error(i64::from(libc::EINTR)), first, count);
                shim::rule("pwrite", Action::Error(i64::from(libc::EINTR)), first, count);
                if first > 1 {
                    shim::always("pread", Action::Short(4096));
                    shim::always("pwrite", Action::Short(4096));
                }
                assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), moved(SIZE));
                assert!(memory.bytes() == pattern(SIZE, 2));
                assert_eq!(raw::write(handle, memory.at, SIZE, 0, 0), moved(SIZE));
                assert!(shim::calls("pread") > count && shim::calls("pwrite") > count);
                shim::release("pread");
                shim::release("pwrite");
            }
            assert!(file.bytes() == pattern(SIZE, 2));
        })
        .shim(),
        case("HF-FALL-07 a short count leaves the rest of the buffer as it was", || {
            let file = File::of(&pattern(1000, 3));
            let memory = Memory::filled(SIZE, 0x66).registered();
            assert_eq!(raw::read(file.registered(), memory.at, 50_000, 0, 10_000), moved(1000));
            assert_eq!(memory.get(10_000..11_000), pattern(1000, 3));
            assert!(memory.get(0..10_000).iter().chain(&memory.get(11_000..SIZE)).all(|byte| *byte == 0x66));
        }),
    ]
}

/// Lets files of this process grow to `size` bytes and no further.
pub fn limit_file_size(size: u64) {
    // SAFETY: requires nothing; a write over the limit is then an error and not the end of the process.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let limit = libc::rlimit { rlim_cur: size, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: requires a limit; holds because it is ours.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
}

fn errors() -> Vec<Case> {
    vec![
        case("HF-FALL-05 an error in the middle returns the count so far, the next call meets it", || {
            let file = File::of(&pattern(SIZE, 4));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0);
            // The second call fails, and so do all that follow.
            shim::rule("pread", Action::Error(i64::from(libc::EIO)), 2, 0);
            shim::rule("pread", Action::Short(8192), 1, 1);
            assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), moved(8192));
            assert_eq!(memory.get(0..8192), pattern(SIZE, 4)[..8192]);
            assert_eq!(raw::read(handle, memory.at, SIZE - 8192, 8192, 8192), Moved::Os(libc::EIO));
        })
        .needs(Need::Ours)
        .shim(),
        case("HF-FALL-05 the same for a write that meets RLIMIT_FSIZE", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::of(&pattern(SIZE, 5));
            limit_file_size(10_000);
            assert_eq!(raw::write(handle, memory.at, SIZE, 0, 0), moved(10_000));
            assert_eq!(raw::write(handle, memory.at, SIZE, 10_000, 0), Moved::Os(libc::EFBIG));
            assert_eq!(file.bytes(), pattern(SIZE, 5)[..10_000]);
        })
        .needs(Need::Ours),
        case("HF-FALL-06 a write that meets RLIMIT_FSIZE at its first byte is -1/EFBIG", || {
            let file = File::of(&[1; 10_000]);
            let memory = Memory::new(SIZE);
            let handle = file.registered();
            limit_file_size(10_000);
            assert_eq!(raw::write(handle, memory.at, 100, 10_000, 0), Moved::Os(libc::EFBIG));
            assert_eq!(raw::write(handle, memory.at, 100, 50_000, 0), Moved::Os(libc::EFBIG));
            assert_eq!(file.size(), 10_000);
        }),
        case("HF-ERR-02 HF-ERR-03 a HIP failure during the copy is -h", || {
            let file = File::of(&pattern(SIZE, 6));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            for code in [1, 2, 719, 999] {
                shim::always("hipMemcpy", Action::Error(code));
                raw::set_errno(libc::EDOM);
                assert_eq!(raw::read_raw(handle, memory.at, 100, 0, 0), -(code as isize));
                assert_eq!(raw::write_raw(handle, memory.at, 100, 0, 0), -(code as isize));
                assert_eq!(raw::errno(), libc::EDOM);
                shim::release("hipMemcpy");
                shim::always("hipStreamSynchronize", Action::Error(code));
                assert_eq!(raw::write_raw(handle, memory.at, 100, 0, 0), -(code as isize));
                shim::release("hipStreamSynchronize");
            }
            assert!(file.bytes() == pattern(SIZE, 6));
        })
        .bounced(),
        case("HF-FALL-16 a full file system is -1/ENOSPC", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            shim::always("pwrite", Action::Error(i64::from(libc::ENOSPC)));
            assert_eq!(raw::write(handle, memory.at, SIZE, 0, 0), Moved::Os(libc::ENOSPC));
            shim::release("pwrite");
            // /dev/full takes no byte at all, for real.
            let full = open(Path::new("/dev/full"), libc::O_RDWR);
            let handle = raw::registered(full.as_raw_fd());
            assert_eq!(raw::write(handle, memory.at, 100, 0, 0), Moved::Os(libc::ENOSPC));
        })
        .shim(),
    ]
}

fn durable() -> Vec<Case> {
    vec![
        case("HF-FALL-08 HF-FALL-10 a write is synced once before it returns", || {
            let memory = Memory::new(40 * MIB);
            for size in [0, 1, PAGE, 40 * MIB] {
                let file = File::empty();
                let handle = file.registered();
                // A rule that changes nothing starts the count again.
                shim::always("fdatasync", Action::Short(0));
                assert_eq!(raw::write(handle, memory.at, size, 0, 0), moved(size));
                assert_eq!(shim::calls("fdatasync"), 1, "{size} bytes");
                assert_eq!(raw::read(handle, memory.at, size, 0, 0), moved(size));
                assert_eq!(shim::calls("fdatasync"), 1, "a read syncs nothing");
                shim::release("fdatasync");
                raw::deregister(handle);
            }
        })
        .needs(Need::Ours)
        .shim(),
        case("HF-FALL-08 a write is synced before it returns", || {
            let memory = Memory::new(PAGE);
            let file = File::empty();
            let handle = file.registered();
            shim::always("fdatasync", Action::Short(0));
            assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), moved(PAGE));
            assert!(shim::calls("fdatasync") >= 1);
            shim::release("fdatasync");
            shim::always("fdatasync", Action::Error(i64::from(libc::EIO)));
            assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), Moved::Os(libc::EIO));
        })
        .shim(),
        case("HF-FALL-11 a write to what cannot be synced is -1/EINVAL", || {
            let null = open(Path::new("/dev/null"), libc::O_RDWR);
            let memory = Memory::new(PAGE);
            let moved = raw::write(raw::registered(null.as_raw_fd()), memory.at, 100, 0, 0);
            assert_eq!(moved, Moved::Os(libc::EINVAL));
        }),
    ]
}

fn files() -> Vec<Case> {
    vec![
        case("HF-FALL-12 a write through an O_APPEND fd appends, whatever the offset", || {
            let file = File::opened(&[1; 100], libc::O_RDWR | libc::O_APPEND);
            let memory = Memory::filled(100, 2);
            let handle = file.registered();
            assert_eq!(raw::write(handle, memory.at, 100, 0, 0), moved(100));
            assert_eq!(raw::write(handle, memory.at, 50, 7, 0), moved(50));
            assert_eq!(file.bytes(), [vec![1; 100], vec![2; 150]].concat());
        }),
        case("HF-FALL-13 other buffered users of the file see each transfer at once, and it theirs", || {
            let file = File::of(&vec![0; SIZE]);
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            for round in 0..10 {
                let bytes = pattern(SIZE, round + 10);
                std::fs::write(file.path(), &bytes).unwrap();
                assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), moved(SIZE));
                assert!(memory.bytes() == bytes);
                memory.put(500, &[round as u8; 1000]);
                assert_eq!(raw::write(handle, memory.at, 1000, 500, 500), moved(1000));
                assert_eq!(file.bytes()[500..1500], [round as u8; 1000]);
            }
        }),
    ]
}
