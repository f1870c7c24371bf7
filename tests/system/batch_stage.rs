//! What the tests of batches share.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hipfile::alloc::DeviceBuffer;
use hipfile::{Batch, Completion, Driver, FileHandle, Region, Request};
use hipfile_tests::soft;

use crate::common::{Scratch, filled, open, pattern};

pub const PAGE: usize = 4096;

/// What regions of a stage are filled with before anything is read into them.
pub const UNTOUCHED: u8 = 0xee;

/// Every transfer goes through libhipfile's own reads and writes, which a plan can hold.
pub const FALLBACK: [(&str, &str); 1] = [("HIPFILE_FORCE_COMPAT_MODE", "true")];

/// A driver and a file.
pub struct Stage {
    pub driver: Driver,
    pub file: Arc<FileHandle>,
    pub path: PathBuf,
    pub content: Vec<u8>,
    pub scratch: Scratch,
}

impl Stage {
    /// With so many bytes in the file.
    pub fn new(len: usize) -> Self {
        let scratch = Scratch::new();
        let content = pattern(len, 41);
        let path = scratch.file("data", &content);
        let driver = Driver::open().unwrap();
        let file = Arc::new(open(&driver, &path));
        Self { driver, file, path, content, scratch }
    }

    pub fn batch(&self, capacity: usize) -> Batch {
        Batch::new(&self.driver, capacity).unwrap()
    }

    /// So many pages of registered memory.
    pub fn pages(&self, count: usize) -> Vec<Region> {
        let pool = self.driver.register(filled(count * PAGE, UNTOUCHED)).unwrap();
        pool.into_regions(PAGE).unwrap().collect()
    }

    /// Memory of these bytes.
    pub fn region(&self, bytes: &[u8]) -> Region {
        self.driver.register(DeviceBuffer::from_host(bytes).unwrap()).unwrap().into_region()
    }

    /// A read of each page of the file, in order and tagged by its number, into these.
    pub fn reads(&self, pages: Vec<Region>) -> Vec<Request> {
        let page = |(n, region): (u64, Region)| Request::read(&self.file, region, n * PAGE as u64).tag(n);
        (0..).zip(pages).map(page).collect()
    }

    /// Whether the region has what the file has in page `n`.
    pub fn has_page(&self, n: u64, region: &Region) -> bool {
        bytes(region) == self.content[n as usize * PAGE..][..PAGE]
    }

    /// Another file, on which a plan can act by this name.
    pub fn file_named(&self, name: &str, content: &[u8]) -> Arc<FileHandle> {
        Arc::new(open(&self.driver, &self.scratch.file(name, content)))
    }
}

pub fn bytes(region: &Region) -> Vec<u8> {
    region.slice(..).unwrap().as_device().to_vec().unwrap()
}

/// Takes all that is ready.
pub fn take_ready(batch: &mut Batch) -> BTreeMap<u64, Completion> {
    let mut taken = BTreeMap::new();
    while let Some(completion) = batch.try_next().unwrap() {
        let tag = completion.tag;
        assert!(taken.insert(tag, completion).is_none(), "{tag} came twice");
    }
    taken
}

/// Waits for all that is outstanding and takes it.
pub fn take_all(batch: &mut Batch) -> BTreeMap<u64, Completion> {
    let outstanding = batch.outstanding();
    assert_eq!(batch.wait(outstanding, None).unwrap(), outstanding);
    let taken = take_ready(batch);
    assert_eq!((taken.len(), batch.outstanding(), batch.room()), (outstanding, 0, batch.capacity()));
    taken
}

/// Waits until the plan of libhipfile holds so many calls.
pub fn until_held(count: usize) {
    let started = Instant::now();
    while soft::held_by_hipfile() < count {
        assert!(started.elapsed() < Duration::from_secs(20), "no call came to be held");
        std::thread::yield_now();
    }
}

/// A plan of libhipfile's; calls that it holds go on when this is dropped. A batch waits for them when it is dropped, so a plan
/// is declared after it, or else a test that fails would hang.
pub struct Plan(());

/// Follows this plan from now on.
pub fn follow(plan: &str) -> Plan {
    soft::plan_hipfile(plan);
    Plan(())
}

impl Drop for Plan {
    fn drop(&mut self) {
        soft::plan_hipfile("");
    }
}

pub fn contents(path: &std::path::Path) -> Vec<u8> {
    fs::read(path).unwrap()
}
