//! Transfers of many calls.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use hipfile::alloc::{Device, DeviceBuffer, DeviceSlice};
use hipfile::transfer::{CancelToken, Options};
use hipfile::{Driver, ErrorKind, FileHandle, OpenOptions};
use hipfile_tests::{isolate, soft};

use crate::common::{Scratch, counted, filled, has_ais, open, pattern, software_devices, whole};

const MIB: usize = 1 << 20;
const CHUNK: usize = 64 << 10;

/// SND-12: odd offsets in file and memory, and lengths around those of a chunk, with one thread and with several.
#[test]
fn odd_transfers_move_exactly_their_bytes() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let (content, before) = (pattern(MIB, 1), pattern(MIB, 2));
    let source = open(&driver, &scratch.file("source", &content));
    let mut memory = driver.register(filled(MIB, 0x5a)).unwrap();
    let lens = [1, 4095, CHUNK - 1, CHUNK, CHUNK + 1, 300_000, 700_017];
    for (threads, at, offset, len) in
        lens.iter().flat_map(|len| [(1, 0, 5, *len), (3, 4093, 0, *len), (7, 5, 4101, *len)])
    {
        memory.slice_mut(..).unwrap().as_device_mut().fill(0x5a).unwrap();
        let options = || Options::new().threads(threads).chunk(CHUNK);
        let place = memory.slice_mut(at..at + len).unwrap();
        let report = options().read_file_into(&source, place, offset as u64).unwrap();
        assert_eq!((report.bytes, report.asked, report.contiguous()), (len as u64, len as u64, len as u64));
        assert_eq!(report.ranges, whole(len as u64));
        assert!((1..=threads).contains(&report.threads), "{report:?}");
        let there = memory.slice(..).unwrap().as_device().to_vec().unwrap();
        assert!(there[at..at + len] == content[offset..offset + len], "{threads} {at} {offset} {len}");
        assert!(there[..at].iter().chain(&there[at + len..]).all(|byte| *byte == 0x5a));

        let target = scratch.file("target", &before);
        let file = open(&driver, &target);
        let report =
            options().write_file_from(&file, memory.slice(at..at + len).unwrap(), offset as u64).unwrap();
        assert_eq!((report.bytes, report.ranges), (len as u64, whole(len as u64)));
        let after = fs::read(&target).unwrap();
        assert!(after[offset..offset + len] == content[offset..offset + len]);
        assert!(after[..offset] == before[..offset] && after[offset + len..] == before[offset + len..]);
    }
}

/// An odd offset keeps only the edges off the fast path, if memory and file are in step.
#[test]
fn the_middle_takes_the_fast_path() {
    if !has_ais() || hipfile::stats().is_err() {
        return println!("skipped: HIP has no file functions, or hipFile no statistics");
    }
    let environment = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    isolate::isolated("bulk::the_middle_takes_the_fast_path", &environment, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(2 * MIB, 3);
        let file = open(&driver, &scratch.file("data", &content));
        let Some(alignment) = file.alignment().unwrap() else {
            return println!("skipped: no direct I/O here");
        };
        let (from, to) = (4096 + 77, 2 * MIB - 1000);
        let mut memory = driver.register(filled(2 * MIB, 0)).unwrap();
        let mut aligned = 0;
        let stats = counted(|| {
            let place = memory.slice_mut(from..to).unwrap();
            let options = Options::new().chunk(1 << 19);
            aligned = options.read_file_into(&file, place, from as u64).unwrap().aligned;
        });
        assert_eq!(aligned, (2 * MIB - 3 * 4096) as u64);
        // Head and tail, and four chunks.
        assert_eq!((stats.reads.fallback, stats.reads.fast_path), (2, 4));
        let there = memory.slice(from..to).unwrap().as_device().to_vec().unwrap();
        assert!(there == content[from..to]);

        let target = open(&driver, &scratch.file("target", b""));
        let stats = counted(|| {
            Options::new().write_file_from(&target, memory.slice(from..to).unwrap(), from as u64).unwrap();
        });
        assert_eq!(stats.writes.fallback, 2);
        assert!(stats.writes.fast_path >= 1);
        assert!(fs::read(scratch.path("target")).unwrap()[from..] == content[from..to]);

        // Out of step: one odd address, and all of it goes through host memory.
        if alignment.memory > 1 {
            let place = memory.slice_mut(from + 1..to).unwrap();
            assert_eq!(Options::new().read_file_into(&file, place, from as u64).unwrap().aligned, 0);
        }
    });
}

#[test]
fn parts_of_many_files_are_one_transfer() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let contents = [pattern(400_001, 4), pattern(3, 5), pattern(CHUNK, 6)];
    let name = |number: usize| scratch.path(&format!("part {number}"));
    let files: Vec<_> = contents
        .iter()
        .enumerate()
        .map(|(number, content)| {
            fs::write(name(number), content).unwrap();
            open(&driver, &name(number))
        })
        .collect();
    let lens = contents.each_ref().map(Vec::len);
    let mut pool = driver.register(DeviceBuffer::new(lens.iter().sum::<usize>() + 1).unwrap()).unwrap();
    let mut rest = pool.slice_mut(1..).unwrap();
    let mut parts = Vec::new();
    for (file, len) in files.iter().zip(lens) {
        let (part, after) = rest.split_at_mut(len).unwrap();
        parts.push((file, part, 0));
        rest = after;
    }
    let total: usize = lens.iter().sum();
    let report = Options::new().chunk(CHUNK).read_files_into(parts).unwrap();
    assert_eq!(report.ranges, whole(total as u64));
    assert!(pool.slice(1..).unwrap().as_device().to_vec().unwrap() == contents.concat());

    // And back, each to the offset where the other way round it would be.
    let slice = |from: usize, len: usize| pool.slice(1 + from..1 + from + len).unwrap();
    let target = open(&driver, &scratch.file("target", b""));
    let parts = [
        (&target, slice(lens[0], lens[1] + lens[2]), 0),
        (&target, slice(0, lens[0]), (lens[1] + lens[2]) as u64),
        (&target, slice(0, 0), 0),
    ];
    assert_eq!(Options::new().chunk(CHUNK).write_files_from(parts).unwrap().bytes, total as u64);
    let expected = [&contents[1][..], &contents[2], &contents[0]].concat();
    assert!(fs::read(scratch.path("target")).unwrap() == expected);

    // The second part is too long for its file: the error is about it, the count about all.
    let mut memory = filled(lens[0] + 10, 0);
    let (first, second) = memory.slice_mut(..).unwrap().split_at_mut(lens[0]).unwrap();
    let parts = [(&files[0], first, 0), (&files[1], second, 1)];
    let stopped = Options::new().threads(1).read_files_into(parts).unwrap_err();
    let error = stopped.error();
    assert_eq!((error.kind(), error.path()), (ErrorKind::UnexpectedEof, Some(&*name(1))));
    assert_eq!((error.offset(), error.requested(), error.bytes_done()), (Some(1), Some(10), 2));
    assert_eq!(stopped.report().contiguous(), lens[0] as u64 + 2);
    assert_eq!(stopped.report().asked, lens[0] as u64 + 10);
}

/// A file that shrinks under the transfer, and one that grows: what is counted is there.
#[test]
fn files_that_change_meanwhile_end_in_exact_counts() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let content = pattern(MIB, 7);
    let path = scratch.file("data", &content);
    let file = open(&driver, &path);
    let std_file = File::options().write(true).open(&path).unwrap();
    let mut memory = filled(MIB, 0x5a);
    let shrink = |_| std_file.set_len(500_000).unwrap();
    let options = Options::new().threads(1).chunk(CHUNK).progress(shrink);
    let stopped = options.read_file_into(&file, memory.slice_mut(..).unwrap(), 0).unwrap_err();
    assert_eq!((stopped.error().kind(), stopped.error().bytes_done()), (ErrorKind::UnexpectedEof, 500_000));
    assert_eq!(stopped.report().ranges, whole(500_000));
    assert!(memory.slice(..500_000).unwrap().to_vec().unwrap() == content[..500_000]);

    let grow = |_| std_file.write_all_at(&content[500_000..], 500_000).unwrap();
    let options = Options::new().threads(1).chunk(CHUNK).progress(grow);
    assert_eq!(options.read_file_into(&file, memory.slice_mut(..).unwrap(), 0).unwrap().bytes, MIB as u64);
    assert!(memory.to_vec().unwrap() == content);
}

#[test]
fn what_cannot_be_whole_is_refused_before_any_of_it() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let path = scratch.file("data", &[1; 8192]);
    let file = open(&driver, &path);
    let appending = OpenOptions::new().write(true).custom_flags(libc::O_APPEND).open(&driver, &path).unwrap();
    let mut memory = filled(8192, 0x5a);
    let (first, second) = memory.slice_mut(..).unwrap().split_at_mut(4096).unwrap();
    let parts = [(&file, first, 0), (&file, second, u64::MAX - 5)];
    let stopped = Options::new().read_files_into(parts).unwrap_err();
    assert_eq!(
        (stopped.error().kind(), stopped.error().offset()),
        (ErrorKind::InvalidInput, Some(u64::MAX - 5))
    );
    assert_eq!((stopped.report().bytes, stopped.report().asked), (0, 8192));
    assert!(memory.to_vec().unwrap() == [0x5a; 8192]);

    let stopped = Options::new().write_file_from(&appending, memory.slice(..).unwrap(), 0).unwrap_err();
    assert_eq!(stopped.error().kind(), ErrorKind::InvalidInput);
    assert_eq!(
        stopped.to_string(),
        format!(
            "write {} at offset 0, 8192 bytes: the file is open with O_APPEND, where Linux writes at the end whatever the \
             offset; open it without",
            path.display()
        )
    );
    let stopped = Options::new().read_file_into(&appending, memory.slice_mut(..).unwrap(), 0).unwrap_err();
    assert_eq!((stopped.error().kind(), stopped.report().bytes), (ErrorKind::InvalidInput, 0));
    assert!(stopped.to_string().ends_with(": the file is not open for reading"), "{stopped}");
    assert_eq!(fs::read(&path).unwrap(), [1; 8192]);
    // Nothing at all is no failure.
    let report = Options::new().write_file_from(&file, memory.slice(..0).unwrap(), 7).unwrap();
    assert_eq!((report.bytes, report.ranges.len(), report.contiguous()), (0, 0, 0));
    let none: [(&FileHandle, DeviceSlice<'_>, u64); 0] = [];
    assert_eq!(Options::new().write_files_from(none).unwrap().asked, 0);
}

#[test]
fn cancelled_and_late_transfers_say_how_far_they_came() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let content = pattern(MIB, 8);
    let file = open(&driver, &scratch.file("data", &content));
    let mut memory = filled(MIB, 0x5a);
    let mut slice = memory.slice_mut(..).unwrap();

    let past = Instant::now().checked_sub(Duration::from_millis(1)).unwrap();
    let stopped = Options::new().deadline(past).read_file_into(&file, &mut slice, 0).unwrap_err();
    assert_eq!((stopped.error().kind(), stopped.report().bytes), (ErrorKind::TimedOut, 0));
    assert!(stopped.to_string().ends_with("at offset 0, 1048576 bytes: the deadline passed"), "{stopped}");
    assert_eq!(std::io::Error::from(stopped).kind(), std::io::ErrorKind::TimedOut);
    let future = Instant::now() + Duration::from_secs(3600);
    Options::new().deadline(future).read_file_into(&file, &mut slice, 0).unwrap();

    let token = CancelToken::new();
    token.cancel();
    let stopped = Options::new().cancel(&token).read_file_into(&file, &mut slice, 0).unwrap_err();
    assert_eq!((stopped.error().kind(), stopped.report().bytes), (ErrorKind::Cancelled, 0));

    // From the inside, while other threads work: what is counted is there, and nothing else.
    slice.fill(0x5a).unwrap();
    let token = CancelToken::new();
    let progress = |_| token.cancel();
    let options = Options::new().threads(3).chunk(CHUNK).cancel(&token).progress(progress);
    let stopped = match options.read_file_into(&file, &mut slice, 0) {
        Err(stopped) => stopped,
        Ok(report) => return assert_eq!(report.bytes, MIB as u64, "the others were quicker"),
    };
    let report = stopped.report();
    assert_eq!(stopped.error().bytes_done() as u64, report.contiguous());
    assert!(
        stopped.to_string().ends_with(&format!(", {} done: cancelled", report.contiguous())),
        "{stopped}"
    );
    let there = memory.to_vec().unwrap();
    let mut expected = vec![0x5a; MIB];
    for range in &report.ranges {
        let range = range.start as usize..range.end as usize;
        expected[range.clone()].copy_from_slice(&content[range]);
    }
    assert!(there == expected);
    assert_eq!(report.bytes, report.ranges.iter().map(|range| range.end - range.start).sum::<u64>());

    // Nothing is left to be cancelled once all has been claimed.
    let token = CancelToken::new();
    let options = Options::new().threads(1).cancel(&token).progress(|_| token.cancel());
    assert_eq!(options.read_file_into(&file, memory.slice_mut(..).unwrap(), 0).unwrap().bytes, MIB as u64);
}

#[test]
fn progress_only_grows_and_ends_at_the_end() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &pattern(MIB + 5, 9)));
    let mut memory = filled(MIB + 5, 0);
    let (mut last, mut calls) = (0, 0);
    let caller = std::thread::current().id();
    Options::new()
        .chunk(CHUNK)
        .progress(|progress| {
            assert_eq!((progress.total, std::thread::current().id()), (MIB as u64 + 5, caller));
            assert!(progress.bytes > last && progress.bytes <= progress.total);
            (last, calls) = (progress.bytes, calls + 1);
        })
        .read_file_into(&file, memory.slice_mut(..).unwrap(), 0)
        .unwrap();
    assert!(last == MIB as u64 + 5 && (1..=18).contains(&calls));

    // A panic goes on once the other threads have ended, and they begin nothing new.
    let moved = std::sync::atomic::AtomicU64::new(0);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let stop = |progress: hipfile::transfer::Progress| {
            moved.store(progress.bytes, std::sync::atomic::Ordering::Relaxed);
            panic!("stop");
        };
        Options::new().threads(1).chunk(CHUNK).progress(stop).read_file_into(
            &file,
            memory.slice_mut(..).unwrap(),
            0,
        )
    }));
    assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "stop");
    assert_eq!(moved.into_inner(), CHUNK as u64);
}

/// SND-10
#[test]
fn every_thread_works_on_the_device_of_the_memory() {
    if !software_devices() {
        return;
    }
    let environment = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    isolate::isolated("bulk::every_thread_works_on_the_device_of_the_memory", &environment, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(MIB, 10);
        let file = open(&driver, &scratch.file("data", &content));
        let mut memory = {
            let _second = Device::new(1).unwrap().make_current().unwrap();
            DeviceBuffer::new(MIB).unwrap()
        };
        Options::new().chunk(CHUNK).read_file_into(&file, memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!(Device::current().unwrap().ordinal(), 0);
        assert!(memory.to_vec().unwrap() == content);
    });
}

/// One call in the middle fails, whichever thread makes it.
#[test]
fn a_failing_chunk_stops_the_transfer_with_exact_counts() {
    let plan = [("SOFT_ROCM_FAULTS", "hipFileRead:errno=EIO@5"), ("HIPFILE_FORCE_COMPAT_MODE", "true")];
    soft::only("bulk::a_failing_chunk_stops_the_transfer_with_exact_counts", &plan, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(2 * MIB, 11);
        let path = scratch.file("data", &content);
        let file = open(&driver, &path);
        let mut memory = filled(2 * MIB, 0x5a);
        let len = 2 * MIB - 7;
        let options = Options::new().threads(3).chunk(CHUNK);
        let stopped = options.read_file_into(&file, memory.slice_mut(..len).unwrap(), 7).unwrap_err();
        let (error, report) = stopped.into_parts();
        assert_eq!((error.kind(), error.os_error()), (ErrorKind::Os, Some(libc::EIO)));
        assert_eq!((error.offset(), error.requested()), (Some(7), Some(len)));
        assert_eq!(error.bytes_done() as u64, report.contiguous());
        assert!(error.to_string().starts_with(&format!("read {} at offset 7, {len} bytes", path.display())));
        let mut expected = vec![0x5a; 2 * MIB];
        for range in &report.ranges {
            let range = range.start as usize..range.end as usize;
            expected[range.clone()].copy_from_slice(&content[7 + range.start..7 + range.end]);
        }
        assert!(memory.to_vec().unwrap() == expected);
        assert!(report.bytes < len as u64 && report.ranges.len() <= 4);

        // From where it stopped on, the rest.
        let done = error.bytes_done();
        let rest = memory.slice_mut(done..len).unwrap();
        Options::new().read_file_into(&file, rest, 7 + done as u64).unwrap();
        assert!(memory.slice(..len).unwrap().to_vec().unwrap() == content[7..]);
    });
}

/// The same for a write: what is counted is in the file, and its length is that of the last byte.
#[test]
fn a_failing_write_counts_what_is_in_the_file() {
    let plan = [("SOFT_ROCM_FAULTS", "hipFileWrite:errno=ENOSPC@9"), ("HIPFILE_FORCE_COMPAT_MODE", "true")];
    soft::only("bulk::a_failing_write_counts_what_is_in_the_file", &plan, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(2 * MIB, 12);
        let memory = DeviceBuffer::from_host(&content).unwrap();
        let path = scratch.file("target", b"");
        let file = open(&driver, &path);
        let options = Options::new().threads(3).chunk(CHUNK);
        let stopped = options.write_file_from(&file, memory.slice(..).unwrap(), 5).unwrap_err();
        let (error, report) = stopped.into_parts();
        assert_eq!((error.os_error(), error.bytes_done() as u64), (Some(libc::ENOSPC), report.contiguous()));
        let mut expected = vec![0; 5];
        for range in &report.ranges {
            let range = range.start as usize..range.end as usize;
            expected.resize(5 + range.start, 0);
            expected.extend_from_slice(&content[range]);
        }
        assert!(report.bytes > 0 && fs::read(&path).unwrap() == expected);
    });
}
