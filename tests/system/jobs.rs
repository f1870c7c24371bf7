//! Transfers of many calls that own what they use, and those from file to file.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use hipfile::alloc::{self, DeviceBuffer, InFlight};
use hipfile::transfer::{CancelToken, Job, Options};
use hipfile::{Driver, ErrorKind, FileHandle, Region, Request};
use hipfile_tests::{isolate, soft};

use crate::common::{Scratch, counted, filled, has_ais, open, pattern, whole};

const MIB: usize = 1 << 20;
const CHUNK: usize = 64 << 10;

/// A file of a mebibyte, and a region of that length.
struct Scene {
    driver: Driver,
    file: Arc<FileHandle>,
    content: Vec<u8>,
    scratch: Scratch,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let scratch = Scratch::new();
        let content = pattern(MIB, seed);
        let driver = Driver::open().unwrap();
        let file = Arc::new(open(&driver, &scratch.file("data", &content)));
        Self { driver, file, content, scratch }
    }

    fn region(&self, len: usize) -> Region {
        self.driver.register(filled(len, 0x5a)).unwrap().into_region()
    }
}

fn bytes(region: &Region) -> Vec<u8> {
    region.slice(..).unwrap().as_device().to_vec().unwrap()
}

#[test]
fn jobs_read_and_write_what_they_own() {
    let scene = Scene::new(21);
    let target = Arc::new(open(&scene.driver, &scene.scratch.file("target", b"")));
    let mut first = scene.region(MIB);
    let second = first.split_off(300_001).unwrap();
    first.slice_mut(..).unwrap().as_device_mut().copy_from_host(0, &scene.content[..300_001]).unwrap();
    let places = InFlight::new(1);
    let requests = vec![
        Request::write(&target, first, 7).place(places.acquire()),
        Request::read(&scene.file, second, 300_001),
        Request::read(&scene.file, scene.region(0x1000).split_to(0).unwrap(), 5),
    ];
    let seen = Arc::new(AtomicU64::new(0));
    let last = Arc::clone(&seen);
    let watch = move |progress: hipfile::transfer::Progress| {
        assert!(last.swap(progress.bytes, Ordering::Relaxed) < progress.bytes);
    };
    let job = Options::new().chunk(CHUNK).progress(watch).spawn(requests);
    assert_eq!(job.progress().total, MIB as u64);
    let ended = job.wait();
    let report = ended.result.unwrap();
    assert_eq!((report.ranges, seen.load(Ordering::Relaxed)), (whole(MIB as u64), MIB as u64));
    assert_eq!(places.in_use(), 0);
    let lens: Vec<usize> = ended.regions.iter().map(Region::len).collect();
    assert_eq!(lens, [300_001, MIB - 300_001, 0]);
    assert!(bytes(&ended.regions[1]) == scene.content[300_001..]);
    assert!(fs::read(scene.scratch.path("target")).unwrap()[7..] == scene.content[..300_001]);
    // The driver, its files and all memory go back.
    drop((ended.regions, target));
    let Scene { driver, file, .. } = scene;
    drop(file);
    driver.close().unwrap();
}

#[test]
fn jobs_that_stop_give_everything_back() {
    let scene = Scene::new(22);
    let token = CancelToken::new();
    token.cancel();
    let request = Request::read(&scene.file, scene.region(MIB), 0);
    let ended = Options::new().cancel(&token).spawn([request]).wait();
    let stopped = ended.result.unwrap_err();
    assert_eq!((stopped.error().kind(), stopped.report().bytes), (ErrorKind::Cancelled, 0));
    let [region] = <[Region; 1]>::try_from(ended.regions).unwrap();

    // A panic in the function for progress cancels; one thread, so that the count is known.
    let request = Request::read(&scene.file, region, 0);
    let options = Options::new().threads(1).chunk(CHUNK).progress(|_| panic_any(Bomb));
    let ended = options.spawn([request]).wait();
    let stopped = ended.result.unwrap_err();
    assert_eq!((stopped.error().kind(), stopped.report().bytes), (ErrorKind::Cancelled, CHUNK as u64));
    assert!(bytes(&ended.regions[0])[..CHUNK] == scene.content[..CHUNK]);

    let late = Request::read(&scene.file, scene.region(100), 0).late(|values| values);
    let ended = Options::new().spawn([late]).wait();
    let stopped = ended.result.unwrap_err();
    assert_eq!(stopped.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(stopped.to_string(), "start transfer: late values need a registered stream");
    assert_eq!((stopped.report().asked, ended.regions.len()), (100, 1));

    let request = Request::read(&scene.file, scene.region(100), u64::MAX);
    let ended = Options::new().spawn([request]).wait();
    assert_eq!(ended.result.unwrap_err().error().kind(), ErrorKind::InvalidInput);
    assert_eq!(ended.regions.len(), 1);
}

/// What panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("of the test, again");
    }
}

/// A waker that counts, and panics with a bomb.
struct Hostile(AtomicU64);

impl Wake for Hostile {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic_any(Bomb);
    }
}

#[test]
fn jobs_are_futures() {
    let plan = [("SOFT_ROCM_FAULTS", "hipFileRead:pause")];
    soft::only("jobs::jobs_are_futures", &plan, || {
        let scene = Scene::new(24);
        let start = || {
            let request = Request::read(&scene.file, scene.region(MIB), 0);
            Options::new().threads(1).spawn([request])
        };
        let poll = |job: &mut Job, waker: &Waker| Pin::new(job).poll(&mut Context::from_waker(waker));
        let (mut job, mut dropped) = (start(), start());
        let wakers: [Arc<Hostile>; 3] = std::array::from_fn(|_| Arc::new(Hostile(AtomicU64::new(0))));
        let [first, last, of_dropped] = wakers.each_ref().map(|waker| Waker::from(Arc::clone(waker)));
        assert!(poll(&mut job, &first).is_pending() && poll(&mut job, &last).is_pending());
        assert!(poll(&mut job, &last).is_pending() && poll(&mut dropped, &of_dropped).is_pending());
        drop((dropped, first, of_dropped));
        assert_eq!([Arc::strong_count(&wakers[0]), Arc::strong_count(&wakers[2])], [1, 1], "let go of");
        soft::plan_hipfile("");
        while wakers[1].0.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        assert!(job.is_finished());
        let Poll::Ready(ended) = poll(&mut job, &last) else { panic!("it has ended") };
        assert!(bytes(&ended.regions[0]) == scene.content);
        assert_eq!((ended.result.unwrap().bytes, job.progress().bytes), (MIB as u64, MIB as u64));
        assert!(poll(&mut job, &last).is_pending() && !job.is_finished());
        let job = job.try_wait().unwrap_err();
        assert!(catch_unwind(AssertUnwindSafe(|| job.wait())).is_err());
        assert_eq!(wakers.map(|waker| waker.0.load(Ordering::SeqCst)), [0, 1, 0]);

        // Nothing to wait for: ready at once.
        let mut job = Options::new().spawn([]);
        while poll(&mut job, Waker::noop()).is_pending() {}
    });
}

#[test]
fn pieces_in_step_leave_only_their_ends_to_host_memory() {
    let scene = Scene::new(28);
    if scene.file.alignment().unwrap().is_none() {
        return println!("skipped: no direct I/O here");
    }
    let parts: [(usize, usize); 2] = [(1003, 300_001), (500_001, 400_000)];
    let mut pool = scene.region(parts.iter().map(|(_, len)| len + Region::STEP).sum());
    let requests = parts.map(|(offset, len)| {
        Request::read(&scene.file, pool.split_in_step(offset as u64, len).unwrap(), offset as u64)
    });
    let ended = Options::new().spawn(requests).wait();
    let pages = |(offset, len): (usize, usize)| (offset + len) / 4096 - offset.div_ceil(4096);
    assert_eq!(ended.result.unwrap().aligned, parts.map(pages).iter().sum::<usize>() as u64 * 4096);
    for ((offset, len), region) in parts.into_iter().zip(&ended.regions) {
        assert!(bytes(region) == scene.content[offset..offset + len]);
    }
}

/// SND-03, SND-16: a job that is dropped goes on with memory that stays; in a forked child it has ended.
#[test]
fn jobs_outlive_their_handles_and_end_in_forked_children() {
    let plan = [("SOFT_ROCM_FAULTS", "hipFileRead:pause")];
    soft::only("jobs::jobs_outlive_their_handles_and_end_in_forked_children", &plan, || {
        let scene = Scene::new(23);
        let start = || {
            let request = Request::read(&scene.file, scene.region(MIB), 0);
            Options::new().threads(1).spawn([request])
        };
        let (kept, dropped) = (start(), start());
        while soft::held_by_hipfile() < 2 {
            std::thread::yield_now();
        }
        drop(dropped);
        assert!(!kept.is_finished() && kept.progress().bytes == 0);
        let kept = kept.try_wait().unwrap_err();
        if let Some(child) = isolate::fork() {
            assert!(child.passed());
        } else {
            let finished = kept.is_finished();
            let ended = kept.wait();
            let kind = ended.result.unwrap_err().error().kind();
            isolate::leave(finished && ended.regions.is_empty() && kind == ErrorKind::Forked);
        }
        soft::plan_hipfile("");
        let ended = kept.wait();
        assert_eq!(ended.result.unwrap().bytes, MIB as u64);
        assert!(bytes(&ended.regions[0]) == scene.content);
        // The other's memory goes when it has ended: the driver is then ours alone.
        drop(ended.regions);
        let Scene { mut driver, file, .. } = scene;
        drop(file);
        while let Err(refused) = driver.close() {
            assert_eq!(refused.error().kind(), ErrorKind::Busy);
            driver = refused.into_inner();
            std::thread::yield_now();
        }
        assert_eq!(alloc::leaked(), Default::default());
    });
}

#[test]
fn copies_from_file_to_file() {
    let scene = Scene::new(24);
    let old = pattern(2 * MIB, 25);
    for (from, to, len) in [(0, 0, MIB), (4097, 1, 700_000), (5, 4096 + 5, MIB - 9), (77, 0, 1), (3, 9, 0)] {
        let path = scene.scratch.file("target", &old);
        let target = open(&scene.driver, &path);
        let options = Options::new().threads(3).chunk(CHUNK);
        let report = options.copy_file((&scene.file, from as u64), (&target, to as u64), len as u64).unwrap();
        assert_eq!((report.bytes, report.contiguous()), (len as u64, len as u64));
        let new = fs::read(&path).unwrap();
        assert!(new[to..to + len] == scene.content[from..from + len], "{from} {to} {len}");
        assert!(new[..to] == old[..to] && new[to + len..] == old[to + len..], "{from} {to} {len}");
    }

    // The source ends early: what it had is in the target.
    let path = scene.scratch.file("short", b"");
    let target = open(&scene.driver, &path);
    let stopped = Options::new().copy_file((&scene.file, 10), (&target, 0), (2 * MIB) as u64).unwrap_err();
    assert_eq!(
        (stopped.error().kind(), stopped.error().path()),
        (ErrorKind::UnexpectedEof, scene.file.path())
    );
    assert_eq!(stopped.report().contiguous(), (MIB - 10) as u64);
    assert!(fs::read(&path).unwrap() == scene.content[10..]);

    // The target takes no more: the error names it.
    let read_only = hipfile::OpenOptions::new().read(true).open(&scene.driver, &path).unwrap();
    let stopped = Options::new().copy_file((&scene.file, 0), (&read_only, 3), 100).unwrap_err();
    assert_eq!((stopped.error().path(), stopped.error().offset()), (Some(&*path), Some(3)));
    assert_eq!(stopped.report().bytes, 0);
}

/// Files in step take the fast path on both sides, but for the edges.
#[test]
fn copies_in_step_take_the_fast_path() {
    if !has_ais() || hipfile::stats().is_err() {
        return println!("skipped: HIP has no file functions, or hipFile no statistics");
    }
    let environment = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    isolate::isolated("jobs::copies_in_step_take_the_fast_path", &environment, || {
        let scene = Scene::new(26);
        let target = open(&scene.driver, &scene.scratch.file("target", b""));
        if scene.file.alignment().unwrap().is_none() {
            return println!("skipped: no direct I/O here");
        }
        let stats = counted(|| {
            let report = Options::new()
                .chunk(1 << 19)
                .copy_file((&scene.file, 100), (&target, 8192 + 100), (MIB - 200) as u64)
                .unwrap();
            assert_eq!(report.aligned, (MIB - 8192) as u64);
        });
        assert_eq!((stats.reads.fallback, stats.reads.fast_path), (2, 2));
        assert_eq!((stats.writes.fallback, stats.writes.fast_path), (2, 2));
        let copied = fs::read(scene.scratch.path("target")).unwrap();
        assert!(copied[8292..] == scene.content[100..MIB - 100]);
    });
}

/// No thread can be had: the caller does all of it, and a job ends with the reason.
#[test]
fn without_threads_transfers_still_run() {
    isolate::alone("jobs::without_threads_transfers_still_run", || {
        // SAFETY: requires nothing.
        if unsafe { libc::geteuid() } == 0 {
            // No limit on processes holds for root.
            // SAFETY: requires nothing: the process was made for this test.
            unsafe { libc::setuid(65534) };
        }
        let scene = Scene::new(27);
        let mut memory = DeviceBuffer::new(MIB).unwrap();
        let limit = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: requires a limit to set; holds for the local one.
        if unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) } != 0 {
            return println!("skipped: no limit on threads can be set");
        }
        let options = || Options::new().chunk(CHUNK);
        let report = options().read_file_into(&scene.file, memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!((report.bytes, report.threads), (MIB as u64, 1));
        assert!(memory.to_vec().unwrap() == scene.content);
        let ended = options().spawn([Request::read(&scene.file, scene.region(MIB), 0)]).wait();
        let stopped = ended.result.unwrap_err();
        assert_eq!((stopped.error().kind(), stopped.error().os_error()), (ErrorKind::Os, Some(libc::EAGAIN)));
        assert_eq!((stopped.report().asked, ended.regions.len()), (MIB as u64, 1));
    });
}
