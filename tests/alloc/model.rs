//! Random operations on a buffer, against the same on a Vec.

use hip_alloc::{
    CopyError, DeviceBuffer, DeviceSliceMut, ErrorKind, PinnedBuffer, Result, Stream, StreamOptions,
};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    CopyFrom { offset: usize, bytes: Vec<u8> },
    CopyTo { offset: usize, len: usize },
    Fill { start: usize, end: usize, value: u8 },
    Split { mid: usize, value: u8 },
    FillAll { value: u8 },
    InScope { offset: usize, bytes: Vec<u8>, value: u8 },
    OwnedFrom { offset: usize, bytes: Vec<u8> },
    OwnedTo { offset: usize, len: usize },
    OwnedFill { start: usize, end: usize, value: u8 },
    OwnedCopy { offset: usize, bytes: Vec<u8> },
    IntoRawAndBack,
    Move,
}

const LEN: usize = 10_007;

/// Offsets with a liking for pages and ends.
fn offset() -> impl Strategy<Value = usize> {
    prop_oneof![
        0..LEN + 2,
        proptest::sample::select(vec![0, 1, 4095, 4096, 4097, 8192, LEN - 1, LEN, LEN + 1, usize::MAX])
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (offset(), vec(any::<u8>(), 0..5000)).prop_map(|(offset, bytes)| Step::CopyFrom { offset, bytes }),
        (offset(), 0..5000usize).prop_map(|(offset, len)| Step::CopyTo { offset, len }),
        (offset(), offset(), any::<u8>()).prop_map(|(start, end, value)| Step::Fill { start, end, value }),
        (offset(), any::<u8>()).prop_map(|(mid, value)| Step::Split { mid, value }),
        any::<u8>().prop_map(|value| Step::FillAll { value }),
        (offset(), vec(any::<u8>(), 0..5000), any::<u8>()).prop_map(|(offset, bytes, value)| Step::InScope {
            offset,
            bytes,
            value
        }),
        (offset(), vec(any::<u8>(), 0..5000)).prop_map(|(offset, bytes)| Step::OwnedFrom { offset, bytes }),
        (offset(), 0..5000usize).prop_map(|(offset, len)| Step::OwnedTo { offset, len }),
        (offset(), offset(), any::<u8>()).prop_map(|(start, end, value)| Step::OwnedFill {
            start,
            end,
            value
        }),
        (offset(), vec(any::<u8>(), 0..5000)).prop_map(|(offset, bytes)| Step::OwnedCopy { offset, bytes }),
        Just(Step::IntoRawAndBack),
        Just(Step::Move),
    ]
}

/// The outcome of an operation, which must be that of the same on a Vec.
fn agree<T>(answer: Result<T>, expected: Option<()>) -> std::result::Result<(), TestCaseError> {
    match (answer.map(drop), expected) {
        (Ok(()), Some(())) => Ok(()),
        (Err(error), None) if error.kind() == ErrorKind::OutOfRange => Ok(()),
        (answer, expected) => Err(TestCaseError::fail(format!("{answer:?} where {expected:?}"))),
    }
}

fn fill_both(halves: (DeviceSliceMut<'_>, DeviceSliceMut<'_>), value: u8) -> Result<()> {
    let (mut head, mut tail) = halves;
    head.fill(value)?;
    tail.fill(!value)
}

/// Writes `bytes` at `offset` and sets what comes before to `value`, both in a scope.
fn in_scope(
    stream: &Stream,
    buffer: &mut DeviceBuffer,
    offset: usize,
    bytes: &[u8],
    value: u8,
) -> Result<()> {
    let (head, mut tail) = buffer.as_mut_slice().split_at_mut(offset)?;
    stream.scope(|scope| {
        scope.copy_from_host(tail.slice_mut(..bytes.len())?, bytes)?;
        scope.fill(head, value)
    })
}

/// What an operation was given, and how it ended.
fn returned<T>(ended: std::result::Result<T, CopyError<T>>) -> (T, Result<()>) {
    match ended {
        Ok(inputs) => (inputs, Ok(())),
        Err(failed) => {
            let (error, inputs) = failed.into_parts();
            (inputs.expect("nothing is leaked"), Err(error))
        }
    }
}

fn pinned(bytes: &[u8]) -> PinnedBuffer {
    PinnedBuffer::from_slice(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_buffer_behaves_as_a_vec(initial in vec(any::<u8>(), LEN), steps in vec(step(), 0..30)) {
        let mut model = initial;
        let stream = StreamOptions::new().non_blocking(true).create().unwrap();
        let mut buffer = DeviceBuffer::new_on(&stream, LEN).unwrap();
        buffer.copy_from_host(0, &model).unwrap();
        for step in steps {
            match step {
                Step::CopyFrom { offset, bytes } => {
                    let place = offset.checked_add(bytes.len()).and_then(|end| model.get_mut(offset..end));
                    let expected = place.map(|place| place.copy_from_slice(&bytes));
                    agree(buffer.copy_from_host(offset, &bytes), expected)?;
                }
                Step::CopyTo { offset, len } => {
                    let mut bytes = vec![0x5a; len];
                    let answer = buffer.copy_to_host(offset, &mut bytes);
                    let place = offset.checked_add(len).and_then(|end| model.get(offset..end));
                    let untouched = vec![0x5a; len];
                    prop_assert_eq!(&bytes[..], place.unwrap_or(&untouched));
                    agree(answer, place.map(drop))?;
                }
                Step::Fill { start, end, value } => {
                    let expected = model.get_mut(start..end).map(|place| place.fill(value));
                    agree(buffer.slice_mut(start..end).and_then(|mut slice| slice.fill(value)), expected)?;
                }
                Step::Split { mid, value } => {
                    let expected = model.split_at_mut_checked(mid).map(|(head, tail)| {
                        head.fill(value);
                        tail.fill(!value);
                    });
                    let halves = buffer.as_mut_slice().split_at_mut(mid);
                    agree(halves.and_then(|halves| fill_both(halves, value)), expected)?;
                }
                Step::FillAll { value } => {
                    model.fill(value);
                    buffer.fill(value).unwrap();
                }
                Step::InScope { offset, bytes, value } => {
                    let expected = model.split_at_mut_checked(offset).and_then(|(head, tail)| {
                        tail.get_mut(..bytes.len())?.copy_from_slice(&bytes);
                        head.fill(value);
                        Some(())
                    });
                    agree(in_scope(&stream, &mut buffer, offset, &bytes, value), expected)?;
                }
                Step::OwnedFrom { offset, bytes } => {
                    let place = offset.checked_add(bytes.len()).and_then(|end| model.get_mut(offset..end));
                    let expected = place.map(|place| place.copy_from_slice(&bytes));
                    let ended = stream.copy_from_host(buffer, offset, pinned(&bytes)).wait();
                    let ((same, host), answer) = returned(ended);
                    prop_assert_eq!(&*host, &bytes);
                    buffer = same;
                    agree(answer, expected)?;
                }
                Step::OwnedTo { offset, len } => {
                    let ended = stream.copy_to_host(buffer, offset, pinned(&vec![0x5a; len])).wait();
                    let ((same, host), answer) = returned(ended);
                    let place = offset.checked_add(len).and_then(|end| model.get(offset..end));
                    let untouched = vec![0x5a; len];
                    prop_assert_eq!(&*host, place.unwrap_or(&untouched));
                    buffer = same;
                    agree(answer, place.map(drop))?;
                }
                Step::OwnedFill { start, end, value } => {
                    let expected = model.get_mut(start..end).map(|place| place.fill(value));
                    let (same, answer) = returned(stream.fill(buffer, start..end, value).wait());
                    buffer = same;
                    agree(answer, expected)?;
                }
                Step::OwnedCopy { offset, bytes } => {
                    let place = offset.checked_add(bytes.len()).and_then(|end| model.get_mut(offset..end));
                    let expected = place.map(|place| place.copy_from_slice(&bytes));
                    let source = DeviceBuffer::from_host(&bytes).unwrap();
                    let ((same, _), answer) = returned(stream.copy(buffer, offset, source).wait());
                    buffer = same;
                    agree(answer, expected)?;
                }
                Step::IntoRawAndBack => {
                    let raw = buffer.into_raw().unwrap();
                    // SAFETY: requires parts that nobody else frees; holds because they were just taken.
                    buffer = unsafe { DeviceBuffer::from_raw(raw) };
                }
                Step::Move => buffer = *Box::new(buffer),
            }
        }
        prop_assert_eq!(buffer.to_vec().unwrap(), model);
    }
}
