//! What a subscriber is told of each operation.

mod recorder;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hip_alloc::{DeviceBuffer, Stream};
use tempfile::NamedTempFile;
use tracing::Level;
use tracing::subscriber::with_default;

use self::recorder::{Recorder, Seen};
use crate::transfer::Options;
use crate::{
    Batch, Driver, ErrorKind, FileHandle, OpenOptions, RegisteredStream, Replacement, Request, StreamFlags,
};

/// Bytes of the file that the tests read.
const LEN: usize = 10_000;

struct Scene {
    driver: Driver,
    temporary: NamedTempFile,
    file: Arc<FileHandle>,
    memory: DeviceBuffer,
}

impl Scene {
    fn new() -> Self {
        let temporary = NamedTempFile::new().unwrap();
        fs::write(temporary.path(), [7; LEN]).unwrap();
        let driver = Driver::open().unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&driver, temporary.path()).unwrap();
        Self { driver, temporary, file: Arc::new(file), memory: DeviceBuffer::zeroed(2 * LEN).unwrap() }
    }

    fn path(&self) -> String {
        self.temporary.path().display().to_string()
    }
}

/// The spans that `code` makes, which must all have ended.
fn heard(code: impl FnOnce()) -> Vec<Seen> {
    heard_up_to(Level::DEBUG, code)
}

fn heard_up_to(level: Level, code: impl FnOnce()) -> Vec<Seen> {
    let recorder = Recorder::new(level);
    with_default(recorder.clone(), code);
    let seen = recorder.seen();
    for span in &seen {
        assert!(span.closed, "{span:?}");
        assert_eq!(span.target, "hipfile");
    }
    seen
}

/// The only span.
fn only(seen: Vec<Seen>) -> Seen {
    assert_eq!(seen.len(), 1, "{seen:?}");
    seen.into_iter().next().unwrap()
}

#[test]
fn a_read_has_a_span() {
    let Scene { file, mut memory, temporary, .. } = Scene::new();
    let span = only(heard(|| assert_eq!(file.read_at(memory.as_mut_slice(), 4096).unwrap(), LEN - 4096)));
    assert_eq!((span.name, span.entered), ("read", 1));
    let path = temporary.path().display().to_string();
    span.has(&[
        ("mode", "blocking"),
        ("path", &path),
        ("offset", "4096"),
        ("bytes", "20000"),
        ("done", "5904"),
    ]);
}

#[test]
fn a_write_of_a_descriptor_has_its_number() {
    let Scene { driver, temporary, memory, .. } = Scene::new();
    let file = FileHandle::new(&driver, temporary.reopen().unwrap()).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&std::os::fd::AsFd::as_fd(&file)).to_string();
    let span = only(heard(|| file.write_all_at(memory.slice(..5).unwrap(), 1).unwrap()));
    assert_eq!(span.name, "write");
    span.has(&[("mode", "blocking"), ("fd", &fd), ("offset", "1"), ("bytes", "5"), ("done", "5")]);
}

#[test]
fn a_failure_is_told_with_what_was_done() {
    let Scene { file, mut memory, .. } = Scene::new();
    let mut text = String::new();
    let span = only(heard(|| text = file.read_exact_at(memory.as_mut_slice(), 0).unwrap_err().to_string()));
    assert!(text.ends_with("at offset 0, 20000 bytes, 10000 done: the file ended early"), "{text}");
    assert_eq!([span.get("done"), span.get("kind"), span.get("error")], ["10000", "UnexpectedEof", &text]);
}

#[test]
fn each_way_of_asking_is_told_apart() {
    let Scene { file, mut memory, .. } = Scene::new();
    let stream = Stream::new().unwrap();
    let seen = heard(|| {
        file.read_at_after(&stream, memory.slice_mut(..1).unwrap(), 0).unwrap();
        file.write_at_after(&stream, memory.slice(..2).unwrap(), 0).unwrap();
        file.read_host_at(&mut [0; 3], 0).unwrap();
        file.write_host_at(&[0; 4], 0).unwrap();
        file.read_host_exact_at(&mut [0; 5], 0).unwrap();
        file.write_host_all_at(&[0; 6], 0).unwrap();
    });
    let told: Vec<_> = seen.iter().map(|span| (span.name, span.get("mode"), span.get("done"))).collect();
    let expected = [
        ("read", "after", "1"),
        ("write", "after", "2"),
        ("read", "host", "3"),
        ("write", "host", "4"),
        ("read", "host", "5"),
        ("write", "host", "6"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn opening_and_registering_have_spans() {
    let Scene { driver, temporary, mut memory, .. } = Scene::new();
    let path = temporary.path();
    let seen = heard(|| {
        drop(OpenOptions::new().read(true).open(&driver, path).unwrap());
        drop(driver.register(&mut memory).unwrap());
        let stream = Stream::new().unwrap();
        drop(RegisteredStream::new(&driver, stream, StreamFlags::empty()).unwrap());
        let new: Replacement = OpenOptions::new().replace(&driver, path).unwrap();
        drop(new.commit().unwrap());
        drop(Driver::open().unwrap().close());
    });
    let names: Vec<_> = seen.iter().map(|span| span.name).collect();
    let expected = [
        ["open", "register_file", "register_memory", "deregister_memory", "register_stream"],
        ["replace", "register_file", "commit", "open_driver", "close_driver"],
    ];
    assert_eq!(names, expected.concat());
    let text = path.display().to_string();
    seen[0].has(&[("path", &text)]);
    assert_eq!((seen[1].parent, seen[1].get("path")), (Some(0), &*text));
    seen[2].has(&[("bytes", "20000"), ("device", "0")]);
    seen[3].has(&[("bytes", "20000"), ("device", "0")]);
    seen[4].has(&[("device", "0")]);
    assert_eq!((seen[6].parent, seen[7].get("path")), (Some(5), &*text));
}

#[test]
fn what_does_not_open_says_why() {
    let driver = Driver::open().unwrap();
    let seen = heard(|| {
        OpenOptions::new().read(true).open(&driver, "/no/such/file").unwrap_err();
        driver.register(DeviceBuffer::new(0).unwrap()).unwrap_err();
        let _users = driver.clone();
        driver.close().unwrap_err();
    });
    let kinds: Vec<_> = seen.iter().map(|span| (span.name, span.get("kind"))).collect();
    assert_eq!(kinds, [("open", "Os"), ("register_memory", "InvalidInput"), ("close_driver", "Busy")]);
    assert_eq!(seen[0].get("error"), "open /no/such/file: no such file or directory (2 ENOENT)");
}

#[test]
fn an_owned_transfer_s_span_goes_on_until_it_is_taken() {
    let Scene { driver, file, memory, .. } = Scene::new();
    let mut region = driver.register(memory).unwrap().into_region();
    let (stream, recorder) = (Stream::new().unwrap(), Recorder::new(Level::DEBUG));
    let read = with_default(recorder.clone(), || file.read_owned(&stream, region, 96));
    let [span] = &recorder.seen()[..] else { panic!("{:?}", recorder.seen()) };
    assert!(!span.closed && span.get("done").is_empty(), "{span:?}");
    // On another thread, for the subscriber of the one that submitted.
    region = thread::spawn(|| read.wait().unwrap().region).join().unwrap();
    let span = only(recorder.seen());
    assert!(span.closed && span.name == "read");
    assert_eq!([span.get("mode"), span.get("offset"), span.get("done")], ["owned", "96", "9904"]);

    let mut failed_region = None;
    let failed = only(heard(|| {
        failed_region = file.read_owned(&stream, region, u64::MAX).wait().unwrap_err().into_parts().1;
    }));
    assert!(failed_region.is_some());
    assert_eq!([failed.get("done"), failed.get("kind")], ["", "InvalidInput"]);
}

#[test]
fn what_became_of_a_transfer_that_was_dropped_is_told() {
    let Scene { driver, file, memory, .. } = Scene::new();
    let mut regions = driver.register(memory).unwrap().into_regions(LEN).unwrap();
    let (stream, recorder) = (Stream::new().unwrap(), Recorder::new(Level::DEBUG));
    with_default(recorder.clone(), || {
        drop(file.read_owned(&stream, regions.next().unwrap(), 96));
        drop(file.read_owned(&stream, regions.next().unwrap(), u64::MAX));
    });
    let began = Instant::now();
    while !recorder.seen().iter().all(|span| span.closed) && began.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(1));
    }
    let told: Vec<_> =
        recorder.seen().iter().map(|span| [span.get("done"), span.get("kind")].map(str::to_owned)).collect();
    assert_eq!(told, [["9904", ""], ["", "InvalidInput"]]);
}

#[test]
fn transfers_of_a_scope_end_with_it() {
    let Scene { file, mut memory, .. } = Scene::new();
    let stream = Stream::new().unwrap();
    let seen = heard(|| {
        let (first, second) = memory.slice_mut(..).unwrap().split_at_mut(4).unwrap();
        let transfer = stream.scope(|scope| {
            file.read_at_in(scope, second, u64::MAX).unwrap_err();
            file.read_at_in(scope, first, 0).unwrap()
        });
        assert_eq!(transfer.result().transpose().unwrap(), Some(4));
        let empty = stream.scope(|scope| file.write_at_in(scope, memory.slice(..0).unwrap(), 0)).unwrap();
        assert_eq!(empty.result().transpose().unwrap(), Some(0));
    });
    let told: Vec<_> =
        seen.iter().map(|span| [span.name, span.get("mode"), span.get("done"), span.get("kind")]).collect();
    assert_eq!(
        told,
        [["read", "scope", "", "InvalidInput"], ["read", "scope", "4", ""], ["write", "scope", "0", ""]]
    );
}

#[test]
fn each_transfer_of_a_batch_has_a_span() {
    let Scene { driver, file, memory, .. } = Scene::new();
    let (mut refused, mut completion) = (Vec::new(), None);
    let mut pieces = driver.register(memory).unwrap().into_regions(LEN).unwrap();
    let mut batch = Batch::new(&driver, 1).unwrap();
    let seen = heard(|| {
        let mut request = || Request::read(&file, pieces.next().unwrap(), 0);
        refused = batch.submit(vec![request(), request()]).unwrap_err().into_inner();
        let request = refused.pop().unwrap();
        batch.submit(vec![request]).unwrap();
        batch.wait(1, None).unwrap();
        completion = batch.try_next().unwrap();
    });
    assert_eq!(completion.unwrap().result.unwrap(), LEN);
    let told: Vec<_> = seen.iter().map(|span| [span.name, span.get("kind"), span.get("done")]).collect();
    let expected = [
        ["submit_batch", "Busy", ""],
        ["submit_batch", "", ""],
        ["read", "", "10000"],
        ["wait_for_batch", "", ""],
    ];
    assert_eq!(told, expected);
    assert_eq!((seen[2].parent, seen[2].get("mode"), seen[2].get("path")), (Some(1), "batch", &*path(&file)));
    assert_eq!((seen[1].get("requests"), seen[3].get("min")), ("1", "1"));
}

fn path(file: &FileHandle) -> String {
    file.path().unwrap().display().to_string()
}

#[test]
fn chunks_of_a_transfer_are_within_it_on_every_thread() {
    let scene = Scene::new();
    scene.file.set_len(4 << 20).unwrap();
    let mut memory = DeviceBuffer::new(4 << 20).unwrap();
    let options = || Options::new().threads(4).chunk(64 << 10);
    let seen = heard_up_to(Level::TRACE, || {
        options().read_file_into(&scene.file, memory.slice_mut(..).unwrap(), 0).unwrap();
    });
    let (transfer, chunks) = seen.split_first().unwrap();
    assert_eq!((transfer.name, transfer.level), ("transfer", Level::DEBUG));
    transfer.has(&[("parts", "1"), ("bytes", "4194304"), ("done", "4194304")]);
    assert_eq!(chunks.len(), 64);
    for chunk in chunks {
        assert_eq!((chunk.name, chunk.level, chunk.parent), ("read_chunk", Level::TRACE, Some(0)));
        assert_eq!([chunk.get("done"), chunk.get("path")], ["65536", &*scene.path()]);
    }
    assert_eq!(heard(|| drop(options().read_file_into(&scene.file, memory.as_mut_slice(), 0))).len(), 1);
}

#[test]
fn a_job_s_span_is_where_it_was_started_and_tells_the_path() {
    let Scene { driver, file, .. } = Scene::new();
    file.set_len(17 << 20).unwrap();
    let region = driver.register(DeviceBuffer::new(18 << 20).unwrap()).unwrap().into_region();
    let mut ended = None;
    let seen = heard(|| {
        let outer = tracing::debug_span!(target: "hipfile", "outer");
        let job = outer.in_scope(|| Options::new().spawn(vec![Request::read(&file, region, 0)]));
        ended = Some(job.wait());
    });
    assert!(ended.unwrap().result.is_err());
    let [outer, transfer] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((outer.name, transfer.name, transfer.parent), ("outer", "transfer", Some(0)));
    assert_eq!([transfer.get("done"), transfer.get("kind")], ["17825792", "UnexpectedEof"]);
    assert!(transfer.get("predicted").starts_with("f"), "{transfer:?}");
}

#[test]
fn who_does_not_listen_is_not_told() {
    let Scene { file, mut memory, .. } = Scene::new();
    assert_eq!(heard_up_to(Level::INFO, || drop(file.read_at(memory.as_mut_slice(), 0))).len(), 0);
    let deaf = Recorder::deaf();
    with_default(deaf.clone(), || file.read_at(memory.as_mut_slice(), 0).unwrap());
    assert_eq!(deaf.seen().len(), 0);
}

/// SND-20.
#[test]
fn a_subscriber_s_panic_stays_with_it() {
    let Scene { driver, file, mut memory, .. } = Scene::new();
    for at in recorder::CALLS {
        let recorder = Recorder::panicking(at);
        with_default(recorder.clone(), || {
            let read = file.read_at(memory.as_mut_slice(), 0);
            assert_eq!(read.unwrap(), LEN);
            let failed = file.read_exact_at(memory.as_mut_slice(), 0).unwrap_err();
            assert_eq!(failed.kind(), ErrorKind::UnexpectedEof);
        });
        assert!(recorder.panics() > 0, "{at}");
    }
    let stream = Stream::new().unwrap();
    let region = driver.register(memory).unwrap().into_region();
    let recorder = Recorder::panicking("record");
    let done = with_default(recorder.clone(), || file.read_owned(&stream, region, 0).wait().unwrap());
    assert_eq!((done.bytes, recorder.panics()), (LEN, 1));
}

#[test]
fn a_forked_child_does_not_call_a_subscriber_whose_lock_may_be_held() {
    let Scene { file, mut memory, .. } = Scene::new();
    let recorder = Recorder::new(Level::DEBUG);
    let status = with_default(recorder.clone(), || recorder.while_locked(|| child(&file, &mut memory)));
    assert_eq!(status, 0);
}

/// The status of a child that tries to read.
#[allow(unsafe_code, reason = "forks")]
fn child(file: &FileHandle, memory: &mut DeviceBuffer) -> i32 {
    // SAFETY: requires a child that needs nothing other threads hold; holds because it reads, which must fail at once, and
    // ends, and the C library takes care of its own locks.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: requires nothing: the signal ends a child that hangs.
            unsafe { libc::alarm(20) };
            let refused =
                file.read_at(memory.as_mut_slice(), 0).is_err_and(|error| error.kind() == ErrorKind::Forked);
            // SAFETY: requires nothing: no destructor runs.
            unsafe { libc::_exit(i32::from(!refused)) }
        }
        pid => {
            let mut status = -1;
            // SAFETY: requires room for the status; holds for a local.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            status
        }
    }
}
