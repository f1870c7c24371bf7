//! Files that are cut or grow while something is under way: counted is what was there, and written is what was counted.

use std::fs;
use std::path::Path;

use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::transfer::Options;
use hipfile::{Driver, ErrorKind};
use hipfile_tests::{library, soft};

use crate::batch_stage::{FALLBACK, PAGE, Stage, UNTOUCHED, bytes, follow, take_all, until_held};
use crate::common::{Scratch, open, pattern, whole};

const LEN: usize = 1 << 20;
const CHUNK: usize = 64 << 10;

/// The length that a file of two pages has when a read of three comes to it, and how much is read.
const CHANGES: [(usize, usize); 4] =
    [(0, 0), (PAGE + 7, PAGE + 7), (2 * PAGE + 9, 2 * PAGE + 9), (4 * PAGE, 3 * PAGE)];

fn set_len(path: &Path, len: usize) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(len as u64).unwrap();
}

/// The file changes after a transfer was submitted and before the stream comes to it.
fn before_a_stream_comes_to_them() {
    for (changed, expected) in CHANGES {
        let stage = Stage::new(2 * PAGE);
        let stream = Stream::new().unwrap();
        let region = stage.region(&[UNTOUCHED; 3 * PAGE]);
        let held = soft::pause(stream.as_raw());
        let read = stage.file.read_owned(&stream, region, 0);
        set_len(&stage.path, changed);
        drop(held);
        let done = read.wait().unwrap();
        assert_eq!(done.bytes, expected, "{changed}");
        let mut content = stage.content.clone();
        content.resize(4 * PAGE, 0);
        assert!(bytes(&done.region)[..expected] == content[..expected], "{changed}");
    }

    let stage = Stage::new(2 * PAGE);
    let stream = Stream::new().unwrap();
    let held = soft::pause(stream.as_raw());
    let write = stage.file.write_owned(&stream, stage.region(&[9; PAGE]), PAGE as u64);
    set_len(&stage.path, 100);
    drop(held);
    assert_eq!(write.wait().unwrap().bytes, PAGE);
    let mut content = stage.content[..100].to_vec();
    content.resize(PAGE, 0);
    content.resize(2 * PAGE, 9);
    assert!(fs::read(&stage.path).unwrap() == content);
}

#[test]
fn owned_transfers_as_they_come() {
    soft::only("changing::owned_transfers_as_they_come", &[], before_a_stream_comes_to_them);
}

#[test]
fn owned_transfers_on_the_fallback() {
    soft::only("changing::owned_transfers_on_the_fallback", &FALLBACK, before_a_stream_comes_to_them);
}

#[test]
fn batches() {
    if !library::has_0_5() {
        return;
    }
    soft::only("changing::batches", &FALLBACK, || {
        let stage = Stage::new(3 * PAGE);
        let mut batch = stage.batch(3);
        let plan = follow("pread:pause");
        batch.submit(stage.reads(stage.pages(3))).unwrap();
        until_held(1);
        set_len(&stage.path, PAGE + 7);
        drop(plan);
        let ended = take_all(&mut batch);
        let counts: Vec<_> = ended.values().map(|completion| *completion.result.as_ref().unwrap()).collect();
        assert_eq!(counts, [PAGE, 7, 0]);
        assert!(stage.has_page(0, &ended[&0].region));
        let second = bytes(&ended[&1].region);
        assert!(
            second[..7] == stage.content[PAGE..][..7] && second[7..].iter().all(|&byte| byte == UNTOUCHED)
        );
        assert!(bytes(&ended[&2].region) == [UNTOUCHED; PAGE]);
    });
}

#[test]
fn copies_from_file_to_file() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let content = pattern(LEN, 8);
    let from = scratch.file("from", &content);
    let source = open(&driver, &from);
    for shrunk in [500_000, CHUNK] {
        fs::write(&from, &content).unwrap();
        let to = scratch.file("to", b"");
        let target = open(&driver, &to);
        let shrink = |_| set_len(&from, shrunk);
        let options = Options::new().threads(1).chunk(CHUNK).progress(shrink);
        let stopped = options.copy_file((&source, 0), (&target, 0), LEN as u64).unwrap_err();
        assert_eq!(
            (stopped.error().kind(), stopped.error().path()),
            (ErrorKind::UnexpectedEof, Some(&*from))
        );
        assert_eq!(stopped.report().ranges, whole(shrunk as u64));
        assert!(fs::read(&to).unwrap() == content[..shrunk]);

        // What the source has been given by then is copied.
        let grow = |_| fs::write(&from, &content).unwrap();
        let options = Options::new().threads(1).chunk(CHUNK / 2).progress(grow);
        let report = options.copy_file((&source, 0), (&target, 0), LEN as u64).unwrap();
        assert_eq!((report.bytes, report.contiguous()), (LEN as u64, LEN as u64));
        assert!(fs::read(&to).unwrap() == content);
    }
}

/// What is written after the cut is there, with zeros before it.
#[test]
fn large_writes() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let content = pattern(LEN, 9);
    let path = scratch.file("data", b"");
    let file = open(&driver, &path);
    let memory = DeviceBuffer::from_host(&content).unwrap();
    let mut cut = 0;
    let once = |progress: hipfile::transfer::Progress| {
        if cut == 0 {
            cut = progress.bytes as usize;
            set_len(&path, 0);
        }
    };
    let options = Options::new().threads(1).chunk(CHUNK).progress(once);
    let report = options.write_file_from(&file, memory.slice(..).unwrap(), 0).unwrap();
    assert_eq!((report.bytes, report.contiguous()), (LEN as u64, LEN as u64));
    let mut expected = content.clone();
    expected[..cut].fill(0);
    assert!(cut > 0 && fs::read(&path).unwrap() == expected, "cut after {cut}");
}
