//! Operations on the mock, whose one stream moves when the test says so.

mod checks;
mod fast;
mod late;
mod memory;
mod side_by_side;

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File as StdFile;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::ptr;

use hipfile_sys::{hipError_t, hipStream_t, hoff_t};

use super::*;
use crate::behaviour::{Behaviour, Version};
use crate::config::Config;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::file::{File, Kind};
use crate::hip::Hip;
use crate::hip::test::Mock;
use crate::mount::FileSystem;
use crate::stats::Direction::{self, Read, Write as ToFile};

thread_local! {
    static HIP: Cell<Option<&'static Hip>> = const { Cell::new(None) };
}

fn hip() -> Result<&'static Hip, Failure> {
    HIP.get().ok_or(Failure::INTERNAL)
}

static DEFAULT: Config =
    Config { fast_path: true, fallback: true, any_file_system: false, behaviour: Behaviour::DEFAULT };
static NO_FALLBACK: Config = Config { fallback: false, ..DEFAULT };

/// A handle of a stream; the mock has one for all.
const STREAM: hipStream_t = ptr::without_provenance_mut(0x5000);

/// Bytes of the mock's memory and of the file.
const LEN: usize = 4096;

/// A submission that passes every check, until something is changed.
struct Case {
    mock: &'static Mock,
    driver: Driver,
    config: fn() -> &'static Config,
    behaviour: &'static Behaviour,
    caller: StdFile,
    handle: *mut c_void,
    base: *mut c_void,
    stream: hipStream_t,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
    result: isize,
}

impl Case {
    /// On a HIP whose device memory the host reaches.
    fn new() -> Self {
        Self::on(Mock::with_alias(LEN), |_| ())
    }

    fn on(mock: Mock, change: impl FnOnce(&mut File)) -> Self {
        let mock: &'static Mock = Box::leak(Box::new(mock));
        HIP.set(Some(&mock.hip));
        let driver = Driver::new();
        let mut unnamed = tempfile::tempfile_in("/dev/shm").unwrap();
        unnamed.write_all(&pattern(LEN)).unwrap();
        // A file without a name keeps a flag that forbids to open it again.
        let path = format!("/proc/self/fd/{}", unnamed.as_raw_fd());
        let caller = StdFile::options().read(true).write(true).open(path).unwrap();
        let mut file = File::new(caller.as_raw_fd()).unwrap();
        change(&mut file);
        let handle = driver.register_file(file).unwrap();
        Self {
            mock,
            driver,
            config: || &DEFAULT,
            behaviour: &Behaviour::DEFAULT,
            caller,
            handle,
            base: mock.pointer().cast_mut(),
            stream: STREAM,
            size: 100,
            file_offset: 0,
            buffer_offset: 0,
            result: 77,
        }
    }

    /// With a file that the fast path takes.
    fn fast() -> Self {
        Self::on(Mock::with_alias(LEN), |file| {
            file.direct = Some(file.number);
            (file.kind, file.file_system) = (Kind::Regular, FileSystem::Xfs);
            (file.offset_alignment, file.memory_alignment) = (512, 1);
        })
        .sized(512)
    }

    fn sized(mut self, size: usize) -> Self {
        self.size = size;
        self
    }

    fn behaving(mut self, version: Version, amd_quirks: bool) -> Self {
        self.behaviour = Box::leak(Box::new(Behaviour { version, amd_quirks, ..Behaviour::DEFAULT }));
        self
    }

    fn register_buffer(&self) {
        self.driver.register_buffer(hip, self.base, LEN).unwrap();
    }

    fn register_stream(&self, flags: u32) -> Result<(), Failure> {
        self.driver.register_stream(hip, self.behaviour, self.stream, flags)
    }

    fn pointers(&mut self) -> Pointers {
        Pointers {
            size: &mut self.size,
            file_offset: &mut self.file_offset,
            buffer_offset: &mut self.buffer_offset,
            result: &mut self.result,
        }
    }

    fn submit(&mut self, direction: Direction) -> Result<(), Failure> {
        let pointers = self.pointers();
        self.submit_with(direction, pointers)
    }

    fn submit_with(&self, direction: Direction, pointers: Pointers) -> Result<(), Failure> {
        let library = Library { driver: &self.driver, hip, config: self.config, behaviour: self.behaviour };
        let submission =
            Submission { direction, file: self.handle, buffer: self.base, pointers, stream: self.stream };
        // SAFETY: requires places that last until the operation has ended; holds because each test runs its queue
        // to the end before the case goes.
        unsafe { submit(&library, &submission) }
    }

    /// Lets the stream do all it has, and returns the result of the last submission.
    fn finish(&mut self) -> isize {
        while self.mock.run_next() {}
        // SAFETY: requires a readable place; holds, it is a field.
        unsafe { (&raw const self.result).read_volatile() }
    }

    /// Submits, which must succeed, changes the values, and returns the result.
    fn ends(&mut self, direction: Direction, change: impl FnOnce(&mut Self)) -> isize {
        assert_eq!(self.submit(direction), Ok(()));
        assert_eq!((self.result, self.mock.queued()), (0, 1));
        change(self);
        self.finish()
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index / 251 + index) as u8).collect()
}

#[test]
fn a_read_and_a_write() {
    // HF-ASYNC-06, HF-ASYNC-08, HF-ASYNC-14
    let hips = [Mock::with_alias, Mock::with_file_transfer];
    for (direction, new) in [Read, ToFile].into_iter().flat_map(|direction| hips.map(|new| (direction, new)))
    {
        let mut case = Case::on(new(LEN), |_| ());
        (case.file_offset, case.buffer_offset) = (3, 5);
        assert_eq!(case.ends(direction, |_| ()), 100);
        let memory = case.mock.memory();
        match direction {
            Read => {
                assert_eq!(memory[5..105], pattern(LEN)[3..103]);
                assert!(memory[..5].iter().chain(&memory[105..]).all(|byte| *byte == 0xee));
            }
            ToFile => {
                let content = std::fs::read(format!("/proc/self/fd/{}", case.caller.as_raw_fd())).unwrap();
                assert_eq!(content[3..103], [0xee; 100]);
                assert_eq!((&content[..3], &content[103..]), (&pattern(LEN)[..3], &pattern(LEN)[103..]));
            }
        }
        let launches = case.mock.calls().into_iter().filter(|call| call.starts_with("hipLaunch"));
        assert_eq!(launches.collect::<Vec<_>>(), ["hipLaunchHostFunc 20480"]);
    }
    let mut case = Case::new();
    case.file_offset = LEN as i64 - 30;
    assert_eq!(case.ends(Read, |_| ()), 30, "up to the end of the file");
    case.file_offset = LEN as i64;
    assert_eq!(case.ends(Read, |_| ()), 0);
}

#[test]
fn nothing_is_queued_for_size_0_but_on_the_fast_path() {
    // HF-ASYNC-13
    let mut case = Case::new().sized(0);
    assert_eq!((case.submit(Read), case.result, case.mock.queued()), (Ok(()), 0, 0));
    let mut case = Case::fast().sized(0);
    assert_eq!(case.ends(Read, |_| ()), 0);
    let mut case = Case::fast().behaving(Version::V0_4, false).sized(0);
    assert_eq!((case.submit(ToFile), case.result, case.mock.queued()), (Ok(()), 0, 0));
}

#[test]
fn errors_of_the_system_are_one_value() {
    // HF-ASYNC-15
    let mut case = Case::new();
    case.file_offset = i64::MAX;
    assert_eq!(case.ends(Read, |_| ()), -1);
    assert_eq!(case.ends(ToFile, |_| ()), -1);
}

#[test]
fn what_moved_before_an_error_counts_unless_amds_quirks_are_asked_for() {
    for (quirks, result) in [(false, LEN as isize / 2), (true, -1)] {
        let mut case = Case::new().behaving(Version::V0_5, quirks);
        case.handle = case.driver.register_file(full_after(LEN as u64)).unwrap();
        (case.size, case.file_offset) = (LEN, LEN as i64 / 2);
        assert_eq!(case.ends(ToFile, |_| ()), result);
        assert_eq!(case.ends(ToFile, |case| case.file_offset = LEN as i64), -1);
    }
}

/// A file that can't grow beyond some bytes.
fn full_after(len: u64) -> File {
    // SAFETY: requires a C string; holds, it is a literal.
    let fd = unsafe { libc::memfd_create(c"full".as_ptr(), libc::MFD_ALLOW_SEALING) };
    assert!(fd >= 0);
    // SAFETY: requires an open descriptor that nobody else owns; holds, it was just made.
    let file: StdFile = unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) };
    file.set_len(len).unwrap();
    // SAFETY: requires nothing.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_GROW) }, 0);
    let registered = File::new(fd).unwrap();
    // The test's process keeps the descriptor that the registration borrows.
    std::mem::forget(file);
    registered
}
