//! HF-STATS: what a process shares of its statistics, and how another one looks at them.

use std::ffi::{c_int, c_void};
use std::io::{Read, Seek};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{SocketAddr, UnixStream};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, own, pattern};
use crate::hip::Memory;
use crate::process::{Create, Poll, Report, WithContext, internal};
use crate::raw::{self, Moved, OK, e};

pub fn cases() -> Vec<Case> {
    let mut cases = memory();
    cases.extend(reports());
    cases
}

fn memory() -> Vec<Case> {
    vec![
        case("HF-STATS-20 HF-STATS-25 the socket hands out a sealed file of counters", || {
            transfers();
            let memory = shared_memory();
            assert_eq!(memory.metadata().unwrap().len(), 33_576);
            let value = |index: u64| word(&memory, index * 8);
            // Version, level, registered files and buffers.
            assert_eq!([value(0), value(1), value(2), value(3)], [1, 1, 1, 1]);
            // Device 0: its fast path, which declined what the fallback did; 4 KiB is the second class of size.
            let (fast, fallback) = (5, 5 + 131);
            let class = |path: u64, kind: u64, direction: u64, class: u64| {
                value(path + 1 + kind * 32 + direction * 16 + class)
            };
            let all: u64 = (0..131).map(|index| value(fast + index)).sum();
            assert_eq!((all, value(4)), (0, 4), "declined");
            assert_eq!(value(fallback), 1, "in use");
            assert_eq!((class(fallback, 0, 0, 1), class(fallback, 1, 0, 1)), (2 * 4096, 2));
            assert_eq!((class(fallback, 0, 1, 0), class(fallback, 1, 1, 0)), (100, 1));
            assert_eq!(class(fallback, 3, 1, 1), 1, "an error, by the size asked for");
            assert_eq!([value(fallback + 129), value(fallback + 130)], [0, 1], "unaligned");
            assert_sealed(&memory);
        })
        .fallback()
        .since(0, 4),
        case("HF-STATS-20 HF-STATS-26 0.2 shares four totals, also at level 0", || {
            transfers();
            let memory = shared_memory();
            assert_eq!(memory.metadata().unwrap().len(), 528);
            let words: Vec<_> = (0..66).map(|index| word(&memory, index * 8)).collect();
            assert_eq!(words[..2], [0, 1], "level, version");
            assert!(words[2..].iter().all(|word| *word == 0));
            assert_sealed(&memory);
        })
        .until(0, 2),
        case("HF-STATS-26 bytes in 0.2 are told apart by path and direction", || {
            transfers();
            let memory = shared_memory();
            let words: Vec<_> = (0..66).map(|index| word(&memory, index * 8)).collect();
            assert_eq!(words[..6], [2, 1, 0, 0, 2 * 4096, 100]);
            assert!(words[6..].iter().all(|word| *word == 0), "registrations are not counted");
        })
        .fallback()
        .env("HIPFILE_STATS_LEVEL", "2")
        .until(0, 2),
        case("HF-STATS-18 without memory to share the statistics are E(5030), the rest works", || {
            assert_eq!(raw::driver_open(), OK);
            let level = raw::api().hipFileGetStatsL1.expect("level 1");
            let mut room = MaybeUninit::uninit();
            // SAFETY: requires room for one value; holds because it is one.
            let answer = unsafe { level(room.as_mut_ptr()) };
            assert_eq!((answer.err.0, answer.hip_drv_err.0), e(5030));
            assert_eq!(raw::stats_of_null(), [e(5022); 3]);
            let file = File::empty();
            raw::deregister(file.registered());
            assert!(UnixStream::connect_addr(&address(std::process::id())).is_err());
        })
        .needs(Need::Ours)
        .needs(Need::Stats)
        .since(0, 5)
        .env("SOFT_ROCM_FAULTS", "memfd_create:errno=EMFILE"),
    ]
}

/// Two reads, a write, and a write that fails.
fn transfers() {
    let file = File::of(&pattern(2 * PAGE, 1));
    let handle = file.registered();
    let memory = Memory::new(2 * PAGE).registered();
    for _ in 0..2 {
        assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
    }
    assert_eq!(raw::write(handle, memory.at, 100, 7, 0), Moved::Number(100));
    assert_eq!(raw::write(handle, memory.at, PAGE, i64::MAX - 4095, 0), Moved::Os(libc::EINVAL));
}

/// Where a process hands out its statistics.
fn address(pid: u32) -> SocketAddr {
    SocketAddr::from_abstract_name(format!("AISSTATS{pid:08x}")).unwrap()
}

/// The file that this process hands out, with the four bytes that go along.
fn shared_memory() -> std::fs::File {
    let socket = UnixStream::connect_addr(&address(std::process::id())).unwrap();
    let mut payload = [0_u8; 8];
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    let mut control = [0_u64; 8];
    // SAFETY: requires a type for which zero bytes are valid; holds because it has integers and pointers alone.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
    // SAFETY: requires a message whose parts are writable; holds, they are ours.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC) };
    assert_eq!(received, 4);
    // SAFETY: requires a message that was received.
    let header = unsafe { libc::CMSG_FIRSTHDR(&message) };
    // SAFETY: requires NULL or a header; holds because the system wrote it.
    let header = unsafe { header.as_ref() }.expect("a descriptor came along");
    assert_eq!((header.cmsg_level, header.cmsg_type), (libc::SOL_SOCKET, libc::SCM_RIGHTS));
    // SAFETY: requires a header; holds.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: requires a descriptor there; holds because the header says so.
    let fd: OwnedFd = own(unsafe { data.cast::<c_int>().read_unaligned() });
    let name = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap();
    assert_eq!(name.to_str().unwrap(), "/memfd:AISSTATS (deleted)");
    fd.into()
}

fn word(memory: &std::fs::File, offset: u64) -> u64 {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, offset).unwrap();
    u64::from_ne_bytes(bytes)
}

fn assert_sealed(memory: &std::fs::File) {
    assert!(memory.write_at(&[1], 0).is_err(), "receivers can't write");
    assert!(memory.set_len(8).is_err(), "it can't shrink");
    let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, memory.as_raw_fd());
    // SAFETY: requires nothing: the system chooses the place.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), 8, access, libc::MAP_SHARED, fd, 0) };
    assert_eq!(place, libc::MAP_FAILED);
}

fn reports() -> Vec<Case> {
    vec![
        case("HF-STATS-21 HF-STATS-27 another process reports registrations and totals", || {
            let report = report_of_a_child();
            for line in [
                "HipFile Stats Level: 1\n",
                "File Registrations: 1\n",
                "Buffer Registrations: 1\n",
                "Fastpath Rejections: 4\n",
                "Total Fallback Read: Size (B) 8192, ",
                "Total Fallback Write: Size (B) 100, ",
                "Errors 1, Unaligned 1\n",
                "GPU 0 Fallback\n",
            ] {
                assert!(report.contains(line), "{line:?} in\n{report}");
            }
        })
        .fallback()
        .needs(Need::Ours)
        .since(0, 4),
        case("HF-STATS-21 HF-STATS-27 HF-ENV-09 the report of 0.2 is the totals in bytes", || {
            let report = report_of_a_child();
            assert!(report.contains("HipFile Stats Level: 3\n"), "{report}");
            assert!(report.contains("Total Fallback Read (B): 8192\n"), "{report}");
            assert!(report.contains("Total Fallback Write (B): 100\n"), "{report}");
        })
        .fallback()
        .needs(Need::Ours)
        .env("HIPFILE_STATS_LEVEL", " -1")
        .until(0, 2),
        case("HF-ENV-09 in 0.2 a blank after the number makes it none, and then the level is 0", || {
            let report = report_of_a_child();
            assert!(report.contains("HipFile Stats Level: 0\n"), "{report}");
            assert!(report.contains("Total Fallback Read (B): 0\n"), "{report}");
        })
        .fallback()
        .needs(Need::Ours)
        .env("HIPFILE_STATS_LEVEL", "1 ")
        .until(0, 2),
    ]
}

/// What the functions of AMD's tool make of a child that makes some transfers.
fn report_of_a_child() -> String {
    let (from_child, to_child) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    // SAFETY: requires that the child needs no other threads and no state of the libraries; holds because this process
    // has neither yet.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1);
    if pid == 0 {
        let done = std::panic::catch_unwind(transfers).is_ok();
        drop((from_child, to_child.0));
        // Until the parent closes its end.
        let _ = (&to_child.1).read(&mut [0]);
        // SAFETY: requires nothing; ends the child without exit handlers.
        unsafe { libc::_exit(c_int::from(!done)) };
    }
    drop((from_child.1, to_child.1));
    // Until the child closes its end.
    assert_eq!((&from_child.0).read(&mut [0]).unwrap(), 0);

    let create: Create = internal("hipFileStatsCreateContext");
    let poll: Poll = internal("hipFileStatsPollTargetProcess");
    let connect: WithContext = internal("hipFileStatsConnectToTargetProcess");
    let close: WithContext = internal("hipFileStatsCloseContext");
    let write: Report = internal("hipFileStatsGenerateReport");
    let mut context: *mut c_void = std::ptr::null_mut();
    // SAFETY: requires room for a context.
    assert_eq!(unsafe { create(&mut context, pid) }, 0);
    // SAFETY: requires a context, as all that follow; holds, it is closed last.
    assert_eq!(unsafe { connect(context) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { poll(context, false) }, 3, "it runs");
    let report = || {
        let mut file = tempfile::tempfile().unwrap();
        // SAFETY: as above, and an open descriptor.
        assert_eq!(unsafe { write(context, file.as_raw_fd()) }, 0);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    };
    let running = report();
    drop(to_child.0);
    // SAFETY: as above.
    assert_eq!(unsafe { poll(context, true) }, 0, "it ended");
    let mut status = 0;
    // SAFETY: requires a place for the status; holds because `status` is one.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0, "the child's transfers");
    assert_eq!(report(), running, "the memory outlives the process");
    // SAFETY: as above.
    unsafe { close(context) };
    assert!(running.starts_with("AIS-STATS Version: 1\nHipFile Stats Level: "), "{running}");
    running
}
