//! Batches on the mock, with threads of their own.

mod checks;
mod releases;
mod running;
mod waiting;

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File as StdFile;
use std::io::Write;
use std::os::fd::AsRawFd;

use hipfile_sys::{
    hipFileBatch, hipFileBatchMode_t, hipFileBatchRead, hipFileBatchWrite, hipFileIOBatchParams_t,
    hipFileIOParams_t, hipFileIOParamsUnion_t, hipFileOpcode_t,
};

use super::pool::Pool;
use super::{Event, Operation, Outcome, Patience, Submission};
use crate::behaviour::Version;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::hip::test::Mock;
use crate::sync::Arc;

thread_local! {
    static HIP: Cell<Option<&'static Hip>> = const { Cell::new(None) };
}

fn hip() -> Result<&'static Hip, Failure> {
    HIP.get().ok_or(Failure::INTERNAL)
}

/// Bytes of the mock's memory and of the file.
const LEN: usize = 4096;

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index / 251 + index) as u8).collect()
}

/// A driver with one file, and device memory that is not registered.
struct Case {
    mock: &'static Mock,
    driver: Driver,
    pool: Arc<Pool<Operation>>,
    version: Version,
    caller: StdFile,
    handle: *mut c_void,
    base: *mut c_void,
}

impl Case {
    fn new(version: Version) -> Self {
        Self::on(version, Mock::new(LEN))
    }

    fn on(version: Version, mock: Mock) -> Self {
        let mock: &'static Mock = Box::leak(Box::new(mock));
        HIP.set(Some(&mock.hip));
        let mut unnamed = tempfile::tempfile_in("/dev/shm").unwrap();
        unnamed.write_all(&pattern(LEN)).unwrap();
        // A file without a name keeps a flag that forbids to open it again.
        let path = format!("/proc/self/fd/{}", unnamed.as_raw_fd());
        let caller = StdFile::options().read(true).write(true).open(path).unwrap();
        let driver = Driver::new();
        let handle = driver.register_file(File::new(caller.as_raw_fd()).unwrap()).unwrap();
        let pool = Arc::new(Pool::new(2, super::worker::start));
        Self { mock, driver, pool, version, caller, handle, base: mock.pointer().cast_mut() }
    }

    /// An entry that is accepted.
    fn read(&self, cookie: usize, size: usize, file_offset: i64, buffer_offset: i64) -> hipFileIOParams_t {
        let batch = hipFileIOBatchParams_t {
            devPtr_base: self.base,
            file_offset,
            devPtr_offset: buffer_offset,
            size,
        };
        hipFileIOParams_t {
            mode: hipFileBatch,
            u: hipFileIOParamsUnion_t { batch },
            fh: self.handle,
            opcode: hipFileBatchRead,
            cookie: std::ptr::without_provenance_mut(cookie),
        }
    }

    fn write(&self, cookie: usize, size: usize, file_offset: i64, buffer_offset: i64) -> hipFileIOParams_t {
        hipFileIOParams_t { opcode: hipFileBatchWrite, ..self.read(cookie, size, file_offset, buffer_offset) }
    }

    fn submission(&self) -> Submission<'_> {
        Submission { driver: &self.driver, hip, pool: &self.pool, version: self.version }
    }

    fn submit_null(&self, batch: *mut c_void) -> Result<(), Failure> {
        // SAFETY: requires nothing: null is refused.
        unsafe { self.submission().submit(batch, 1, std::ptr::null()) }
    }

    fn submit(&self, batch: *mut c_void, entries: &[hipFileIOParams_t]) -> Result<(), Failure> {
        // SAFETY: requires that many entries; holds, it is a slice.
        unsafe { self.submission().submit(batch, entries.len() as u32, entries.as_ptr()) }
    }

    /// The events of a batch, sorted, once `need` are there.
    fn events(&self, batch: *mut c_void, need: usize) -> Vec<Event> {
        let mut events = Vec::new();
        let batch = self.driver.batch(batch).unwrap();
        batch.wait(&self.pool, need, Patience::Forever, usize::MAX, |event| events.push(event));
        events.sort_by_key(|event| event.cookie);
        events
    }

    /// Whether no operation holds the file: it can be taken out, and is put back.
    fn file_is_free(&mut self) -> bool {
        self.driver.deregister_file(self.handle);
        match self.driver.register_file(File::new(self.caller.as_raw_fd()).unwrap()) {
            Ok(handle) => {
                self.handle = handle;
                true
            }
            Err(_) => false,
        }
    }
}

fn complete(cookie: usize, moved: usize) -> Event {
    Event { cookie, outcome: Outcome::Complete(moved) }
}
