//! The one place where a number of the C library becomes a `Result`.
//!
//! A synchronous transfer answers with one signed number that carries four spaces: a byte count, -1 for `errno`, minus a
//! HIP code, minus a hipFile code. They are disjoint but for HIP's code 1, which is told from `errno` by zeroing `errno`
//! before the call.
//!
//! A transfer on a stream leaves the same kind of number in a slot, written on another thread, whose `errno` is out of
//! reach: there -1 is a system call that failed in a way nobody knows. The event of a batch's transfer has
//! a state and a number of yet another kind: see `batch`.

use hip_alloc::HipError;

use crate::error::Cause;
use crate::op_error::OpError;

mod batch;

pub(crate) use batch::event;

/// The code from which negated answers are hipFile's own rather than HIP's.
const FIRST_OP_ERROR: u64 = 5001;

/// What a synchronous transfer of at most `requested` bytes answered. Total over all its arguments.
#[inline]
pub(crate) fn decode(ret: i64, errno: i32, requested: usize) -> Result<usize, Cause> {
    count(ret, requested, || failed(ret, errno))
}

/// What a transfer of at most `requested` bytes left in its slot when the stream had passed it. Total over all its
/// arguments.
#[inline]
pub(crate) fn decode_stored(stored: i64, requested: usize) -> Result<usize, Cause> {
    if stored == -1 { Err(Cause::LostErrno) } else { decode(stored, 0, requested) }
}

/// The number as a count, which is no more than `requested`, or what `failed` says if it is a code.
#[inline]
fn count(number: i64, requested: usize, failed: impl FnOnce() -> Cause) -> Result<usize, Cause> {
    match usize::try_from(number) {
        Ok(done) if done <= requested => Ok(done),
        Ok(done) => Err(Cause::Overlong { returned: done, requested }),
        Err(_) => Err(failed()),
    }
}

#[cold]
fn failed(ret: i64, errno: i32) -> Cause {
    if ret == -1 && errno != 0 {
        return Cause::Os(errno);
    }
    match (ret.unsigned_abs(), u32::try_from(ret.unsigned_abs())) {
        (FIRST_OP_ERROR.., Ok(code)) => Cause::Op(OpError::from_code(code)),
        (_, Ok(code)) => Cause::Hip(HipError::from(code)),
        (_, Err(_)) => Cause::UnknownReturn(ret),
    }
}

/// What a function that answers with an error structure says: its two fields.
#[inline]
pub(crate) fn status(err: u32, hip: u32) -> Result<(), Cause> {
    match OpError::from_code(err) {
        OpError::Success => Ok(()),
        OpError::HipDriverError => Err(Cause::HipCall(HipError::from(hip))),
        other => Err(Cause::Op(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number and the `errno` that `cause` stands for: nothing of the answer may be lost.
    fn encode(result: &Result<usize, Cause>) -> (i64, Option<i32>) {
        match result {
            Ok(done) => (i64::try_from(*done).unwrap(), None),
            Err(Cause::Os(errno)) => (-1, Some(*errno)),
            Err(Cause::LostErrno) => (-1, None),
            Err(Cause::Hip(code)) => (-i64::from(code.code()), None),
            Err(Cause::Op(code)) => (-i64::from(code.code()), None),
            Err(Cause::UnknownReturn(ret)) => (*ret, None),
            Err(Cause::Overlong { returned, .. }) => (i64::try_from(*returned).unwrap(), None),
            Err(other) => panic!("decode can't answer {other:?}"),
        }
    }

    fn answers() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), -6000i64..6000, Just(i64::MIN), Just(i64::MAX), Just(-1), Just(0)]
    }

    fn errnos() -> impl Strategy<Value = i32> {
        prop_oneof![Just(0), 1i32..134, any::<i32>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn every_answer_has_exactly_one_meaning(ret in answers(), errno in errnos(), requested: usize) {
            let result = decode(ret, errno, requested);
            let (back, os) = encode(&result);
            prop_assert_eq!(back, ret);
            // errno counts with -1 alone, and only when the call set it.
            prop_assert_eq!(os, (ret == -1 && errno != 0).then_some(errno));
            match result {
                Ok(done) => prop_assert!(done <= requested),
                Err(Cause::Overlong { returned, requested: asked }) => {
                    prop_assert!(returned > asked);
                    prop_assert_eq!(asked, requested);
                }
                Err(Cause::Os(_)) => prop_assert_eq!(ret, -1),
                Err(Cause::Hip(_)) => prop_assert!((-5000..=-1).contains(&ret)),
                Err(Cause::Op(_)) => prop_assert!((-i64::from(u32::MAX)..=-5001).contains(&ret)),
                Err(Cause::UnknownReturn(_)) => prop_assert!(ret < -i64::from(u32::MAX)),
                Err(other) => prop_assert!(false, "decode can't answer {other:?}"),
            }
        }

        /// SND-05: without an `errno`, -1 alone changes its meaning.
        #[test]
        fn every_stored_answer_has_exactly_one_meaning(stored in answers(), requested: usize) {
            let result = decode_stored(stored, requested);
            prop_assert_eq!(encode(&result), (stored, None));
            match (result, decode(stored, 0, requested)) {
                (Err(Cause::LostErrno), other) => {
                    prop_assert_eq!(stored, -1);
                    prop_assert!(matches!(other, Err(Cause::Hip(_))));
                }
                (Ok(done), Ok(same)) => prop_assert_eq!(done, same),
                (Err(cause), Err(same)) => prop_assert_eq!(format!("{cause:?}"), format!("{same:?}")),
                (result, other) => prop_assert!(false, "{result:?} is not {other:?}"),
            }
        }

        #[test]
        fn every_status_is_kept(err: u32, hip: u32) {
            match status(err, hip) {
                Ok(()) => prop_assert_eq!(err, 0),
                Err(Cause::HipCall(code)) => {
                    prop_assert_eq!(err, 5011);
                    prop_assert_eq!(u32::from(code), hip);
                }
                Err(Cause::Op(code)) => prop_assert_eq!(code.code(), err),
                Err(other) => prop_assert!(false, "status can't answer {other:?}"),
            }
        }
    }

    #[test]
    fn the_spaces_meet_where_the_contract_says() {
        assert!(matches!(decode(4096, 5, 4096), Ok(4096)));
        assert!(matches!(decode(0, 5, 0), Ok(0)));
        assert!(matches!(decode(4097, 0, 4096), Err(Cause::Overlong { returned: 4097, requested: 4096 })));
        assert!(matches!(decode(-1, 22, 1), Err(Cause::Os(22))));
        assert!(matches!(decode(-1, 0, 1), Err(Cause::Hip(code)) if u32::from(code) == 1));
        assert!(matches!(decode(-2, 22, 1), Err(Cause::Hip(code)) if u32::from(code) == 2));
        assert!(matches!(decode(-1054, 0, 1), Err(Cause::Hip(_))));
        assert!(matches!(decode(-5000, 0, 1), Err(Cause::Hip(_))));
        assert!(matches!(decode(-5001, 0, 1), Err(Cause::Op(OpError::DriverNotInitialized))));
        assert!(matches!(decode(-5040, 0, 1), Err(Cause::Op(OpError::Unknown(_)))));
        assert!(matches!(decode(i64::MIN, 1, 1), Err(Cause::UnknownReturn(i64::MIN))));
        assert!(matches!(decode_stored(-1, 1), Err(Cause::LostErrno)));
        assert!(matches!(decode_stored(-5022, 1), Err(Cause::Op(OpError::InvalidValue))));
        assert!(matches!(decode_stored(-5030, 1), Err(Cause::Op(OpError::InternalError))));
        assert!(matches!(decode_stored(1, 0), Err(Cause::Overlong { returned: 1, requested: 0 })));
        assert!(matches!(status(5011, 2), Err(Cause::HipCall(code)) if u32::from(code) == 2));
        assert!(matches!(status(u32::MAX, 0), Err(Cause::Op(OpError::Unknown(_)))));
    }
}
