//! HF-PATH: which of the two paths a request takes. The shim is the witness: whom the library asks.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::case::{Case, Need, case};
use crate::file::{File, MAX_RW, PAGE, open, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved, OK};
use crate::witness::{FALLBACK_READ, FALLBACK_WRITE, FAST_READ, FAST_WRITE, Paths, paths_of};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 64 * 1024;
const REFUSED: Moved = Moved::Number(-5030);

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = served().into_iter().map(Case::shim).collect();
    cases.extend(refused());
    cases
}

/// Which path a read and a write of these places take, in bytes: size, file offset, buffer offset.
fn taken(file: &File, size: usize, file_offset: i64, buffer_offset: i64) -> (Paths, Paths) {
    let handle = file.registered();
    let memory = Memory::new(2 * SIZE).registered();
    let done = |moved: Moved| assert_eq!(moved, Moved::Number(size as isize));
    let read = paths_of(|| done(raw::read(handle, memory.at, size, file_offset, buffer_offset)));
    let write = paths_of(|| done(raw::write(handle, memory.at, size, file_offset, buffer_offset)));
    assert_eq!(raw::buffer_deregister(memory.at), OK);
    raw::deregister(handle);
    (read, write)
}

fn file() -> File {
    File::of(&pattern(2 * SIZE, 1))
}

const FAST: (Paths, Paths) = (FAST_READ, FAST_WRITE);
const FALLBACK: (Paths, Paths) = (FALLBACK_READ, FALLBACK_WRITE);

/// The alignment that statx reports for direct I/O on a file: memory, offset.
fn alignment(file: &File) -> (usize, usize) {
    // SAFETY: requires a type for which zero bytes are valid; holds because it has integers alone.
    let mut answer: libc::statx = unsafe { std::mem::zeroed() };
    let (flags, mask) = (libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN);
    // SAFETY: requires a terminated path and room for the answer; holds because both are ours.
    let result = unsafe { libc::statx(file.number(), c"".as_ptr(), flags, mask, &mut answer) };
    assert_eq!(result, 0);
    if answer.stx_mask & libc::STATX_DIOALIGN == 0 {
        return (PAGE, PAGE);
    }
    (answer.stx_dio_mem_align as usize, answer.stx_dio_offset_align as usize)
}

fn served() -> Vec<Case> {
    vec![
        case("HF-PATH-01 HF-PATH-05 an eligible request takes the fast path, on ext4 and xfs", || {
            assert_eq!(taken(&file(), PAGE, 0, 0), FAST);
            assert_eq!(taken(&file(), SIZE, SIZE as i64, PAGE as i64), FAST);
        })
        .needs(Need::Ais)
        .needs(Need::PermittedFileSystem),
        case("HF-PATH-02 HIPFILE_FORCE_COMPAT_MODE=true: never the fast path", || {
            assert_eq!(taken(&file(), PAGE, 0, 0), FALLBACK);
        })
        .fast()
        .fallback(),
        case("HF-PATH-03 HIP without the file functions: everything through the fallback", || {
            shim::always("hipGetProcAddress", Action::Error(1));
            assert_eq!(taken(&file(), PAGE, 0, 0), FALLBACK);
            assert_eq!(taken(&file(), 100, 1, 1), FALLBACK);
        })
        .env("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")
        .shim(),
        case("HF-PATH-04 a file that has no O_DIRECT: never the fast path", || {
            let maps = open(Path::new("/proc/self/maps"), libc::O_RDONLY);
            let handle = raw::registered(maps.as_raw_fd());
            let memory = Memory::new(PAGE);
            let paths = paths_of(|| {
                assert!(matches!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(1..)));
            });
            assert_eq!(paths, FALLBACK_READ);
        })
        .fast(),
        case("HF-PATH-06 a regular file on tmpfs is not permitted", || {
            let file = File::opened_in(Path::new("/dev/shm"), &pattern(2 * SIZE, 1), libc::O_RDWR);
            assert_eq!(taken(&file, PAGE, 0, 0), FALLBACK);
        })
        .needs(Need::Ais),
        case("HF-PATH-07 HIPFILE_UNSUPPORTED_FILE_SYSTEMS=true permits any file system", || {
            let file = File::opened_in(Path::new("/dev/shm"), &pattern(2 * SIZE, 1), libc::O_RDWR);
            if has_direct_io(&file) {
                assert_eq!(taken(&file, PAGE, 0, 0), FAST);
            }
            assert_eq!(taken(&self::file(), PAGE, 0, 0), FAST);
        })
        .fast(),
        case("HF-PATH-10 HF-PATH-11 HF-PATH-12 what is not aligned takes the fallback", || {
            let (memory, offset) = alignment(&file());
            assert!(memory > 0 && offset > 0, "this file system has no direct I/O");
            assert_eq!(taken(&file(), offset, offset as i64, memory as i64), FAST);
            assert_eq!(taken(&file(), PAGE, 1, 0), FALLBACK);
            assert_eq!(taken(&file(), PAGE, offset as i64 / 2, 0), FALLBACK);
            assert_eq!(taken(&file(), PAGE + 1, 0, 0), FALLBACK);
            assert_eq!(taken(&file(), offset / 2, 0, 0), FALLBACK);
            assert_eq!(taken(&file(), PAGE, 0, 1), FALLBACK);
            assert_eq!(taken(&file(), PAGE, 0, memory as i64 / 2), FALLBACK);
        })
        .fast(),
        case("HF-PATH-11 the size is judged before it is cut to MAX_RW", || {
            let file = file();
            let handle = file.registered();
            let memory = Memory::new(3 << 30).registered();
            shim::always("hipAmdFileRead", Action::Pretend(-1));
            shim::always("pread", Action::Pretend(-1));
            let aligned = paths_of(|| {
                let moved = raw::read(handle, memory.at, MAX_RW + PAGE, 0, 0);
                assert_eq!(moved, Moved::Number(MAX_RW as isize));
            });
            assert_eq!(aligned, FAST_READ);
            // Cut to MAX_RW it would be aligned.
            let odd = paths_of(|| {
                let moved = raw::read(handle, memory.at, MAX_RW + 1, 0, 0);
                assert_eq!(moved, Moved::Number(MAX_RW as isize));
            });
            assert_eq!(odd, FALLBACK_READ);
        })
        .fast()
        .env("SOFT_ROCM_DEVICE_MEM", (8_u64 << 30).to_string())
        .shim(),
        case("HF-PATH-21 whether HIP has the file functions is asked once", || {
            assert_eq!(taken(&file(), PAGE, 0, 0), FAST);
            shim::always("hipGetProcAddress", Action::Error(1));
            assert_eq!(taken(&file(), PAGE, 0, 0), FAST);
        })
        .fast(),
        case("HF-PATH-21 and the answer that there are none stays, too", || {
            shim::always("hipGetProcAddress", Action::Error(1));
            assert_eq!(taken(&file(), PAGE, 0, 0), FALLBACK);
            shim::release("hipGetProcAddress");
            assert_eq!(taken(&file(), PAGE, 0, 0), FALLBACK);
        })
        .fast(),
        case("HF-PATH-16 with the fallback disabled an eligible request takes the fast path", || {
            assert_eq!(taken(&file(), PAGE, 0, 0), FAST);
        })
        .fast()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case("HF-PATH-19 HF-FAST-14 size 0 is aligned", || {
            assert_eq!(taken(&file(), 0, 0, 0), FAST);
            assert_eq!(taken(&file(), 0, PAGE as i64, PAGE as i64), FAST);
            let (read, write) = taken(&file(), 0, 1, 0);
            assert_eq!((read.fast_reads, write.fast_writes), (0, 0), "offset 1 is not");
            let file = file();
            assert_eq!(taken(&file, 0, 1 << 30, 0), FAST);
            assert_eq!(file.size(), 2 * SIZE as u64);
        })
        .fast(),
        case("HF-PATH-20 where statx reports no alignment, 4096 and 4096 are assumed", || {
            shim::always("statx", Action::Hide);
            assert_eq!(taken(&file(), PAGE, PAGE as i64, PAGE as i64), FAST);
            assert!(shim::calls("statx") > 0, "the library asks statx");
            for (size, file_offset, buffer_offset) in [(512, 0, 0), (PAGE, 512, 0), (PAGE, 0, 512)] {
                assert_eq!(taken(&file(), size, file_offset, buffer_offset), FALLBACK);
            }
        })
        .fast()
        .shim(),
    ]
}

/// Whether the kernel has O_DIRECT for the file system of a file.
fn has_direct_io(file: &File) -> bool {
    let direct = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(file.path());
    direct.is_ok() && alignment(file).1 != 0
}

fn refused() -> Vec<Case> {
    vec![
        case("HF-PATH-13 HF-PATH-14 with the fallback disabled an ineligible request is -5030", || {
            let file = file();
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            // Misaligned; misaligned and out of range at once.
            for (size, file_offset, buffer_offset) in
                [(100, 0, 0), (PAGE, 1, 0), (PAGE, 0, 1), (SIZE + 1, 0, 0), (1, 0, SIZE as i64)]
            {
                assert_eq!(raw::read(handle, memory.at, size, file_offset, buffer_offset), REFUSED, "{size}");
                assert_eq!(
                    raw::write(handle, memory.at, size, file_offset, buffer_offset),
                    REFUSED,
                    "{size}"
                );
            }
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case("HF-PATH-15 with the fallback disabled an aligned request out of range is -5022", || {
            let file = file();
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            for (size, buffer_offset) in [(SIZE + PAGE, 0), (SIZE, PAGE as i64), (0, SIZE as i64)] {
                let moved = raw::read(handle, memory.at, size, 0, buffer_offset);
                assert_eq!(moved, Moved::Number(-5022), "{size}@{buffer_offset}");
            }
        })
        .fast()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case("HF-PATH-13 HF-PATH-03 no file functions and no fallback: -5030", || {
            shim::always("hipGetProcAddress", Action::Error(1));
            let file = file();
            let memory = Memory::new(SIZE);
            assert_eq!(raw::read(file.registered(), memory.at, PAGE, 0, 0), REFUSED);
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .env("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")
        .shim(),
        case("HF-PATH-18 FORCE true and ALLOW false: a line of warning, and the fallback serves", || {
            let said = crate::output::captured(|| {
                assert_eq!(taken(&file(), PAGE, 0, 0), FALLBACK);
            });
            assert_eq!(said.lines().count(), 1, "{said}");
        })
        .fallback()
        .shim()
        .since(0, 5)
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
    ]
}
