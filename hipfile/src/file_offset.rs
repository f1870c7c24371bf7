//! File offsets, proven before C sees them.

use crate::error::Cause;

/// The file offset as the C library takes it, if `len` bytes from there stay within what a file can hold.
#[inline]
pub(crate) fn checked(offset: u64, len: usize) -> Result<i64, Cause> {
    let end = u64::try_from(len).ok().and_then(|len| offset.checked_add(len));
    match (i64::try_from(offset), end.map(i64::try_from)) {
        (Ok(offset), Some(Ok(_end))) => Ok(offset),
        _ => Err(Cause::OffsetTooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values where arithmetic goes wrong, beside arbitrary ones.
    fn edge() -> impl Strategy<Value = u64> {
        let max = i64::MAX.unsigned_abs();
        let edges =
            vec![0, 1, 4095, 4096, 0x7fff_f000, 0x7fff_f001, max - 1, max, max + 1, u64::MAX - 1, u64::MAX];
        prop_oneof![any::<u64>(), 0u64..64, (max - 64)..(max + 64), proptest::sample::select(edges)]
    }

    proptest! {
        // SND-12
        #[test]
        fn accepted_offsets_never_reach_past_i64(offset in edge(), len in edge()) {
            let fits = u128::from(offset) + u128::from(len) <= i64::MAX.unsigned_abs().into();
            match checked(offset, usize::try_from(len).unwrap()) {
                Ok(signed) => {
                    prop_assert_eq!(i128::from(signed), i128::from(offset));
                    prop_assert!(fits);
                }
                Err(_) => prop_assert!(!fits),
            }
        }
    }

    #[test]
    fn the_last_byte_a_file_can_have_is_reachable() {
        let max = i64::MAX.unsigned_abs();
        assert!(checked(max, 0).is_ok());
        assert!(checked(max - 1, 1).is_ok());
        assert!(checked(max, 1).is_err());
        assert!(checked(u64::MAX, 0).is_err());
        assert!(checked(0, usize::MAX).is_err());
    }
}
