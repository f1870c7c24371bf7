//! A transfer of two gibibytes that comes to its end, one that fails at 1.3 and one that is cancelled at 700 mebibytes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use hipfile::alloc::DeviceBuffer;
use hipfile::transfer::{CancelToken, Options, Progress, Report};
use hipfile::{Driver, ErrorKind, Predicted, Reason};
use hipfile_tests::soft;

use crate::common::{Scratch, open, pattern, whole};

const MIB: u64 = 1 << 20;
const OFFSET: u64 = 12_345;
const LEN: usize = (2 << 30) - 54_321;
const CHUNK: u64 = 16 * MIB;
const THREADS: u64 = 4;
const UNTOUCHED: u8 = 0x5a;

/// SND-14. The fallback, since direct reads of holes are as slow as the disk.
#[test]
fn two_gibibytes_end_fail_and_are_cancelled_with_exact_counts() {
    let environment = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    let test = "bulk_large::two_gibibytes_end_fail_and_are_cancelled_with_exact_counts";
    soft::only(test, &environment, || {
        let scratch = Scratch::new();
        let path = scratch.file("sparse", b"");
        let content = File::options().read(true).write(true).open(&path).unwrap();
        content.set_len(2 << 30).unwrap();
        // Something to tell places by, in every chunk.
        for (seed, at) in (1..).zip((0..2 << 30).step_by(3 << 20)) {
            content.write_all_at(&pattern(5000, seed), at).unwrap();
        }
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let mut memory = match DeviceBuffer::with_alignment(LEN + 4096, 4096) {
            Ok(memory) => driver.register(memory).unwrap(),
            Err(error) => return println!("skipped: {error}"),
        };
        // In step with the file, so that the odd bytes at both ends are chunks of their own.
        let at = usize::try_from(OFFSET % 4096).unwrap();
        let options = || Options::new().threads(THREADS as usize).chunk(CHUNK as usize);
        let mut read = |options: Options<'_>| {
            let mut place = memory.slice_mut(at..at + LEN).unwrap();
            place.as_device_mut().fill(UNTOUCHED).unwrap();
            let outcome = options.read_file_into(&file, &mut place, OFFSET);
            let report = outcome.as_ref().unwrap_or_else(|stopped| stopped.report());
            println!("{} of {} bytes in {:?}, {:?} of CPU time", report.bytes, LEN, report.wall, report.cpu);
            verify(&content, &place.as_device(), report);
            outcome
        };

        let mut last = 0;
        let watch = |Progress { bytes, total, .. }: Progress| {
            assert!(last < bytes && bytes <= total && total == LEN as u64);
            last = bytes;
        };
        let report = read(options().progress(watch)).unwrap();
        assert_eq!((report.ranges, last), (whole(LEN as u64), LEN as u64));
        let predicted = report.predicted.unwrap();
        assert_eq!(predicted.path, Predicted::Fallback);
        assert!(predicted.reasons.contains(&Reason::SwitchedOff), "{predicted}");
        let edges = 4096 - OFFSET % 4096 + (OFFSET + LEN as u64) % 4096;
        assert_eq!(report.aligned, LEN as u64 - edges);

        // 1.3 GiB are in the chunk of this number, and the odd bytes before the first are one, too.
        let number = 1331 * MIB / CHUNK;
        soft::plan_hipfile(&format!("hipFileRead:errno=EIO@{}", number + 2));
        let (error, report) = read(options()).unwrap_err().into_parts();
        soft::plan_hipfile("");
        assert_eq!((error.kind(), error.os_error()), (ErrorKind::Os, Some(libc::EIO)));
        assert_eq!(error.bytes_done() as u64, report.contiguous());
        // Threads pass each other between claim and call.
        let chunks = report.contiguous() / CHUNK;
        assert!(chunks.abs_diff(number) <= THREADS, "{chunks} {number}");
        assert!(report.bytes <= report.contiguous() + THREADS * CHUNK);
        let text = format!(
            "read {} at offset {OFFSET}, {LEN} bytes, {} done: input/output error (5 EIO)",
            path.display(),
            report.contiguous()
        );
        assert_eq!(error.to_string(), text);

        let token = CancelToken::new();
        let watch = |Progress { bytes, .. }: Progress| {
            if bytes >= 700 * MIB {
                token.cancel();
            }
        };
        let (error, report) = read(options().cancel(&token).progress(watch)).unwrap_err().into_parts();
        assert_eq!((error.kind(), error.bytes_done() as u64), (ErrorKind::Cancelled, report.contiguous()));
        assert!(report.bytes >= 700 * MIB && report.bytes < LEN as u64, "{}", report.bytes);
    });
}

/// The bytes that the report counts are those of the file, and all others are as they were.
fn verify(content: &File, memory: &hipfile::alloc::DeviceSlice<'_>, report: &Report) {
    const STEP: usize = 32 << 20;
    let (mut there, mut expected) = (vec![0; STEP], vec![0; STEP]);
    let mut counted = 0;
    for from in (0..LEN).step_by(STEP) {
        let to = LEN.min(from + STEP);
        let (there, expected) = (&mut there[..to - from], &mut expected[..to - from]);
        memory.copy_to_host(from, there).unwrap();
        expected.fill(UNTOUCHED);
        for range in &report.ranges {
            let start = usize::try_from(range.start).unwrap().clamp(from, to);
            let end = usize::try_from(range.end).unwrap().clamp(from, to);
            let part = &mut expected[start - from..end - from];
            content.read_exact_at(part, OFFSET + start as u64).unwrap();
            counted += (end - start) as u64;
        }
        assert!(there == expected, "between {from} and {to}");
    }
    assert_eq!(counted, report.bytes);
}
