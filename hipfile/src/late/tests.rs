//! Which late values are taken, and what the slots have then.

use std::panic::panic_any;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Where the region is in its registration.
const REGION: Range<usize> = 1000..1100;
const SUBMITTED: LateValues = LateValues { len: 80, file_offset: 7, region_offset: 0 };

fn late(flags: StreamFlags, f: impl FnOnce(LateValues) -> LateValues + Send + 'static) -> Late {
    Late::new(Box::new(f), REGION, SUBMITTED.file_offset, SUBMITTED.len, Some(flags))
}

/// What the slots have after `values` came late, or why they were refused.
fn outcome(flags: StreamFlags, values: LateValues) -> Result<(usize, i64, i64), Cause> {
    let slots = Slots::new(SUBMITTED.len, 7, 1000);
    let late = late(flags, move |submitted| {
        assert_eq!(submitted, SUBMITTED);
        values
    });
    assert!(!late.is_done());
    late.run(&slots);
    assert!(late.is_done());
    match late.into_refusal() {
        None => Ok(slots.values()),
        Some(cause) => {
            assert_eq!(slots.values(), (0, -1, -1), "nothing can move");
            Err(cause)
        }
    }
}

fn near(limit: usize) -> impl Strategy<Value = usize> {
    prop_oneof![0..limit + 3, Just(usize::MAX), any::<usize>()]
}

proptest! {
    /// Late values reach the slots if and only if they are within what was submitted, and respect the flags.
    #[test]
    fn values_are_taken_or_nothing_moves(
        len in near(SUBMITTED.len),
        file_offset in prop_oneof![Just(7u64), 0..20u64, Just(i64::MAX.unsigned_abs()), any::<u64>()],
        region_offset in near(REGION.len()),
        bits in 0..16u32,
    ) {
        let flags = StreamFlags::from_bits_truncate(bits);
        let values = LateValues { len, file_offset, region_offset };
        let kept = |flag, same| same || !flags.contains(flag);
        let fits = len <= SUBMITTED.len
            && len as u128 + region_offset as u128 <= REGION.len() as u128
            && len as u128 + u128::from(file_offset) <= i64::MAX as u128
            && kept(StreamFlags::FIXED_SIZE, len == SUBMITTED.len)
            && kept(StreamFlags::FIXED_FILE_OFFSET, file_offset == 7)
            && kept(StreamFlags::FIXED_BUFFER_OFFSET, region_offset == 0);
        match outcome(flags, values) {
            Ok(slots) => {
                prop_assert!(fits);
                prop_assert_eq!(slots, (len, file_offset as i64, (1000 + region_offset) as i64));
            }
            Err(Cause::Late(_) | Cause::OffsetTooLarge) => prop_assert!(!fits),
            Err(other) => prop_assert!(false, "late values can't end in {other:?}"),
        }
    }
}

#[test]
fn the_reason_is_told() {
    let none = StreamFlags::empty();
    let reason = |flags, values| outcome(flags, values).unwrap_err().to_string();
    let longer = LateValues { len: 81, ..SUBMITTED };
    assert!(reason(none, longer).contains("81 bytes, where 80 were submitted"));
    let outside = LateValues { region_offset: 21, ..SUBMITTED };
    assert!(reason(none, outside).contains("80 bytes at offset 21 of a region of 100"));
    let too_far = LateValues { file_offset: u64::MAX, ..SUBMITTED };
    assert!(matches!(outcome(none, too_far), Err(Cause::OffsetTooLarge)));
    for (flag, values, name) in [
        (StreamFlags::FIXED_SIZE, LateValues { len: 1, ..SUBMITTED }, "a late length"),
        (StreamFlags::FIXED_FILE_OFFSET, LateValues { file_offset: 8, ..SUBMITTED }, "a late file offset"),
        (
            StreamFlags::FIXED_BUFFER_OFFSET,
            LateValues { region_offset: 1, ..SUBMITTED },
            "a late region offset",
        ),
    ] {
        assert!(outcome(StreamFlags::all() - flag, values).is_ok(), "{name}");
        assert!(reason(flag, values).starts_with(name));
    }
}

/// SND-20
#[test]
fn a_panic_moves_nothing_and_does_not_unwind() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in the drop of what was panicked with");
        }
    }
    for late in [
        late(StreamFlags::empty(), |_| panic!("on purpose")),
        late(StreamFlags::empty(), |_| panic_any(Bomb)),
    ] {
        let slots = Slots::new(SUBMITTED.len, 7, 1000);
        late.run(&slots);
        assert_eq!(slots.values(), (0, -1, -1));
        assert!(matches!(late.into_refusal(), Some(Cause::Late(Refusal::Panicked))));
    }
}

#[test]
fn streams_that_fix_all_or_are_not_known_are_refused() {
    let admit = |flags| Late::new(Box::new(|values| values), REGION, 0, 80, flags).admit();
    assert!(matches!(admit(None), Err(Cause::Late(Refusal::NotRegistered))));
    assert!(matches!(admit(Some(StreamFlags::all())), Err(Cause::Late(Refusal::AllFixed))));
    assert!(admit(Some(StreamFlags::FIXED_SIZE | StreamFlags::FIXED_FILE_OFFSET)).is_ok());
}

#[test]
fn what_was_panicked_with_is_dropped() {
    let shared = Arc::new(());
    let panics = Arc::clone(&shared);
    late(StreamFlags::empty(), move |_| panic_any(panics)).run(&Slots::new(80, 7, 1000));
    assert_eq!(Arc::strong_count(&shared), 1);
}
