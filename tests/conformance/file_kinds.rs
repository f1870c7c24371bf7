//! HF-FILE: which kinds of descriptors register, and what transfers on them do.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::case::{Case, case};
use crate::file::{File, PAGE, folder, open, own, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved, OK, e};
use crate::witness::{FALLBACK_READ, FAST_READ, paths_of};

pub fn cases() -> Vec<Case> {
    let mut cases = files();
    cases.extend(special());
    cases.extend(refused());
    cases
}

/// Registers, reads `size` bytes at 0 into device memory, and gives what came.
fn read(fd: i32, size: usize) -> (Moved, Vec<u8>) {
    let memory = Memory::filled(size.max(1), 0xee);
    let handle = raw::registered(fd);
    let moved = raw::read(handle, memory.at, size, 0, 0);
    raw::deregister(handle);
    (moved, memory.bytes())
}

/// Registers and writes 100 bytes at 0.
fn write(fd: i32) -> Moved {
    let memory = Memory::of(&[0x42; 100]);
    let handle = raw::registered(fd);
    let moved = raw::write(handle, memory.at, 100, 0, 0);
    raw::deregister(handle);
    moved
}

fn memfd(flags: u32) -> OwnedFd {
    // SAFETY: requires a terminated name; holds because it is a literal.
    own(unsafe { libc::memfd_create(c"test".as_ptr(), flags) })
}

/// Reads a page and then 100 bytes through one handle, and says which path each took.
fn both_paths(flags: i32) {
    let bytes = pattern(2 * PAGE, 1);
    let file = File::opened(&bytes, flags);
    let handle = file.registered();
    let memory = Memory::new(2 * PAGE).registered();
    let page = paths_of(|| {
        assert_eq!(raw::read(handle, memory.at, PAGE, PAGE as i64, 0), Moved::Number(PAGE as isize));
    });
    assert_eq!(page, FAST_READ);
    assert_eq!(memory.get(0..PAGE), bytes[PAGE..]);
    let odd = paths_of(|| assert_eq!(raw::read(handle, memory.at, 100, 1, 0), Moved::Number(100)));
    assert_eq!(odd, FALLBACK_READ);
    assert_eq!(memory.get(0..100), bytes[1..101]);
}

fn files() -> Vec<Case> {
    vec![
        case("HF-FILE-19 an O_DIRECT fd registers and both paths work", || {
            both_paths(libc::O_RDWR | libc::O_DIRECT);
        })
        .fast()
        .shim(),
        case("HF-FILE-20 an fd without O_DIRECT registers and both paths work", || both_paths(libc::O_RDWR))
            .fast()
            .shim(),
        case("HF-FILE-19 HF-FILE-20 either kind of fd serves the fallback", || {
            for flags in [libc::O_RDWR, libc::O_RDWR | libc::O_DIRECT] {
                let file = File::opened(&pattern(5000, 2), flags);
                assert_eq!(read(file.number(), 5000), (Moved::Number(5000), pattern(5000, 2)));
            }
        })
        .fallback(),
        case("HF-FILE-21 a read-only fd registers; writing is -1/EBADF", || {
            let file = File::opened(&[1; 100], libc::O_RDONLY);
            let memory = Memory::new(100);
            let handle = file.registered();
            assert_eq!(raw::write(handle, memory.at, 100, 0, 0), Moved::Os(libc::EBADF));
            assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
        }),
        case("HF-FILE-22 a write-only fd registers; reading is -1/EBADF", || {
            let file = File::opened(&[1; 100], libc::O_WRONLY);
            let memory = Memory::new(100);
            let handle = file.registered();
            assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Os(libc::EBADF));
            assert_eq!(raw::write(handle, memory.at, 100, 0, 0), Moved::Number(100));
        }),
        case("HF-FILE-23 an unlinked file registers and works", || {
            let file = File::of(&pattern(5000, 3));
            fs::remove_file(file.path()).unwrap();
            assert_eq!(read(file.number(), 5000), (Moved::Number(5000), pattern(5000, 3)));
        }),
        case("HF-FILE-24 a memfd registers and works", || {
            let memfd = memfd(libc::MFD_CLOEXEC);
            let handle = raw::registered(memfd.as_raw_fd());
            let memory = Memory::of(&pattern(5000, 4));
            assert_eq!(raw::write(handle, memory.at, 5000, 0, 0), Moved::Number(5000));
            let back = Memory::new(5000);
            assert_eq!(raw::read(handle, back.at, 5000, 0, 0), Moved::Number(5000));
            assert_eq!(back.bytes(), pattern(5000, 4));
        }),
        case("HF-FILE-25 a memfd sealed against writes registers; writing is -1/EPERM", || {
            let memfd = memfd(libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
            // SAFETY: requires a descriptor; holds because it is ours.
            assert_eq!(unsafe { libc::ftruncate(memfd.as_raw_fd(), 8192) }, 0);
            // SAFETY: requires a descriptor; holds because it is ours.
            let sealed = unsafe { libc::fcntl(memfd.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) };
            assert_eq!(sealed, 0);
            assert_eq!(write(memfd.as_raw_fd()), Moved::Os(libc::EPERM));
        }),
        case("HF-FILE-51 a file on tmpfs registers and works", || {
            let file = File::opened_in(Path::new("/dev/shm"), &pattern(5000, 5), libc::O_RDWR);
            assert_eq!(read(file.number(), 5000), (Moved::Number(5000), pattern(5000, 5)));
        }),
    ]
}

fn special() -> Vec<Case> {
    vec![
        case("HF-FILE-26 HF-FALL-15 a pipe registers; reading is -1/ESPIPE", || {
            let (reader, writer) = pipe();
            assert_eq!(write(writer.as_raw_fd()), Moved::Os(libc::ESPIPE));
            assert_eq!(read(reader.as_raw_fd(), 100).0, Moved::Os(libc::ESPIPE));
        }),
        case("HF-FILE-27 HF-FALL-15 a FIFO registers; reading is -1/ESPIPE", || {
            let place = tempfile::tempdir_in(folder()).unwrap();
            let path = place.path().join("fifo");
            let name = CString::new(path.as_os_str().as_bytes()).unwrap();
            // SAFETY: requires a terminated path; holds because it comes from a CString.
            assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
            let fifo = open(&path, libc::O_RDWR);
            assert_eq!(read(fifo.as_raw_fd(), 100).0, Moved::Os(libc::ESPIPE));
        }),
        case("HF-FILE-28 a directory registers; reading is -1/EISDIR", || {
            let directory = open(&folder(), libc::O_RDONLY | libc::O_DIRECTORY);
            assert_eq!(read(directory.as_raw_fd(), 100).0, Moved::Os(libc::EISDIR));
        }),
        case("HF-FILE-29 /dev/null registers", || {
            let null = open(Path::new("/dev/null"), libc::O_RDWR);
            assert_eq!(read(null.as_raw_fd(), 100).0, Moved::Number(0));
        }),
        case("HF-FILE-30 /dev/zero registers and reads as zeros", || {
            let zero = open(Path::new("/dev/zero"), libc::O_RDONLY);
            assert_eq!(read(zero.as_raw_fd(), 5000), (Moved::Number(5000), vec![0; 5000]));
        }),
        case("HF-FILE-31 a procfs file registers and reads through the fallback", || {
            let version = fs::read("/proc/version").unwrap();
            let proc = open(Path::new("/proc/version"), libc::O_RDONLY);
            let (moved, bytes) = read(proc.as_raw_fd(), 4096);
            assert_eq!(moved, Moved::Number(version.len() as isize));
            assert_eq!(bytes[..version.len()], version);
        }),
        case("HF-FILE-32 an O_PATH fd registers; transfers are -1/EBADF", || {
            let file = File::opened(&[1; 100], libc::O_PATH);
            assert_eq!(read(file.number(), 100).0, Moved::Os(libc::EBADF));
            let dup = file.fd.try_clone().unwrap();
            assert_eq!(write(dup.as_raw_fd()), Moved::Os(libc::EBADF));
        }),
    ]
}

fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [-1; 2];
    // SAFETY: requires room for two descriptors; holds because it is ours.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    (own(ends[0]), own(ends[1]))
}

fn refused() -> Vec<Case> {
    vec![
        case("HF-FILE-33 HF-ERR-04 a socket is E(5030)", || {
            let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
            assert_eq!(raw::register(socket.as_raw_fd()), (e(5030), 0));
        }),
        case("HF-FILE-34 eventfd, epoll, timerfd and inotify are E(5030)", || {
            // SAFETY: requires nothing.
            let eventfd = own(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) });
            // SAFETY: requires nothing.
            let epoll = own(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) });
            // SAFETY: requires nothing.
            let timerfd = own(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) });
            // SAFETY: requires nothing.
            let inotify = own(unsafe { libc::inotify_init1(libc::IN_CLOEXEC) });
            for fd in [eventfd, epoll, timerfd, inotify] {
                assert_eq!(raw::register(fd.as_raw_fd()), (e(5030), 0), "{fd:?}");
            }
            assert_eq!(raw::count(), 0);
        }),
        case("HF-FILE-35 a file made with O_TMPFILE is E(5030), linked or not", || {
            let fd = open(&folder(), libc::O_TMPFILE | libc::O_RDWR);
            assert_eq!(raw::register(fd.as_raw_fd()), (e(5030), 0));
            let place = tempfile::tempdir_in(folder()).unwrap();
            let from = CString::new(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap();
            let to = CString::new(place.path().join("linked").as_os_str().as_bytes()).unwrap();
            let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
            // SAFETY: requires terminated paths; holds because they come from CStrings.
            let linked = unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) };
            assert_eq!(linked, 0);
            assert_eq!(raw::register(fd.as_raw_fd()), (e(5030), 0));
        }),
        case("HF-FILE-36 an fd whose file this process may no longer open is E(5030)", || {
            let file = File::of(&[1; 100]);
            fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
            // Root may open anything, so root becomes somebody else; dumpable, or /proc/self would be closed to it.
            // SAFETY: requires nothing.
            if unsafe { libc::geteuid() } == 0 {
                // SAFETY: requires nothing; it concerns this process alone, which ends with the case.
                assert_eq!(unsafe { libc::setresuid(65534, 65534, 65534) }, 0);
                // SAFETY: requires nothing.
                assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) }, 0);
            }
            assert_eq!(raw::register(file.number()), (e(5030), 0));
            assert_eq!(raw::count(), 0);
            assert_eq!(raw::driver_open(), OK);
        }),
    ]
}
