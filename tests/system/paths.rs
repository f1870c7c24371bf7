//! Which path transfers take, by what the library counts, and what the environment makes of it.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hipfile::{Driver, ErrorKind, Feature, OpError, Stats};
use hipfile_tests::isolate::isolated;

use crate::common::{Scratch, counted, filled, has_ais, open, pattern};

/// Whether there is something to tell the paths by; says so if not.
fn counts() -> bool {
    let counts = hipfile::supports(Feature::Stats).unwrap();
    if !counts {
        println!("skipped: the library has no statistics");
    }
    counts
}

/// Whether aligned transfers take the fast path once every file system is permitted.
fn fast_path_possible(path: &Path) -> bool {
    let direct = std::fs::File::options().read(true).custom_flags(libc::O_DIRECT).open(path).is_ok();
    has_ais() && direct
}

/// Reads and writes 8 KiB, aligned and not, registered and not: what was counted for the aligned and the other ones.
fn aligned_and_unaligned(scratch: &Scratch) -> (Stats, Stats) {
    let content = pattern(16_384, 9);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &content));
    let mut memory = filled(16_384, 0);
    let mut part = filled(8192, 0);
    let aligned = counted(|| {
        file.read_exact_at(memory.slice_mut(4096..12_288).unwrap(), 8192).unwrap();
        file.write_all_at(memory.slice(4096..12_288).unwrap(), 0).unwrap();
        let mut registered = driver.register(&mut part).unwrap();
        file.read_exact_at(registered.slice_mut(..).unwrap(), 8192).unwrap();
        file.write_all_at(registered.slice(..).unwrap(), 8192).unwrap();
    });
    assert!(memory.to_vec().unwrap()[4096..12_288] == content[8192..]);
    assert!(part.to_vec().unwrap() == content[8192..]);
    let unaligned = counted(|| {
        let mut registered = driver.register(&mut part).unwrap();
        file.read_exact_at(registered.slice_mut(..8191).unwrap(), 0).unwrap();
        file.read_exact_at(registered.slice_mut(..4096).unwrap(), 1).unwrap();
        file.read_exact_at(registered.slice_mut(1..4097).unwrap(), 4096).unwrap();
        file.write_all_at(registered.slice(..8191).unwrap(), 0).unwrap();
    });
    (aligned, unaligned)
}

/// HF-PATH-07, HF-PATH-10, HF-PATH-11, HF-PATH-12, HF-STATS-04, HF-STATS-05, HF-STATS-12.
#[test]
fn alignment_decides_the_path() {
    let environment = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    isolated("paths::alignment_decides_the_path", &environment, || {
        if !counts() {
            return;
        }
        let scratch = Scratch::new();
        let fast = fast_path_possible(&scratch.file("probe", &[0; 4096]));
        let (aligned, unaligned) = aligned_and_unaligned(&scratch);
        for transfers in [aligned.reads, aligned.writes] {
            assert_eq!((transfers.operations, transfers.errors, transfers.bytes), (2, 0, 16_384));
            let expected = if fast { (2, 0) } else { (0, 2) };
            assert_eq!((transfers.fast_path, transfers.fallback), expected);
        }
        assert_eq!((unaligned.reads.fast_path, unaligned.reads.fallback), (0, 3));
        assert_eq!((unaligned.writes.fast_path, unaligned.writes.fallback), (0, 1));
        assert_eq!(unaligned.reads.bytes, 8191 + 4096 + 4096);
    });
}

/// HF-PATH-02.
#[test]
fn compat_mode_can_be_forced() {
    let environment = [("HIPFILE_FORCE_COMPAT_MODE", "true"), ("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    isolated("paths::compat_mode_can_be_forced", &environment, || {
        if !counts() {
            return;
        }
        let (aligned, unaligned) = aligned_and_unaligned(&Scratch::new());
        assert_eq!((aligned.reads.fast_path, aligned.reads.fallback), (0, 2));
        assert_eq!((aligned.writes.fast_path, aligned.writes.fallback), (0, 2));
        assert_eq!((unaligned.reads.fast_path, unaligned.reads.fallback), (0, 3));
    });
}

/// HF-PATH-13, HF-PATH-16: without the fallback, what does not qualify is refused, and nothing is touched.
#[test]
fn the_fallback_can_be_refused() {
    let environment = [("HIPFILE_ALLOW_COMPAT_MODE", "false"), ("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    isolated("paths::the_fallback_can_be_refused", &environment, || {
        let scratch = Scratch::new();
        let content = pattern(8192, 10);
        let path = scratch.file("data", &content);
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let mut memory = driver.register(filled(8192, 0xa5)).unwrap();
        let error = file.read_at(memory.slice_mut(1..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.op_error()), (ErrorKind::Internal, Some(OpError::InternalError)));
        assert_eq!(
            error.to_string(),
            format!(
                "read {} at offset 0, 8191 bytes: internal error of the library (5030 hipFileInternalError)",
                path.display()
            )
        );
        let error = file.write_all_at(memory.slice(..100).unwrap(), 0).unwrap_err();
        assert_eq!((error.raw_code(), error.bytes_done()), (Some(5030), 0));
        assert_eq!(memory.memory().to_vec().unwrap(), [0xa5; 8192]);
        assert_eq!(std::fs::read(&path).unwrap(), content);

        let whole = file.read_at(memory.slice_mut(..).unwrap(), 0);
        if fast_path_possible(&path) {
            assert_eq!(whole.unwrap(), 8192);
            assert!(memory.memory().to_vec().unwrap() == content);
        } else {
            assert_eq!(whole.unwrap_err().op_error(), Some(OpError::InternalError), "HF-PATH-03");
        }
    });
}

/// HF-STATS-16.
#[test]
fn counting_can_be_turned_off() {
    let environment = [("HIPFILE_STATS_LEVEL", "0")];
    isolated("paths::counting_can_be_turned_off", &environment, || {
        if !counts() {
            return;
        }
        let (aligned, unaligned) = aligned_and_unaligned(&Scratch::new());
        assert_eq!((aligned, unaligned), (Stats::default(), Stats::default()));
        assert_eq!(hipfile::stats().unwrap(), Stats::default());
    });
}

/// HF-STATS-06: a transfer that fails is an error of its direction and no bytes.
#[test]
fn failures_are_counted_apart() {
    let environment = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    isolated("paths::failures_are_counted_apart", &environment, || {
        if !counts() {
            return;
        }
        let driver = Driver::open().unwrap();
        let full = hipfile::OpenOptions::new().write(true).open(&driver, "/dev/full").unwrap();
        let memory = filled(4096, 0);
        let stats = counted(|| {
            full.write_at(memory.slice(..).unwrap(), 0).unwrap_err();
        });
        assert_eq!((stats.writes.operations, stats.writes.errors, stats.writes.bytes), (0, 1, 0));
        assert_eq!(stats.reads, hipfile::Stats::default().reads);
    });
}
