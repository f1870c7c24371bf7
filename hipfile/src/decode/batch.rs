//! What the end of a batch's transfer says: a state that is a bit flag, and a signed number in an unsigned field.

use hipfile_sys as sys;

use super::{FIRST_OP_ERROR, count};
use crate::error::Cause;
use crate::op_error::OpError;

/// The largest `errno` that Linux has room for between the system's answers and the library's.
const MAX_ERRNO: u64 = 4095;

/// How the transfer of at most `requested` bytes ended; `None` if by this state it has not. Total over all its arguments.
///
/// Of the seven states, hipFile 0.5 reports three. The others that end a transfer are believed to end it and nothing else;
/// whatever is no single state of the seven proves nothing.
pub(crate) fn event(status: u32, ret: usize, requested: usize) -> Option<Result<usize, Cause>> {
    // C keeps a `ssize_t` there.
    let ret = ret as i64;
    match sys::hipFileStatus_t(status) {
        sys::hipFileComplete => Some(count(ret, requested, || failed(ret))),
        sys::hipFileFailed => Some(Err(failed(ret))),
        sys::hipFileCanceled => Some(Err(Cause::Cancelled)),
        sys::hipFileInvalid | sys::hipFileTimeout => Some(Err(Cause::UnknownState(status))),
        _ => None,
    }
}

/// The reason in the number of a failed transfer. Unlike elsewhere `errno` is in the number itself, and HIP's codes are not.
#[cold]
fn failed(ret: i64) -> Cause {
    match (ret.is_negative(), ret.unsigned_abs(), u32::try_from(ret.unsigned_abs())) {
        // At most 4095, so it fits.
        (true, 1..=MAX_ERRNO, Ok(errno)) => Cause::Os(errno as i32),
        (true, FIRST_OP_ERROR.., Ok(code)) => Cause::Op(OpError::from_code(code)),
        _ => Cause::UnknownReturn(ret),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMPLETE: u32 = 16;
    const FAILED: u32 = 64;
    const STATES: [u32; 7] = [1, 2, 4, 8, COMPLETE, 32, FAILED];

    fn states() -> impl Strategy<Value = u32> {
        prop_oneof![proptest::sample::select(STATES.to_vec()), any::<u32>(), 0u32..256]
    }

    fn numbers() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), -6000i64..6000, Just(i64::MIN), Just(i64::MAX), Just(-1), Just(0)]
    }

    fn requests() -> impl Strategy<Value = usize> {
        prop_oneof![any::<usize>(), 0usize..6000]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        // SND-15
        #[test]
        fn every_event_has_exactly_one_meaning(status in states(), ret in numbers(), requested in requests()) {
            let ended = event(status, ret as usize, requested);
            // Only a single state of those that end a transfer does.
            prop_assert_eq!(ended.is_some(), [4, 8, COMPLETE, 32, FAILED].contains(&status));
            match ended {
                None => {}
                Some(Ok(done)) => {
                    prop_assert_eq!((status, done as i64), (COMPLETE, ret));
                    prop_assert!(done <= requested);
                }
                Some(Err(Cause::Overlong { returned, requested: asked })) => {
                    prop_assert_eq!((status, returned as i64, asked), (COMPLETE, ret, requested));
                    prop_assert!(returned > asked);
                }
                Some(Err(Cause::Os(errno))) => {
                    prop_assert!([COMPLETE, FAILED].contains(&status));
                    prop_assert_eq!(-i64::from(errno), ret);
                    prop_assert!((1..=4095).contains(&errno));
                }
                Some(Err(Cause::Op(code))) => {
                    prop_assert!([COMPLETE, FAILED].contains(&status));
                    prop_assert_eq!(-i64::from(code.code()), ret);
                    prop_assert!(code.code() > 5000);
                }
                Some(Err(Cause::UnknownReturn(number))) => {
                    prop_assert!([COMPLETE, FAILED].contains(&status));
                    prop_assert_eq!(number, ret);
                    let known = -i64::from(u32::MAX)..=-5001;
                    prop_assert!(ret >= 0 || !(known.contains(&ret) || (-4095..0).contains(&ret)));
                }
                Some(Err(Cause::Cancelled)) => prop_assert_eq!(status, 8),
                Some(Err(Cause::UnknownState(state))) => {
                    prop_assert_eq!(state, status);
                    prop_assert!([4, 32].contains(&status));
                }
                Some(Err(other)) => prop_assert!(false, "an event can't say {other:?}"),
            }
        }
    }

    #[test]
    fn the_spaces_meet_where_the_contract_says() {
        let of = |status, ret: i64| event(status, ret as usize, 4096);
        assert!(matches!(of(COMPLETE, 0), Some(Ok(0))));
        assert!(matches!(of(COMPLETE, 4096), Some(Ok(4096))));
        assert!(matches!(of(COMPLETE, 4097), Some(Err(Cause::Overlong { returned: 4097, requested: 4096 }))));
        assert!(matches!(of(FAILED, -27), Some(Err(Cause::Os(libc::EFBIG)))));
        assert!(matches!(of(FAILED, -1), Some(Err(Cause::Os(libc::EPERM)))));
        assert!(matches!(of(FAILED, -4096), Some(Err(Cause::UnknownReturn(-4096)))));
        assert!(matches!(of(FAILED, -5000), Some(Err(Cause::UnknownReturn(-5000)))));
        assert!(matches!(of(FAILED, -5011), Some(Err(Cause::Op(OpError::HipDriverError)))));
        assert!(matches!(of(FAILED, -5040), Some(Err(Cause::Op(OpError::Unknown(_))))));
        assert!(matches!(of(FAILED, 4096), Some(Err(Cause::UnknownReturn(4096)))));
        assert!(matches!(of(FAILED, i64::MIN), Some(Err(Cause::UnknownReturn(i64::MIN)))));
        assert!(matches!(of(8, 0), Some(Err(Cause::Cancelled))));
        for unended in [0, 1, 2, 3, 24, COMPLETE | FAILED, u32::MAX] {
            assert!(of(unended, 4096).is_none(), "{unended}");
        }
    }
}
