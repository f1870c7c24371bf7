//! What is predicted of transfers, against what the library does with them.

use hipfile::alloc::DeviceBuffer;
use hipfile::{
    Driver, ErrorKind, Feature, FileHandle, Observed, OpError, OpenOptions, Policy, Predicted, Reason,
};
use hipfile_tests::isolate::isolated;

use crate::common::{Scratch, counted_if_any, filled, has_ais, open, pattern};

const LEN: usize = 64 << 10;

/// Offset, length, and place in memory of a transfer: mostly multiples of blocks, of all sizes.
fn requests(count: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    (0..count).map(|seed| {
        let random = pattern(12, seed);
        let number = |at: usize| u32::from_le_bytes(random[at..at + 4].try_into().unwrap());
        let unit = |nth: u32| [1, 4, 512, 4096, 4096, 4096][(seed as u32 / 6u32.pow(nth) % 6) as usize];
        let offset = number(0) % 32_768 / unit(0) * unit(0);
        let len = (number(4) % 16_384 / unit(1) * unit(1)).max(unit(1));
        let start = number(8) % 32_768 / unit(2) * unit(2);
        (u64::from(offset), len as usize, start as usize)
    })
}

/// Predicts reads of the file and does them: the path that was taken is the one that was predicted.
fn holds(file: &FileHandle, memory: &mut DeviceBuffer, count: u64) -> [usize; 3] {
    let counts = hipfile::supports(Feature::Stats).unwrap();
    let mut seen = [0; 3];
    for (offset, len, start) in requests(count) {
        let slice = memory.slice(start..start + len).unwrap();
        let explanation = file.explain(slice, offset).unwrap();
        let context = format!("{len} bytes at {offset} to {start} of {memory:?}: {explanation}");
        let reads = counts.then(hipfile::stats).transpose().unwrap();
        let outcome = file.read_at(memory.slice_mut(start..start + len).unwrap(), offset);
        let observed = reads.map(|before| hipfile::stats().unwrap().since(before).reads.observed());
        let expected = match explanation.path {
            Predicted::FastPath => (Observed::FastPath, 0),
            Predicted::Fallback => (Observed::Fallback, 1),
            Predicted::Refused => (Observed::Nothing, 2),
            _ => panic!("{context}"),
        };
        seen[expected.1] += 1;
        assert_eq!(explanation.reasons.is_empty(), explanation.path == Predicted::FastPath, "{context}");
        assert!(observed.is_none_or(|observed| observed == expected.0), "{observed:?}: {context}");
        match explanation.path {
            Predicted::Refused => {
                let error = outcome.expect_err(&context);
                assert_eq!(error.op_error(), Some(OpError::InternalError), "{context}");
            }
            _ => assert!(outcome.is_ok(), "{outcome:?}: {context}"),
        }
    }
    seen
}

/// On files in the temporary folder, with and without `O_DIRECT`, on one that can't be written, and on a device.
fn every_file() {
    let driver = Driver::open().unwrap();
    let mut memory = filled(LEN, 0);
    let scratch = Scratch::new();
    let path = scratch.file("data", &pattern(LEN, 3));
    let direct = OpenOptions::new().read(true).direct(true).open(&driver, &path);
    let others = ["/proc/self/exe", "/dev/zero"]
        .map(|path| OpenOptions::new().read(true).open(&driver, path).unwrap());
    let mut seen = [0; 3];
    for (file, count) in
        [(open(&driver, &path), 216)].into_iter().chain(direct.into_iter().chain(others).zip([36; 3]))
    {
        let more = holds(&file, &mut memory, count);
        seen.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    println!("{seen:?} on the fast path, on the fallback, refused");
}

macro_rules! environments {
    ($($name:ident: $force:literal, $allow:literal, $any:literal;)*) => {$(
        #[test]
        fn $name() {
            let environment = [
                ("HIPFILE_FORCE_COMPAT_MODE", $force),
                ("HIPFILE_ALLOW_COMPAT_MODE", $allow),
                ("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", $any),
            ];
            isolated(concat!("explanations::", stringify!($name)), &environment, every_file);
        }
    )*};
}

// What is predicted is observed, whatever the variables are.
environments! {
    predicted_by_default: "", "", "";
    predicted_on_any_file_system: "", "true", "TRUE";
    predicted_without_fallback: "false", "false", "false";
    predicted_without_fallback_on_any_file_system: "0", "False", "true";
    predicted_without_fast_path: "true", "1", "true";
    predicted_without_either: "True", "FALSE", "true";
}

/// A policy that a file opens with is kept; one that the environment does not make true opens none, and makes none.
#[test]
fn direct_only_where_the_fallback_is_forbidden() {
    let environment = [("HIPFILE_ALLOW_COMPAT_MODE", "false")];
    isolated("explanations::direct_only_where_the_fallback_is_forbidden", &environment, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        let path = scratch.path("none");
        let error = options.policy(Policy::HostOnly).open(&driver, &path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(!path.exists());
        assert_eq!(options.replace(&driver, &path).unwrap_err().operation(), "replace");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        let path = scratch.file("data", &pattern(LEN, 5));
        let file = options.policy(Policy::DirectOnly).open(&driver, path).unwrap();
        assert_eq!(holds(&file, &mut filled(LEN, 0), 216)[1], 0, "none through host memory");
    });
}

/// The reasons are the ones of this file, and what mends them mends the transfer.
#[test]
fn reasons_name_the_rule() {
    let environment = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    isolated("explanations::reasons_name_the_rule", &environment, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let file = open(&driver, &scratch.file("data", &pattern(LEN, 4)));
        let memory = driver.register(filled(LEN, 0)).unwrap();
        let none = if has_ais() { vec![] } else { vec![Reason::NoFileFunctions] };
        let Some(direct) = file.alignment().unwrap() else {
            println!("skipped: no direct I/O here");
            return;
        };
        let reasons = |start: usize, len: usize, offset| {
            file.explain(memory.slice(start..start + len).unwrap(), offset).unwrap().reasons
        };
        assert_eq!(reasons(4096, 8192, 4096), none);
        let odd = [
            Reason::Offset { offset: 7, alignment: direct.offset },
            Reason::Length { len: 5, alignment: direct.offset },
            Reason::Address { address: memory.as_ptr().addr() as u64 + 3, alignment: direct.memory },
        ];
        assert_eq!(reasons(3, 5, 7)[none.len()..], odd);
        let nothing = file.explain(memory.slice(3..3).unwrap(), 7).unwrap();
        assert_eq!((nothing.path, nothing.reasons), (Predicted::Nothing, vec![]));
    });
}

/// Explaining transfers nothing and counts nothing, and says what it is about when it fails.
#[test]
fn explaining_is_no_transfer() {
    isolated("explanations::explaining_is_no_transfer", &[("HIPFILE_STATS_LEVEL", "1")], || {
        let driver = Driver::open().unwrap();
        let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe").unwrap();
        let memory = filled(4096, 0xa5);
        let stats = counted_if_any(|| _ = file.explain(memory.slice(..).unwrap(), 0).unwrap());
        assert_eq!(stats.unwrap_or_default(), hipfile::Stats::default());
        assert_eq!(memory.to_vec().unwrap(), [0xa5; 4096]);
        let error = file.explain(memory.slice(..).unwrap(), i64::MAX as u64).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            "explain /proc/self/exe at offset 9223372036854775807, 4096 bytes: a file ends at 9223372036854775807 \
             (i64::MAX) at the latest, so offset plus length is too large"
        );
    });
}
