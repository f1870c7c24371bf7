//! Tables of texts that are plans and of texts that are not, and texts made at random.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::plan::Fault;

fn entries(text: &str) -> Vec<Entry> {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: impl AsRef<[u8]>) -> String {
    parse(text.as_ref()).unwrap_err().to_string()
}

#[test]
fn entries_name_point_action_and_calls() {
    for (text, point, fault, calls) in [
        ("hipMalloc:hip=2@1", "hipMalloc", Fault::Hip(2), Some(1..=1)),
        ("hipMalloc:hip=2@3", "hipMalloc", Fault::Hip(2), Some(3..=3)),
        ("pread:errno=EIO@3", "pread", Fault::Errno(5), Some(3..=3)),
        ("pread:errno=EIO@3+", "pread", Fault::Errno(5), Some(3..=u64::MAX)),
        ("pread:errno=EIO@2-5", "pread", Fault::Errno(5), Some(2..=5)),
        ("pwrite:errno=ENOSPC@2", "pwrite", Fault::Errno(28), Some(2..=2)),
        ("pwrite:short=4096", "pwrite", Fault::Short(4096), None),
        ("pread:short=4096", "pread", Fault::Short(4096), None),
        ("hipAmdFileRead:errno=ENODEV", "hipAmdFileRead", Fault::Errno(19), None),
        (" \t\nhipMalloc : hip = 2 @ 1 ", "hipMalloc", Fault::Hip(2), Some(1..=1)),
    ] {
        let parsed = entries(text);
        let [entry] = parsed.as_slice() else { panic!("{text}: {parsed:?}") };
        let (name, actions, conditions) = entry.parts();
        assert_eq!((name, actions.fault, &conditions.calls), (point, Some(fault), &calls), "{text}");
    }
}

#[test]
fn delays_and_pauses() {
    let parsed = entries("hipFileRead:delay=50ms; stream:pause");
    let (_, read, _) = parsed[0].parts();
    assert_eq!((read.delay, read.pause, read.fault), (Some(Duration::from_millis(50)), false, None));
    let (name, stream, _) = parsed[1].parts();
    assert_eq!((name, stream.delay, stream.pause), ("stream", None, true));
}

#[test]
fn a_comma_separates_entries_unless_a_condition_follows() {
    for (text, expected) in [
        ("", vec![]),
        (" ; ,;", vec![]),
        ("pread:errno=EIO;pwrite:errno=EIO", vec!["pread", "pwrite"]),
        ("pread:errno=EIO,pwrite:errno=EIO;", vec!["pread", "pwrite"]),
        ("pread:errno=EINTR@p=0.5,seed=1", vec!["pread"]),
        ("pread:errno=EINTR@p=0.5,seed=1,hipFree:hip=1", vec!["pread", "hipFree"]),
        ("pread:errno=EIO@3,path=x,size=1K+,pwrite:short=1@2", vec!["pread", "pwrite"]),
        ("pread:errno=EIO@path=x , 3, hipMalloc:hip=2@1", vec!["pread", "hipMalloc"]),
        ("pread:errno=EIO@path=a@b:c,pwrite:short=1", vec!["pread", "pwrite"]),
    ] {
        let names: Vec<_> = entries(text).iter().map(|entry| entry.parts().0).collect();
        assert_eq!(names, expected, "{text}");
    }
    let parsed = entries("pread:errno=EIO@path=a@b:c%2Cd");
    assert_eq!(parsed[0].parts().2.path.as_deref(), Some("a@b:c,d".as_bytes()));
}

#[test]
fn mistakes_name_the_entry_and_what_is_accepted() {
    for (text, expected) in [
        (
            "hipMaloc:hip=2",
            "entry 1, `hipMaloc:hip=2`: `hipMaloc` is no known point; did you mean hipMalloc?",
        ),
        (
            "pread:errno=EIO;x:y",
            "entry 2, `x:y`: `x` is no known point; expected a function of HIP or hipFile, ",
        ),
        ("nothing_like_it:hip=2", "poll, pread, pwrite, read, recvmsg, sendmsg, socket, statx or stream"),
        ("pread", "nothing is to happen: expected pread:ACTION with errno, short, delay or pause"),
        ("pread@3", "nothing is to happen"),
        ("pread:", "pread can't be given ``: expected errno, short, delay or pause"),
        (":errno=EIO", "`` is no known point"),
        (
            "pread:errno=EIO@",
            "`` is no condition: expected a call such as 3, 3+ or 2-5, or p=, seed=, path= or size=",
        ),
        ("pread:errno=EIO@0", "calls are counted from 1"),
        ("pread:errno=EIO,seed=1", "a condition stands behind the @ of an entry"),
        ("pread:errno=EIO@3@4", "`3@4` is no number"),
        ("hipMalloc:errno=EIO", "hipMalloc can't be given `errno`: expected hip, delay or pause"),
        ("stream:hip=1", "stream can't be given `hip`: expected delay or pause"),
        ("hipFileUseCount:hipfile=5030", "hipFileUseCount can't be given `hipfile`: expected delay or pause"),
        ("pread:errno=EIO:short=1", "a call has one, so write two entries"),
        ("pread:errno=99999999999999999999999999", "is too large a number"),
        ("pread:errno=EIO@99999999999999999999999999", "is too large a number"),
        ("hipMalloc:delay=99999999999999999999s", "is too large a number"),
        ("hipMalloc:delay=1000000s", "is more than the longest delay, 3600s"),
        ("\0\x1b[31m:hip=2", "`\\0\\u{1b}[31m` is no known point"),
        ("p\u{430}read:errno=EIO", "did you mean pread?"),
    ] {
        let error = error(text);
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.len() < 400, "{error}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(error(b"pread:\xff"), "not UTF-8 from byte 6 on");
}

#[test]
fn hostile_lengths_are_refused_at_once() {
    let started = Instant::now();
    for text in ["x", ":", "@", ";", ",", "=", "pread:errno=EIO;", "1,", "pread:delay=1s@1,", "%", "é"] {
        assert_eq!(
            error(text.repeat((1 << 20) / text.len())).split(':').next_back().unwrap().trim(),
            format!("expected at most {LONGEST}"),
        );
        // What is just not too long is judged in no time as well, whatever it says.
        let _ = parse(text.repeat(LONGEST / text.len()).as_bytes());
        let _ = parse(format!("pread:errno=EIO@path={}", text.repeat(60_000 / text.len())).as_bytes());
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// A text that is a plan, made of parts that are.
fn valid() -> impl Strategy<Value = String> {
    let entry = prop_oneof![
        (1u32..9999).prop_map(|code| format!("hipMalloc:hip={code}")),
        (0u64..1 << 40).prop_map(|bytes| format!("pread:short={bytes}")),
        (0u64..3600).prop_map(|time| format!("hipFileWrite:delay={time}s:errno=ENOSPC")),
        Just("hipAmdFileWrite:errno=EREMOTEIO".to_owned()),
        Just("stream:pause".to_owned()),
    ];
    let when = prop_oneof![
        Just(String::new()),
        (1u64..100).prop_map(|call| format!("@{call}")),
        (1u64..100).prop_map(|call| format!("@{call}+")),
        (1u64..100, 0u64..100).prop_map(|(from, more)| format!("@{from}-{}", from + more)),
        any::<u64>().prop_map(|seed| format!("@p=0.5,seed={seed}")),
    ];
    let entry = (entry, when).prop_map(|(entry, when)| entry + &when);
    (proptest::collection::vec(entry, 0..20), prop_oneof![Just(";"), Just(","), Just(" ;\n")])
        .prop_map(|(entries, separator)| entries.join(separator))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_plan_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn any_text_of_the_grammars_letters_is_a_plan_or_an_error(
        text in "([a-z]{1,3}|pread|hipMalloc|stream|errno|hip|delay|pause|EIO|[0-9]{1,3}|[:=@;,+%. -]|p=|seed=|path=|size=){0,12}"
    ) {
        if let Err(error) = parse(text.as_bytes()) {
            prop_assert!(error.to_string().starts_with("entry "));
        }
    }

    #[test]
    fn valid_texts_are_plans(text in valid()) {
        let expected = text.matches(':').count() - text.matches(":errno=ENOSPC").count();
        prop_assert_eq!(parse(text.as_bytes()).unwrap().len(), expected);
    }
}
