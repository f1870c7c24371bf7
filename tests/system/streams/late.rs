//! LateValues that come when the stream does.

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hipfile::alloc::Stream;
use hipfile::{Done, ErrorKind, IoStream, LateValues, Region, Request, StreamFlags, TransferError};
use hipfile_tests::isolate::isolated;
use hipfile_tests::{library, soft};

use super::{FALLBACK, Make, PAGE, WAYS, World, bytes, combinations, only_fast};
use crate::common::pattern;

const LEN: usize = 16 * PAGE;
/// What is submitted: all of a region of so many bytes, from the second page of the file.
const REGION: usize = 4 * PAGE;
const EARLY: LateValues = LateValues { len: REGION, file_offset: PAGE as u64, region_offset: 0 };

fn submit(
    world: &World,
    make: Make,
    stream: &impl IoStream,
    region: Region,
    f: impl FnOnce(LateValues) -> LateValues + Send + 'static,
) -> Result<Done, TransferError> {
    make(&world.file, region, EARLY.file_offset).late(f).submit(stream).wait()
}

/// A read and a write with these late values move exactly what they say.
fn moves(flags: StreamFlags, late: LateValues) {
    let world = World::new(LEN);
    let stream = world.stream(flags);
    let in_memory = pattern(REGION, 43);
    let file_at = usize::try_from(late.file_offset).unwrap();
    let (file_range, memory_range) =
        (file_at..file_at + late.len, late.region_offset..late.region_offset + late.len);

    let answer = move |early| {
        assert_eq!(early, EARLY);
        late
    };
    let done = submit(&world, Request::read, &stream, world.region_of(&in_memory), answer).unwrap();
    assert_eq!(done.bytes, late.len, "{flags:?} {late:?}");
    let mut expected = in_memory.clone();
    expected[memory_range.clone()].copy_from_slice(&world.content[file_range.clone()]);
    assert!(bytes(&done.region) == expected, "{flags:?} {late:?}");

    let done = submit(&world, Request::write, &stream, world.region_of(&in_memory), answer).unwrap();
    assert_eq!(done.bytes, late.len, "{flags:?} {late:?}");
    let mut expected = world.content.clone();
    expected[file_range].copy_from_slice(&in_memory[memory_range]);
    assert!(world.file_content() == expected, "{flags:?} {late:?}");
}

/// A read and a write with this closure move nothing and end with this text.
fn moves_nothing(
    flags: StreamFlags,
    f: impl Fn(LateValues) -> LateValues + Clone + Send + 'static,
    text: &str,
) {
    let world = World::new(LEN);
    let stream = world.stream(flags);
    for (way, make) in WAYS {
        let failed = submit(&world, make, &stream, world.region(REGION, 0x5a), f.clone()).unwrap_err();
        assert_eq!(failed.error().kind(), ErrorKind::InvalidInput, "{}", failed.error());
        let place = format!("{way} {} at offset {PAGE}, {REGION} bytes", world.path.display());
        assert_eq!(failed.to_string(), format!("{place}: {text}"));
        assert!(bytes(failed.region().unwrap()) == [0x5a; REGION], "{text}: the memory is as it was");
        assert!(world.file_content() == world.content, "{text}: the file is as it was");
    }
    // What follows on the stream is not disturbed.
    let done = world.file.read_owned(&stream, world.region(PAGE, 0), 0).wait().unwrap();
    assert!(bytes(&done.region) == world.content[..PAGE]);
}

/// Each value by itself, and all of them, in whole pages.
fn in_pages(flags: StreamFlags) {
    let late = [
        (StreamFlags::empty(), EARLY),
        (StreamFlags::FIXED_SIZE, LateValues { len: PAGE, ..EARLY }),
        (StreamFlags::FIXED_FILE_OFFSET, LateValues { file_offset: 9 * PAGE as u64, ..EARLY }),
        (
            StreamFlags::FIXED_SIZE | StreamFlags::FIXED_BUFFER_OFFSET,
            LateValues { len: PAGE, region_offset: 3 * PAGE, ..EARLY },
        ),
        (
            StreamFlags::FIXED_VALUES,
            LateValues { len: 2 * PAGE, file_offset: 14 * PAGE as u64, region_offset: PAGE },
        ),
    ];
    for (needed, late) in late {
        if !flags.intersects(needed) {
            moves(flags, late);
        }
    }
}

fn refusals() {
    let none = StreamFlags::empty();
    let longer = "late values of 16385 bytes, where 16384 were submitted and no more are allowed";
    moves_nothing(none, |early| LateValues { len: early.len + 1, ..early }, longer);
    let outside = "late values of 4096 bytes at offset 12289 of a region of 16384";
    moves_nothing(none, |early| LateValues { len: PAGE, region_offset: 3 * PAGE + 1, ..early }, outside);
    let far =
        "a file ends at 9223372036854775807 (i64::MAX) at the latest, so offset plus length is too large";
    moves_nothing(none, |early| LateValues { file_offset: u64::MAX, ..early }, far);
    let panicked = "the closure for late values panicked";
    moves_nothing(none, |_| panic!("on purpose"), panicked);
    moves_nothing(none, |_| panic_any(Arc::new(5)), panicked);
    for (flag, late, value) in [
        (StreamFlags::FIXED_SIZE, LateValues { len: PAGE, ..EARLY }, "length"),
        (StreamFlags::FIXED_FILE_OFFSET, LateValues { file_offset: 0, ..EARLY }, "file offset"),
        (
            StreamFlags::FIXED_BUFFER_OFFSET | StreamFlags::FIXED_FILE_OFFSET,
            LateValues { len: PAGE, region_offset: PAGE, ..EARLY },
            "region offset",
        ),
    ] {
        let text = format!("a late {value}, which the stream is registered to fix at submission");
        moves_nothing(flag, move |_| late, &text);
    }
}

/// HF-ASYNC-10, HF-ASYNC-12
#[test]
fn on_the_fallback() {
    isolated("streams::late::on_the_fallback", &FALLBACK, || {
        combinations().filter(|flags| !flags.contains(StreamFlags::FIXED_VALUES)).for_each(in_pages);
        for len in [0, 1, REGION - 1] {
            moves(
                StreamFlags::empty(),
                LateValues { len, file_offset: 3, region_offset: 1.min(REGION - len) },
            );
        }
        refusals();
    });
}

/// HF-ASYNC-40
#[test]
fn on_the_fast_path() {
    only_fast("streams::late::on_the_fast_path", || {
        combinations().filter(|flags| !flags.contains(StreamFlags::FIXED_VALUES)).for_each(in_pages);
        refusals();
        let world = World::new(LEN);
        let stream = world.stream(StreamFlags::empty());
        let held = soft::pause(stream.stream().as_raw());
        let read = Request::read(&world.file, world.region(REGION, 0x5a), 0)
            .late(|early| LateValues { len: 1, ..early })
            .submit(&stream);
        drop(held);
        let read = read.wait();
        if library::has_0_5() {
            let failed = read.unwrap_err();
            assert_eq!(failed.error().kind(), ErrorKind::Internal);
            assert!(bytes(failed.region().unwrap()) == [0x5a; REGION]);
        } else {
            let done = read.unwrap();
            assert_eq!(done.bytes, 1);
            let mut expected = [0x5a; REGION];
            expected[0] = world.content[0];
            assert!(bytes(&done.region) == expected);
        }
    });
}

#[test]
fn with_0_2_and_0_4() {
    for version in ["0.2", "0.4"] {
        let environment = [("SOFT_ROCM_HIPFILE_VERSION", version)];
        soft::only("streams::late::with_0_2_and_0_4", &environment, || {
            in_pages(StreamFlags::empty());
            in_pages(StreamFlags::FIXED_FILE_OFFSET);
            refusals();
        });
    }
}

/// The closure is called in its turn, not before.
#[test]
fn the_closure_waits_for_the_stream() {
    soft::only("streams::late::the_closure_waits_for_the_stream", &[], || {
        let world = World::new(LEN);
        let stream = world.stream(StreamFlags::empty());
        let called = Arc::new(AtomicBool::new(false));
        let note = Arc::clone(&called);
        let region = world.region(REGION, 0);
        let held = soft::pause(stream.stream().as_raw());
        let read = Request::read(&world.file, region, 0)
            .late(move |early| {
                note.store(true, Ordering::Relaxed);
                LateValues { len: PAGE, file_offset: 5 * PAGE as u64, ..early }
            })
            .submit(&stream);
        assert!(!called.load(Ordering::Relaxed));
        drop(held);
        let done = read.wait().unwrap();
        assert!(called.load(Ordering::Relaxed));
        assert!(bytes(&done.region)[..PAGE] == world.content[5 * PAGE..6 * PAGE]);
    });
}

/// On an idle stream the values may come while the library is still submitting. The region is at the end of its memory, so that
/// the submitted length at the late offset would be refused, and a mixture of both shows.
#[test]
fn values_that_come_during_the_submission_count() {
    let world = World::new(LEN);
    let stream = world.stream(StreamFlags::empty());
    let mut region = world.region(REGION, 0);
    for round in 0..300 {
        let page = round % 4;
        let late = LateValues { len: PAGE, file_offset: (page * PAGE) as u64, region_offset: page * PAGE };
        let done = submit(&world, Request::read, &stream, region, move |_| late).unwrap();
        assert_eq!(done.bytes, PAGE, "round {round}");
        region = done.region;
    }
    assert!(bytes(&region) == world.content[..REGION]);
}

/// Of streams that are not registered nobody knows what is read late.
#[test]
fn streams_without_a_registration_are_refused() {
    let world = World::new(LEN);
    let plain = Stream::new().unwrap();
    let refused = |stream: &Stream| {
        let failed = submit(&world, Request::read, stream, world.region(REGION, 7), |_| panic!("not called"));
        let failed = failed.unwrap_err();
        assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
        assert!(failed.to_string().ends_with(": late values need a registered stream"), "{failed}");
        assert!(bytes(failed.region().unwrap()) == [7; REGION]);
    };
    refused(&plain);
    refused(world.stream(StreamFlags::empty()).stream());

    let fixed = world.stream(StreamFlags::all());
    let failed = submit(&world, Request::write, &fixed, world.region(REGION, 7), |_| panic!("not called"));
    let text = "late values, all of which the stream is registered to fix at submission";
    assert!(failed.unwrap_err().to_string().ends_with(text));
}

/// Without the host function nothing is submitted at all.
#[test]
fn a_failed_host_function_moves_nothing() {
    soft::only("streams::late::a_failed_host_function_moves_nothing", &FALLBACK, || {
        let world = World::new(LEN);
        let stream = world.stream(StreamFlags::empty());
        soft::plan_hip("hipLaunchHostFunc:hip=2@1");
        let region = world.region(REGION, 7);
        let failed = submit(&world, Request::read, &stream, region, |_| panic!("not called")).unwrap_err();
        assert_eq!(failed.error().kind(), ErrorKind::OutOfMemory);
        assert!(failed.to_string().contains("hipLaunchHostFunc failed: "), "{failed}");
        assert!(bytes(failed.region().unwrap()) == [7; REGION]);
    });
}

/// A submission that fails is told, whatever the closure says later.
#[test]
fn a_failed_submission_with_late_values_gives_the_region_back() {
    soft::only("streams::late::a_failed_submission_with_late_values_gives_the_region_back", &[], || {
        let world = World::new(LEN);
        let stream = world.stream(StreamFlags::empty());
        let region = world.region(REGION, 7);
        soft::plan_hipfile("hipFileReadAsync:hipfile=5030");
        let late = |early: LateValues| LateValues { len: 1, ..early };
        let failed = submit(&world, Request::read, &stream, region, late).unwrap_err();
        assert_eq!(failed.error().kind(), ErrorKind::Internal);
        assert!(bytes(failed.region().unwrap()) == [7; REGION]);
    });
}
