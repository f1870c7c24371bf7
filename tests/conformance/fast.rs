//! HF-FAST: what the fast path asks of HIP, and what it makes of the answer.

use std::os::fd::AsRawFd;

use crate::case::{Case, case};
use crate::file::{File, MAX_RW, PAGE, open, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved};
use crate::witness::{FALLBACK_READ, FAST_READ, paths_of};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 64 * 1024;
const READ: &str = "hipAmdFileRead";
const WRITE: &str = "hipAmdFileWrite";

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> =
        answers().into_iter().chain(retries()).map(|case| case.fast().shim()).collect();
    cases.extend(plain());
    cases
}

/// A file, its handle, and registered memory.
fn prepared() -> (File, usize, Memory) {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    (file, handle, Memory::filled(SIZE, 0x77).registered())
}

fn read(handle: usize, memory: &Memory) -> Moved {
    raw::read(handle, memory.at, 2 * PAGE, 0, 0)
}

fn write(handle: usize, memory: &Memory) -> Moved {
    raw::write(handle, memory.at, 2 * PAGE, 0, 0)
}

fn answers() -> Vec<Case> {
    vec![
        case(
            "HF-FAST-01 one call of the file function carries the request, on the O_DIRECT descriptor",
            || {
                for flags in [libc::O_RDWR, libc::O_RDWR | libc::O_DIRECT] {
                    let file = File::opened(&pattern(SIZE, 1), flags);
                    let handle = file.registered();
                    let memory = Memory::new(SIZE);
                    for (name, transfer) in [(READ, raw::read as fn(_, _, _, _, _) -> _), (WRITE, raw::write)]
                    {
                        // A rule that changes nothing starts the count again.
                        shim::always(name, Action::Short(i64::MAX));
                        let moved = transfer(handle, memory.at, SIZE / 2, PAGE as i64, 0);
                        assert_eq!(moved, Moved::Number(SIZE as isize / 2));
                        assert_eq!(shim::calls(name), 1);
                        let [fd, size, offset] = shim::last(name);
                        assert_eq!((size, offset), (SIZE as i64 / 2, PAGE as i64));
                        // SAFETY: requires nothing; a closed descriptor is an error.
                        let flags = unsafe { libc::fcntl(fd as i32, libc::F_GETFL) };
                        assert_ne!(flags & libc::O_DIRECT, 0, "{name} on {fd}: {flags:#x}");
                        shim::release(name);
                    }
                    raw::deregister(handle);
                }
            },
        ),
        case(
            "HF-FAST-02 the range is checked with the size as asked: 4 GiB on a 3 GiB buffer is -5022",
            || {
                let (_file, handle, _small) = prepared();
                let memory = Memory::new(3 << 30);
                shim::always(READ, Action::Pretend(-1));
                assert_eq!(raw::read(handle, memory.at, 4 << 30, 0, 0), Moved::Number(-5022));
                assert_eq!(raw::read(handle, memory.at, 3 << 30, 0, 0), Moved::Number(MAX_RW as isize));
                assert_eq!(shim::last(READ)[1], MAX_RW as i64, "cut before HIP is asked");
            },
        )
        .env("SOFT_ROCM_DEVICE_MEM", (8_u64 << 30).to_string()),
        case("HF-FAST-03 a short count is returned as it is, without a second call", || {
            let (_file, handle, memory) = prepared();
            shim::always(READ, Action::Short(PAGE as i64));
            assert_eq!(read(handle, &memory), Moved::Number(PAGE as isize));
            assert_eq!(shim::calls(READ), 1);
            shim::always(WRITE, Action::Pretend(7));
            assert_eq!(write(handle, &memory), Moved::Number(7));
            assert_eq!(shim::calls(WRITE), 1);
        }),
        case("HF-FAST-04 a status is -1 with that errno, sign ignored, also when HIP failed too", || {
            let (_file, handle, memory) = prepared();
            for errno in [libc::EINVAL, libc::EBADF, libc::ESRCH, libc::ENOMEM, libc::EIO] {
                for status in [i64::from(errno), -i64::from(errno)] {
                    for action in [Action::Status(status), Action::StatusAndError(status)] {
                        shim::once(READ, action);
                        assert_eq!(read(handle, &memory), Moved::Os(errno), "{action:?}");
                        shim::once(WRITE, action);
                        assert_eq!(write(handle, &memory), Moved::Os(errno), "{action:?}");
                        shim::release(READ);
                        shim::release(WRITE);
                    }
                }
            }
        }),
        case("HF-FAST-16 a status that is no errno is passed on as it is", || {
            let (_file, handle, memory) = prepared();
            for status in [4096, 5022, i64::from(i32::MAX)] {
                shim::once(READ, Action::Status(status));
                assert_eq!(read(handle, &memory), Moved::Os(status as i32));
                shim::release(READ);
            }
        }),
        case("HF-FAST-17 a count above the request is passed on as it is", || {
            let (_file, handle, memory) = prepared();
            for (name, transfer) in [(READ, read as fn(_, _) -> _), (WRITE, write)] {
                shim::once(name, Action::Pretend(1 << 40));
                assert_eq!(transfer(handle, &memory), Moved::Number(1 << 40));
                shim::release(name);
            }
        }),
        case("HF-FAST-05 HF-ERR-02 status 0 with a HIP error h is -h", || {
            let (_file, handle, memory) = prepared();
            for code in [2, 3, 101, 719, 999] {
                shim::once(READ, Action::Error(code));
                assert_eq!(read(handle, &memory), Moved::Number(-(code as isize)));
                shim::once(WRITE, Action::Error(code));
                assert_eq!(write(handle, &memory), Moved::Number(-(code as isize)));
                shim::release(READ);
                shim::release(WRITE);
            }
        }),
        case("HF-FAST-05 HF-ERR-03 hipErrorInvalidValue is -1 with errno as it was", || {
            let (_file, handle, memory) = prepared();
            shim::always(READ, Action::Error(1));
            for before in [0, libc::EDOM] {
                raw::set_errno(before);
                assert_eq!(raw::read_raw(handle, memory.at, PAGE, 0, 0), -1);
                assert_eq!(raw::errno(), before);
            }
        }),
    ]
}

fn retries() -> Vec<Case> {
    vec![
        case("HF-FAST-06 ENODEV and EREMOTEIO are retried on the fallback", || {
            for errno in [libc::ENODEV, libc::EREMOTEIO] {
                let (file, handle, memory) = prepared();
                shim::always(READ, Action::Status(i64::from(errno)));
                let paths = paths_of(|| assert_eq!(read(handle, &memory), Moved::Number(2 * PAGE as isize)));
                assert_eq!(paths.fallback_reads, 1);
                assert_eq!(memory.get(0..2 * PAGE), pattern(SIZE, 1)[..2 * PAGE]);
                shim::release(READ);
                shim::always(WRITE, Action::Status(i64::from(errno)));
                memory.put(0, &[0xab; PAGE]);
                assert_eq!(write(handle, &memory), Moved::Number(2 * PAGE as isize));
                assert_eq!(file.bytes()[..PAGE], [0xab; PAGE]);
                shim::release(WRITE);
                assert_eq!(raw::buffer_deregister(memory.at), raw::OK);
                raw::deregister(handle);
            }
        }),
        case("HF-FAST-07 HF-FAST-13 no other error is retried, neither EINTR nor EAGAIN", || {
            let (_file, handle, memory) = prepared();
            for errno in [libc::EIO, libc::EINVAL, libc::EBADF, libc::EINTR, libc::EAGAIN, libc::ENXIO] {
                shim::always(READ, Action::Status(i64::from(errno)));
                shim::always("pread", Action::Short(i64::MAX));
                assert_eq!(read(handle, &memory), Moved::Os(errno));
                assert_eq!((shim::calls(READ), shim::calls("pread")), (1, 0), "errno {errno}");
                shim::release(READ);
                shim::release("pread");
            }
            shim::always(READ, Action::Error(999));
            shim::always("pread", Action::Short(i64::MAX));
            assert_eq!(read(handle, &memory), Moved::Number(-999));
            assert_eq!((shim::calls(READ), shim::calls("pread")), (1, 0));
            assert_eq!(memory.bytes(), [0x77; SIZE]);
        }),
        case("HF-FAST-08 with the fallback disabled the first error is returned", || {
            let (_file, handle, memory) = prepared();
            for errno in [libc::ENODEV, libc::EREMOTEIO] {
                shim::always(READ, Action::Status(i64::from(errno)));
                assert_eq!(read(handle, &memory), Moved::Os(errno));
                shim::release(READ);
            }
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case("HF-FAST-09 if the retry fails too, its error is returned", || {
            let (_file, handle, memory) = prepared();
            shim::always(READ, Action::Status(i64::from(libc::ENODEV)));
            shim::always("pread", Action::Error(i64::from(libc::EIO)));
            assert_eq!(read(handle, &memory), Moved::Os(libc::EIO));
        }),
        case("HF-FAST-06 the retry starts the whole request again", || {
            let (_file, handle, memory) = prepared();
            shim::always(READ, Action::Status(i64::from(libc::ENODEV)));
            shim::always("pread", Action::Short(i64::MAX));
            let moved = raw::read(handle, memory.at, 4 * PAGE, PAGE as i64, PAGE as i64);
            assert_eq!(moved, Moved::Number(4 * PAGE as isize));
            assert_eq!(memory.get(PAGE..5 * PAGE), pattern(SIZE, 1)[PAGE..5 * PAGE]);
            assert_eq!(memory.get(0..PAGE), [0x77; PAGE]);
        }),
    ]
}

fn plain() -> Vec<Case> {
    vec![
        case("HF-FAST-10 a read across the end returns the bytes up to the end", || {
            let file = File::of(&pattern(10_000, 2));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let paths = paths_of(|| {
                assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), Moved::Number(10_000));
                assert_eq!(raw::read(handle, memory.at, PAGE, 12_288, 0), Moved::Number(0));
            });
            assert_eq!((paths.fast_reads, paths.fallback_reads), (2, 0));
            assert_eq!(memory.get(0..10_000), pattern(10_000, 2));
        })
        .fast()
        .shim(),
        case(
            "HF-FAST-15 the fast path sees what a buffered write put there before, and the other way",
            || {
                let file = File::of(&vec![0; SIZE]);
                let second = open(file.path(), libc::O_RDWR);
                let (direct, buffered) = (file.registered(), raw::registered(second.as_raw_fd()));
                let memory = Memory::new(PAGE).registered();
                let odd = Memory::new(PAGE + 1);
                for round in 0..20 {
                    odd.put(0, &pattern(PAGE + 1, round));
                    let fallback = paths_of(|| {
                        let moved = raw::write(buffered, odd.at, PAGE + 1, 0, 0);
                        assert_eq!(moved, Moved::Number(PAGE as isize + 1));
                    });
                    assert_eq!(fallback.fallback_writes, 1);
                    let fast = paths_of(|| {
                        assert_eq!(raw::read(direct, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                    });
                    assert_eq!(fast, FAST_READ);
                    assert_eq!(memory.bytes(), pattern(PAGE + 1, round)[..PAGE]);
                    memory.put(0, &pattern(PAGE, round + 50));
                    assert_eq!(raw::write(direct, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                    let back = paths_of(|| {
                        let moved = raw::read(buffered, odd.at, PAGE + 1, 0, 0);
                        assert_eq!(moved, Moved::Number(PAGE as isize + 1));
                    });
                    assert_eq!(back, FALLBACK_READ);
                    assert_eq!(odd.get(0..PAGE), pattern(PAGE, round + 50));
                }
            },
        )
        .fast()
        .shim(),
    ]
}
