mod releases;
mod together;

use std::fs::File as StdFile;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use super::*;
use crate::behaviour::Behaviour;
use crate::file::Kind;
use crate::hip::test::{DEVICE, Mock};
use crate::mount::FileSystem;
use crate::stats::level_3;
use hipfile_sys::hipError_t;

const MIB: usize = 1 << 20;
const DEFAULT: Config =
    Config { fast_path: true, fallback: true, any_file_system: false, behaviour: Behaviour::DEFAULT };
const FALLBACK: Config = Config { fast_path: false, ..DEFAULT };
const NO_FALLBACK: Config = Config { fallback: false, ..DEFAULT };

/// A file with content, open for both directions.
fn file(content: &[u8]) -> (StdFile, File) {
    let mut caller = tempfile::tempfile_in("/dev/shm").unwrap();
    caller.write_all(content).unwrap();
    // A file without a name keeps a flag that forbids to open it again.
    let path = format!("/proc/self/fd/{}", caller.as_raw_fd());
    let caller = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let registered = File::new(caller.as_raw_fd()).unwrap();
    (caller, registered)
}

/// A file that the fast path takes.
fn direct_file() -> (StdFile, File) {
    let (caller, mut file) = file(b"");
    file.direct = Some(caller.as_raw_fd());
    (file.kind, file.file_system) = (Kind::Regular, FileSystem::Xfs);
    (file.offset_alignment, file.memory_alignment) = (512, 1);
    (caller, file)
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index / 251 + index) as u8).collect()
}

fn run(
    mock: &Mock,
    config: &Config,
    direction: Direction,
    file: &File,
    size: usize,
    file_offset: i64,
    buffer_offset: i64,
) -> (Result<usize, Failure>, Stats) {
    let (stats, _file) = Stats::new(Version::V0_5, 1);
    let base = mock.pointer() as usize;
    let buffer = Buffer { base, len: mock.len(), device: DEVICE, host: false };
    let request = Request { direction, file, buffer: &buffer, size, file_offset, buffer_offset };
    (request.run(&mock.hip, config, &stats), stats)
}

#[test]
fn the_bounce_buffer_moves_every_byte() {
    let content = pattern(3 * MIB + 5);
    let (caller, file) = file(&content);
    let mock = Mock::new(3 * MIB + 100);

    let (read, stats) = run(&mock, &FALLBACK, Direction::Read, &file, 3 * MIB + 90, 3, 7);
    assert_eq!(read, Ok(3 * MIB + 2), "up to the end of the file");
    assert_eq!(mock.memory()[7..][..3 * MIB + 2], content[3..]);
    assert!(mock.memory()[..7].iter().chain(&mock.memory()[3 * MIB + 9..]).all(|byte| *byte == 0xee));
    let gpu = level_3(stats.shared().unwrap()).per_gpu_stats[DEVICE as usize];
    assert_eq!((gpu.n_posix_reads, gpu.n_unaligned_reads, gpu.read_bytes), (1, 1, 3 * MIB as u64 + 2));

    let (written, _) = run(&mock, &FALLBACK, Direction::Write, &file, 2 * MIB, 11, 7);
    assert_eq!(written, Ok(2 * MIB));
    let mut back = vec![0; 3 * MIB + 5];
    caller.read_exact_at(&mut back, 0).unwrap();
    assert_eq!(back[..11], content[..11]);
    assert_eq!(back[11..][..2 * MIB], content[3..][..2 * MIB]);
    assert_eq!(back[2 * MIB + 11..], content[2 * MIB + 11..]);
}

#[test]
fn calls_of_the_bounce_buffer() {
    let (_caller, file) = file(&pattern(MIB + 9));
    let mock = Mock::new(2 * MIB);
    run(&mock, &FALLBACK, Direction::Read, &file, MIB + 1, 0, 0).0.unwrap();
    let device = ["hipGetDevice", "hipSetDevice 3"];
    let copies = ["hipMemcpy 1048576 kind 1", "hipMemcpy 1 kind 1"];
    assert_eq!(mock.calls(), [&device[..], &copies, &["hipSetDevice 0"]].concat());

    run(&mock, &FALLBACK, Direction::Write, &file, 8, 0, 0).0.unwrap();
    assert_eq!(mock.calls()[2..4], ["hipMemcpy 8 kind 2", "hipStreamSynchronize"]);

    run(&mock, &FALLBACK, Direction::Read, &file, 0, 0, 0).0.unwrap();
    assert_eq!(mock.calls()[2..], ["hipSetDevice 0"], "nothing to copy");
}

#[test]
fn the_alias_moves_every_byte() {
    let content = pattern(MIB);
    let (caller, file) = file(&content);
    let mock = Mock::with_alias(MIB);
    let (read, _) = run(&mock, &FALLBACK, Direction::Read, &file, MIB - 9, 100, 9);
    assert_eq!(read, Ok(MIB - 100), "up to the end of the file");
    assert_eq!(mock.memory()[9..MIB - 91], content[100..]);
    assert_eq!(mock.calls(), ["hipGetDevice", "hipSetDevice 3", "hipStreamSynchronize", "hipSetDevice 0"]);

    let (written, _) = run(&mock, &FALLBACK, Direction::Write, &file, 50, MIB as i64 + 50, 9);
    assert_eq!(written, Ok(50));
    assert_eq!(caller.metadata().unwrap().len(), MIB as u64 + 100);
    let (at_end, _) = run(&mock, &FALLBACK, Direction::Read, &file, 50, MIB as i64 + 100, 0);
    assert_eq!(at_end, Ok(0));
}

#[test]
fn a_hip_that_moves_the_bytes_itself_is_asked_to() {
    let content = pattern(MIB);
    let (caller, file) = file(&content);
    let mock = Mock::with_file_transfer(MIB);
    let (read, _) = run(&mock, &FALLBACK, Direction::Read, &file, MIB - 9, 100, 9);
    assert_eq!(read, Ok(MIB - 100), "up to the end of the file");
    assert_eq!(mock.memory()[9..MIB - 91], content[100..]);
    let asked = "file_transfer 0";
    let around = |len| {
        let moved = format!("file_transfer {len}");
        ["hipGetDevice", "hipSetDevice 3", asked, "hipStreamSynchronize", &moved, "hipSetDevice 0"]
            .map(str::to_owned)
    };
    assert_eq!(mock.calls(), around(MIB - 9));
    let (written, _) = run(&mock, &FALLBACK, Direction::Write, &file, 50, MIB as i64 + 50, 9);
    assert_eq!((written, caller.metadata().unwrap().len()), (Ok(50), MIB as u64 + 100));
    assert_eq!(mock.calls(), around(50));
    mock.fail_after(1, "file_transfer", libc::EIO as u32);
    let (read, _) = run(&mock, &FALLBACK, Direction::Read, &file, 8, 0, 0);
    assert_eq!(read, Err(Failure::Os(libc::EIO)));

    let mock = Mock::with_file_transfer(64);
    // It has no way to this memory.
    mock.fail("file_transfer", u32::MAX);
    let (read, _) = run(&mock, &FALLBACK, Direction::Read, &file, 8, 16, 0);
    assert_eq!((read, &mock.memory()[..8]), (Ok(8), &content[16..24]));
    let calls = mock.calls();
    assert_eq!(calls.get(2).map(String::as_str), Some(asked), "{calls:?}");
    assert!(
        calls.get(3).is_some_and(|call| call.starts_with("hipMemcpy")),
        "nothing waits before it: {calls:?}"
    );
}

#[test]
fn errors_of_the_fallback() {
    let (_caller, file) = file(b"content");
    for new in [Mock::new, Mock::with_alias, Mock::with_file_transfer] {
        let mock = new(64);
        let read = |offset| run(&mock, &FALLBACK, Direction::Read, &file, 8, offset, 0);
        let (result, stats) = read(i64::MAX - 2);
        assert_eq!(result, Err(Failure::Os(libc::EINVAL)));
        assert_eq!(level_3(stats.shared().unwrap()).detailed.basic.read_ops.err, 1);
        assert_eq!(read(-1).0, Err(Failure::Os(libc::EINVAL)));

        mock.fail("hipStreamSynchronize", 719);
        let write = run(&mock, &FALLBACK, Direction::Write, &file, 8, 0, 0).0;
        assert_eq!(write, Err(Failure::Hip(hipError_t(719))));
        mock.fail("hipGetDevice", 3);
        assert_eq!(read(0).0, Err(Failure::Hip(hipError_t(3))));
    }
}

#[test]
fn a_file_that_cannot_be_synced() {
    let caller = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    let file = File::new(caller.as_raw_fd()).unwrap();
    for new in [Mock::new, Mock::with_alias, Mock::with_file_transfer] {
        let mock = new(64);
        let write = run(&mock, &FALLBACK, Direction::Write, &file, 8, 0, 0).0;
        assert_eq!(write, Err(Failure::Os(libc::EINVAL)));
        let read = run(&mock, &FALLBACK, Direction::Read, &file, 8, 0, 0).0;
        assert_eq!(read, Err(Failure::Os(libc::EBADF)));
    }
}

#[test]
fn bytes_moved_before_an_error_are_counted() {
    let (_caller, long) = file(&pattern(3 * MIB));
    let mock = Mock::new(3 * MIB);
    mock.fail_after(2, "hipMemcpy", 719);
    let read = |offset| run(&mock, &FALLBACK, Direction::Read, &long, MIB * 3, offset, 0).0;
    assert_eq!(read(0), Ok(2 * MIB));
    assert_eq!(read(2 * MIB as i64), Err(Failure::Hip(hipError_t(719))), "the next call meets the error");

    let (_caller, mut sealed) = file(b"");
    let memfd = sealed_memfd(MIB + MIB / 2);
    sealed.buffered = memfd.as_raw_fd();
    for new in [Mock::new, Mock::with_alias, Mock::with_file_transfer] {
        let mock = new(2 * MIB);
        let write = |offset| run(&mock, &FALLBACK, Direction::Write, &sealed, MIB, offset, 0).0;
        assert_eq!(write(MIB as i64), Ok(MIB / 2));
        assert_eq!(write((MIB + MIB / 2) as i64), Err(Failure::Os(libc::EPERM)));
    }
}

/// A file that can't grow.
fn sealed_memfd(len: usize) -> StdFile {
    use std::os::fd::FromRawFd;
    // SAFETY: requires a C string; holds, it is a literal.
    let fd = unsafe { libc::memfd_create(c"sealed".as_ptr(), libc::MFD_ALLOW_SEALING) };
    assert!(fd >= 0);
    // SAFETY: requires an open descriptor that nobody else owns; holds, it was just made.
    let file = unsafe { StdFile::from_raw_fd(fd) };
    file.set_len(len as u64).unwrap();
    // SAFETY: requires nothing.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_GROW) }, 0);
    file
}

#[test]
fn one_call_of_the_fast_path() {
    let (_caller, file) = direct_file();
    let mock = Mock::new(8192);
    mock.file_functions(0, Some(1000));
    let (read, stats) = run(&mock, &DEFAULT, Direction::Read, &file, 1024, 512, 3);
    assert_eq!(read, Ok(1000), "a short count as it is");
    let call = format!("hipAmdFileRead fd {} at 3 size 1024 offset 512", file.direct.unwrap());
    let mut calls = mock.calls();
    assert_eq!(calls.pop(), Some(call));
    assert_eq!(calls.pop().as_deref(), Some("hipInit 0"), "before the first transfer of the thread");
    assert_eq!(
        calls[1..],
        ["hipGetProcAddress hipAmdFileRead 70000000 0", "hipGetProcAddress hipAmdFileWrite 70000000 0"]
    );
    let gpu = level_3(stats.shared().unwrap()).per_gpu_stats[DEVICE as usize];
    assert_eq!((gpu.n_nvfs_reads, gpu.n_posix_reads, gpu.read_bytes), (1, 0, 1000));

    run(&mock, &DEFAULT, Direction::Write, &file, 512, 0, 0).0.unwrap();
    assert_eq!(mock.calls(), [format!("hipAmdFileWrite fd {} at 0 size 512 offset 0", file.direct.unwrap())]);
}

#[test]
fn errors_of_the_fast_path() {
    let (_caller, file) = direct_file();
    let mock = Mock::new(8192);
    let read = || run(&mock, &DEFAULT, Direction::Read, &file, 512, 0, 0).0;
    for errno in [libc::EINVAL, libc::EIO, libc::EINTR, libc::EAGAIN, 5000] {
        for status in [errno, -errno] {
            mock.file_functions(status, None);
            assert_eq!(read(), Err(Failure::Os(errno)));
        }
    }
    mock.fail("hipAmdFileRead", 101);
    assert_eq!(read(), Err(Failure::Os(5000)), "the status wins");
    mock.file_functions(0, None);
    assert_eq!(read(), Err(Failure::Hip(hipError_t(101))));
}

#[test]
fn the_second_try() {
    let (caller, file) = direct_file();
    caller.write_all_at(&pattern(512), 0).unwrap();
    for errno in [libc::ENODEV, libc::EREMOTEIO] {
        let mock = Mock::new(8192);
        mock.file_functions(-errno, None);
        let (read, stats) = run(&mock, &DEFAULT, Direction::Read, &file, 512, 0, 0);
        assert_eq!(read, Ok(512));
        assert_eq!(mock.memory()[..512], pattern(512));
        let gpu = level_3(stats.shared().unwrap()).per_gpu_stats[DEVICE as usize];
        assert_eq!((gpu.n_reads_err, gpu.n_nvfs_reads, gpu.n_posix_reads), (1, 0, 1));

        let (read, _) = run(&mock, &NO_FALLBACK, Direction::Read, &file, 512, 0, 0);
        assert_eq!(read, Err(Failure::Os(errno)), "no second try without the fallback");
        mock.fail("hipMemcpy", 719);
        let (read, _) = run(&mock, &DEFAULT, Direction::Read, &file, 512, 0, 0);
        assert_eq!(read, Err(Failure::Hip(hipError_t(719))), "the second error counts");
    }
}

#[test]
fn ranges_and_refusals() {
    let (_caller, direct) = direct_file();
    let (_other_caller, ordinary) = file(b"content");
    let mock = Mock::new(8192);
    let run = |config, file, size, buffer_offset| {
        let (result, stats) = run(&mock, config, Direction::Read, file, size, 0, buffer_offset);
        assert_eq!(level_3(stats.shared().unwrap()).num_gpus, 0, "nothing is counted");
        result
    };
    assert_eq!(run(&DEFAULT, &direct, 8704, 0), Err(Failure::INVALID_VALUE));
    assert_eq!(run(&DEFAULT, &direct, 512, 8192), Err(Failure::INVALID_VALUE));
    assert_eq!(run(&DEFAULT, &ordinary, 8193, 0), Err(Failure::INVALID_VALUE));
    assert_eq!(run(&DEFAULT, &ordinary, 0, 8192), Err(Failure::INVALID_VALUE));
    assert_eq!(run(&NO_FALLBACK, &ordinary, 8193, 0), Err(Failure::INTERNAL));
    assert_eq!(run(&NO_FALLBACK, &direct, 8704, 0), Err(Failure::INVALID_VALUE));
    assert_eq!(run(&NO_FALLBACK, &direct, 8193, 0), Err(Failure::INTERNAL));
    assert_eq!(run(&NO_FALLBACK, &direct, 8704, -1), Err(Failure::Os(libc::EINVAL)));
}

#[test]
fn host_memory_needs_no_hip() {
    let (caller, file) = file(&pattern(100));
    let mut host = vec![0xee_u8; 120];
    let mock = Mock::new(1);
    let base = host.as_mut_ptr() as usize;
    let buffer = Buffer { base, len: 100, device: 0, host: true };
    // Neither path is allowed, and neither is taken.
    let config = Config { fast_path: false, fallback: false, ..DEFAULT };
    let (stats, _file) = Stats::new(Version::V0_5, 1);
    let run = |direction, size, file_offset, buffer_offset| {
        let request = Request { direction, file: &file, buffer: &buffer, size, file_offset, buffer_offset };
        request.run(&mock.hip, &config, &stats)
    };
    assert_eq!(run(Direction::Read, 50, 60, 7), Ok(40), "up to the end of the file");
    assert_eq!(run(Direction::Write, 10, 100, 7), Ok(10));
    assert_eq!(run(Direction::Read, 101, 0, 0), Err(Failure::INVALID_VALUE));
    assert_eq!(run(Direction::Read, 1, -1, 0), Err(Failure::Os(libc::EINVAL)));
    assert_eq!(mock.calls(), [""; 0]);
    assert_eq!(host[7..47], pattern(100)[60..]);
    assert!(host[..7].iter().chain(&host[47..]).all(|byte| *byte == 0xee));
    let mut back = [0; 10];
    caller.read_exact_at(&mut back, 100).unwrap();
    assert_eq!(back, pattern(100)[60..70]);
    let basic = level_3(stats.shared().unwrap()).detailed.basic;
    assert_eq!((basic.read_ops.ok, basic.write_ops.ok, basic.read_bytes), (1, 1, 40));
}

#[test]
fn the_most_one_call_moves() {
    assert_eq!(max_size() & 4095, 0);
    assert!((0x7fff_0000..=0x7fff_f000).contains(&max_size()));
}
