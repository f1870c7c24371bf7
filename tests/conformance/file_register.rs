//! HF-FILE: what file registration accepts, refuses, costs and keeps.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use crate::case::{Case, case};
use crate::file::{File, PAGE, open, open_descriptors, own};
use crate::hip::Memory;
use crate::raw::{self, Moved, OK, e};

use hipfile_sys::{hipFileFSOps_t, hipFileFileHandleType_t, hipFileHandleTypeOpaqueFD};

pub fn cases() -> Vec<Case> {
    let mut cases = arguments();
    cases.extend(numbers());
    cases.extend(costs());
    cases
}

/// The answer for a descriptor of that type.
fn register_type(kind: u32, fd: i32) -> (raw::Answer, usize) {
    let mut description = raw::description(fd);
    description.type_ = hipFileFileHandleType_t(kind);
    let mut handle = std::ptr::dangling_mut();
    let untouched = handle as usize;
    let answer = raw::register_at(&mut handle, &mut description);
    (answer, if handle as usize == untouched { 0 } else { handle as usize })
}

fn arguments() -> Vec<Case> {
    vec![
        case("HF-FILE-01 NULL handle pointer is E(5022)", || {
            let file = File::empty();
            assert_eq!(raw::register_at(std::ptr::null_mut(), &mut raw::description(file.number())), e(5022));
            assert_eq!(raw::register_at(std::ptr::null_mut(), std::ptr::null_mut()), e(5022));
        }),
        case("HF-FILE-02 NULL descriptor is E(5022)", || {
            let mut handle = std::ptr::null_mut();
            assert_eq!(raw::register_at(&mut handle, std::ptr::null_mut()), e(5022));
            assert!(handle.is_null());
        }),
        case("HF-FILE-03 HF-FILE-04 HF-FILE-05 any type but an fd is E(5008), whatever the fd", || {
            let file = File::empty();
            for kind in [2, 3, 0, 4, 100, u32::MAX] {
                for fd in [file.number(), -1, 1_000_000] {
                    assert_eq!(register_type(kind, fd), (e(5008), 0), "type {kind}, fd {fd}");
                }
            }
        }),
        case(
            "HF-FILE-06 HF-FILE-07 HF-FILE-09 a negative or closed fd is E(5030), no handle written",
            || {
                // The first call makes descriptors of the library's own, which shall not take that number.
                raw::count();
                let closed = File::empty().close();
                for fd in [-1, -100, i32::MIN, closed, 1_000_000] {
                    assert_eq!(register_type(1, fd), (e(5030), 0), "fd {fd}");
                }
            },
        ),
        case("HF-FILE-08 a regular file registers", || {
            let file = File::empty();
            let (answer, handle) = raw::register(file.number());
            assert_eq!(answer, OK);
            assert_ne!(handle, 0);
        }),
        case("HF-FILE-38 fs_ops is ignored", || {
            let file = File::empty();
            for address in [0_usize, 1, usize::MAX] {
                let mut description = raw::description(file.number());
                description.fs_ops = address as *const hipFileFSOps_t;
                let mut handle = std::ptr::null_mut();
                assert_eq!(raw::register_at(&mut handle, &mut description), OK, "{address:#x}");
                raw::deregister(handle as usize);
            }
        }),
        case("HF-FILE-39 the descriptor is not kept", || {
            let file = File::of(&[5; 100]);
            let mut description = raw::description(file.number());
            let mut handle = std::ptr::null_mut();
            assert_eq!(raw::register_at(&mut handle, &mut description), OK);
            description.type_ = hipFileFileHandleType_t(99);
            description.handle.fd = -1;
            let memory = Memory::new(100);
            assert_eq!(raw::read(handle as usize, memory.at, 100, 0, 0), Moved::Number(100));
            assert_ne!(description.type_, hipFileHandleTypeOpaqueFD);
        }),
    ]
}

fn numbers() -> Vec<Case> {
    vec![
        case("HF-FILE-10 the same number twice is E(5028)", || {
            let file = File::empty();
            file.registered();
            assert_eq!(register_type(1, file.number()), (e(5028), 0));
        }),
        case("HF-FILE-11 HF-FILE-12 a dup and a second open register by themselves", || {
            let file = File::of(&[6; 100]);
            let dup = file.fd.try_clone().unwrap();
            let second = open(file.path(), libc::O_RDONLY);
            let handles = [file.number(), dup.as_raw_fd(), second.as_raw_fd()].map(raw::registered);
            assert!(handles[0] != handles[1] && handles[1] != handles[2] && handles[0] != handles[2]);
            let memory = Memory::new(100);
            for handle in handles {
                assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
            }
            raw::deregister(handles[0]);
            assert_eq!(raw::read(handles[1], memory.at, 100, 0, 0), Moved::Number(100));
        }),
        case("HF-FILE-13 a registered number that is closed is E(5030)", || {
            let file = File::empty();
            file.registered();
            let number = file.close();
            assert_eq!(raw::register(number).0, e(5030));
        }),
        case("HF-FILE-14 a registered number that names a socket is E(5030)", || {
            let file = File::empty();
            file.registered();
            let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
            let number = reuse(file, socket.into());
            assert_eq!(raw::register(number).0, e(5030));
        }),
        case("HF-FILE-15 a registered number that names another file is E(5028)", || {
            let (file, other) = (File::empty(), File::empty());
            file.registered();
            let number = reuse(file, other.fd.try_clone().unwrap());
            assert_eq!(raw::register(number).0, e(5028));
        }),
    ]
}

/// Closes the descriptor of a file and lets another take its number.
pub fn reuse(file: File, other: OwnedFd) -> i32 {
    let number = file.close();
    // SAFETY: requires descriptors; the number is free, for its owner has just closed it.
    let taken = unsafe { libc::dup2(other.as_raw_fd(), number) };
    // Never closed: the library may use it until the process ends.
    own(taken).into_raw_fd()
}

fn costs() -> Vec<Case> {
    vec![
        case("HF-FILE-16 registering borrows the fd", || {
            let file = File::of(&[3; 100]);
            let handle = file.registered();
            assert_eq!(file.bytes(), [3; 100]);
            raw::deregister(handle);
            // SAFETY: requires nothing; a closed descriptor is an error.
            assert!(unsafe { libc::fcntl(file.number(), libc::F_GETFD) } >= 0);
            let handle = file.registered();
            let memory = Memory::new(100);
            assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
        }),
        case("HF-FILE-17 registering costs one descriptor and deregistering gives it back", || {
            assert_eq!(raw::driver_open(), OK);
            for flags in [libc::O_RDWR, libc::O_RDWR | libc::O_DIRECT] {
                let file = File::opened(&[0; PAGE], flags);
                let before = open_descriptors();
                let handle = file.registered();
                assert_eq!(open_descriptors().len(), before.len() + 1);
                raw::deregister(handle);
                assert_eq!(open_descriptors(), before);
            }
        }),
        case("HF-FILE-18 the library's descriptor is closed on exec", || {
            assert_eq!(raw::driver_open(), OK);
            let file = File::empty();
            let before = open_descriptors();
            file.registered();
            let extra: Vec<_> = open_descriptors().into_iter().filter(|fd| !before.contains(fd)).collect();
            assert_eq!(extra.len(), 1);
            // SAFETY: requires nothing; a closed descriptor is an error.
            let flags = unsafe { libc::fcntl(extra[0], libc::F_GETFD) };
            assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
        }),
        case("HF-FILE-37 no free descriptor is E(5030)", || {
            assert_eq!(raw::driver_open(), OK);
            let file = File::empty();
            let spare = File::empty();
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: requires room for the answer; holds because it is ours.
            assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }, 0);
            let lowered = libc::rlimit { rlim_cur: spare.number() as u64 + 1, ..limit };
            // SAFETY: requires a limit; holds because it is ours.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &lowered) }, 0);
            let filler: Vec<OwnedFd> = std::iter::from_fn(|| file.fd.try_clone().ok()).collect();
            let answer = raw::register(file.number());
            drop(filler);
            // SAFETY: requires a limit; holds because it is ours.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
            assert_eq!(answer, (e(5030), 0));
            assert_eq!(raw::register(file.number()).0, OK, "once there are descriptors again");
        }),
    ]
}
