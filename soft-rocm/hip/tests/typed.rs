//! Copies whose name says the direction, and fills of elements: tables of both, blocking and in the order of a stream.
#![allow(
    non_upper_case_globals,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    reason = "names of the C header; ranges that are not refused are the process's own; a panic is a failed test"
)]

mod support;

use std::ffi::{CString, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use soft_rocm_hip::header::*;
use support::streams::{pause, resume, stream};
use support::{at, device_memory, host_bytes, passes_in_process, pattern, pinned_memory};

type Copy = fn(*mut c_void, *mut c_void, usize, hipStream_t) -> hipError_t;
type Fill = fn(*mut c_void, u32, usize, hipStream_t) -> hipError_t;

/// Name, direction, and the call. Those that take no stream leave it out.
const COPIES: [(&str, hipMemcpyKind, Copy); 6] = [
    ("hipMemcpyHtoD", hipMemcpyHostToDevice, |to, from, size, _| unsafe { hipMemcpyHtoD(to, from, size) }),
    ("hipMemcpyDtoH", hipMemcpyDeviceToHost, |to, from, size, _| unsafe { hipMemcpyDtoH(to, from, size) }),
    ("hipMemcpyDtoD", hipMemcpyDeviceToDevice, |to, from, size, _| unsafe { hipMemcpyDtoD(to, from, size) }),
    ("hipMemcpyHtoDAsync", hipMemcpyHostToDevice, |to, from, size, stream| unsafe {
        hipMemcpyHtoDAsync(to, from, size, stream)
    }),
    ("hipMemcpyDtoHAsync", hipMemcpyDeviceToHost, |to, from, size, stream| unsafe {
        hipMemcpyDtoHAsync(to, from, size, stream)
    }),
    ("hipMemcpyDtoDAsync", hipMemcpyDeviceToDevice, |to, from, size, stream| unsafe {
        hipMemcpyDtoDAsync(to, from, size, stream)
    }),
];

/// Name, bytes of an element, and the call.
const FILLS: [(&str, usize, Fill); 6] = [
    ("hipMemsetD8", 1, |to, value, count, _| unsafe { hipMemsetD8(to, value as u8, count) }),
    ("hipMemsetD16", 2, |to, value, count, _| unsafe { hipMemsetD16(to, value as u16, count) }),
    ("hipMemsetD32", 4, |to, value, count, _| unsafe { hipMemsetD32(to, value as i32, count) }),
    ("hipMemsetD8Async", 1, |to, value, count, stream| unsafe {
        hipMemsetD8Async(to, value as u8, count, stream)
    }),
    ("hipMemsetD16Async", 2, |to, value, count, stream| unsafe {
        hipMemsetD16Async(to, value as u16, count, stream)
    }),
    ("hipMemsetD32Async", 4, |to, value, count, stream| unsafe {
        hipMemsetD32Async(to, value as i32, count, stream)
    }),
];

const VALUE: u32 = 0x1122_3344;

/// What is said if a stream has to be waited for and is not.
const LATE: &str = "in the order of a stream";

fn in_order(name: &str) -> bool {
    name.ends_with("Async")
}

#[test]
fn a_copy_moves_what_its_direction_allows() {
    const SIZE: usize = 16;
    let stream = stream(hipStreamNonBlocking);
    let (mut to, mut from) = ([0u8; SIZE], [0u8; SIZE]);
    let kinds = [
        ("host", to.as_mut_ptr().cast(), from.as_mut_ptr().cast()),
        ("device", device_memory(SIZE), device_memory(SIZE)),
        ("pinned", pinned_memory(SIZE, 0), pinned_memory(SIZE, 0)),
    ];
    let bytes = pattern(SIZE);
    for (name, direction, copy) in COPIES {
        for (to_kind, to, _) in kinds {
            for (from_kind, _, from) in kinds {
                let whole = |to, from: *mut c_void| unsafe { hipMemcpy(to, from, SIZE, hipMemcpyDefault) };
                assert_eq!(whole(from, bytes.as_ptr().cast_mut().cast()), hipSuccess);
                assert_eq!(whole(to, [0u8; SIZE].as_mut_ptr().cast()), hipSuccess);
                let expected = unsafe { hipMemcpy(to, from, 9, direction) };
                assert_eq!(whole(to, [0u8; SIZE].as_mut_ptr().cast()), hipSuccess);
                let answer = copy(to, at(from, 1), 9, stream);
                assert_eq!(answer, expected, "{name} from {from_kind} to {to_kind}");
                assert_eq!(hipStreamSynchronize(stream), hipSuccess);
                let moved = if answer == hipSuccess { &bytes[1..10] } else { &[0; 9] };
                let mut found = [0u8; SIZE];
                assert_eq!(whole(found.as_mut_ptr().cast(), to), hipSuccess);
                assert_eq!((&found[..9], &found[9..]), (moved, &[0; 7][..]), "{name}");
            }
        }
    }
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

#[test]
fn a_fill_reaches_just_its_elements() {
    const SIZE: usize = 40;
    let stream = stream(hipStreamNonBlocking);
    let (device, pinned) = (device_memory(SIZE), pinned_memory(SIZE, 0));
    for (name, width, fill) in FILLS {
        for (memory, first, count) in [device, pinned]
            .into_iter()
            .flat_map(|memory| (0..4).flat_map(move |first| (0..6).map(move |count| (memory, first, count))))
        {
            assert_eq!(unsafe { hipMemset(memory, 0xff, SIZE) }, hipSuccess);
            assert_eq!(fill(at(memory, first * width), VALUE, count, stream), hipSuccess, "{name}");
            assert_eq!(hipStreamSynchronize(stream), hipSuccess);
            let mut expected = [0xff; SIZE];
            for element in expected.chunks_exact_mut(width).skip(first).take(count) {
                element.copy_from_slice(&VALUE.to_le_bytes()[..width]);
            }
            assert_eq!(host_bytes(memory, SIZE), expected, "{name} of {count} from {first}");
        }
    }
    assert_eq!([hipFree(device), hipHostFree(pinned), hipStreamDestroy(stream)], [hipSuccess; 3]);
}

#[test]
fn wrong_copies_are_refused() {
    let (stream, wrong) = (stream(hipStreamNonBlocking), without_provenance_mut(3));
    let (one, other) = (device_memory(8), device_memory(8));
    let pinned = pinned_memory(8, 0);
    for (name, direction, copy) in COPIES {
        // Pinned memory passes for both sides, so that nothing else is wrong.
        let to = if direction == hipMemcpyDeviceToHost { pinned } else { one };
        let from = if direction == hipMemcpyHostToDevice { pinned } else { other };
        for (to, from, size, expected) in [
            (to, from, 8, hipSuccess),
            (to, from, 9, hipErrorInvalidValue),
            (to, from, usize::MAX, hipErrorInvalidValue),
            (at(to, 1), from, 8, hipErrorInvalidValue),
            (to, at(from, 1), 8, hipErrorInvalidValue),
            (null_mut(), from, 1, hipErrorInvalidValue),
            (to, null_mut(), 1, hipErrorInvalidValue),
            (null_mut(), null_mut(), 0, hipSuccess),
        ] {
            assert_eq!(copy(to, from, size, stream), expected, "{name} {to:?} {from:?} {size}");
        }
        let expected = if in_order(name) { hipErrorInvalidHandle } else { hipSuccess };
        assert_eq!(copy(to, from, 8, wrong), expected, "{name}");
    }
    assert_eq!([hipStreamSynchronize(stream), hipStreamDestroy(stream)], [hipSuccess; 2]);
}

#[test]
fn wrong_fills_are_refused_and_write_nothing() {
    let (stream, wrong) = (stream(hipStreamNonBlocking), without_provenance_mut(3));
    let device = device_memory(16);
    let mut host = [0u32; 4];
    let host = host.as_mut_ptr().cast();
    for (name, width, fill) in FILLS {
        for (to, count, expected) in [
            (device, 16 / width + 1, hipErrorInvalidValue),
            (at(device, width), 16 / width, hipErrorInvalidValue),
            (device, usize::MAX, hipErrorInvalidValue),
            (device, (usize::MAX / width).saturating_add(2), hipErrorInvalidValue),
            (host, 1, hipErrorInvalidValue),
            (null_mut(), 1, hipErrorInvalidValue),
            (null_mut(), 0, hipSuccess),
            (at(device, width / 2), 1, if width == 1 { hipSuccess } else { hipErrorInvalidValue }),
        ] {
            assert_eq!(fill(to, 0, count, stream), expected, "{name} {to:?} {count}");
        }
        let expected = if in_order(name) { hipErrorInvalidHandle } else { hipSuccess };
        assert_eq!(fill(device, 0, 1, wrong), expected, "{name}");
        assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    }
    assert_eq!(host_bytes(device, 16), [0; 16]);
    assert_eq!([hipFree(device), hipStreamDestroy(stream)], [hipSuccess; 2]);
}

#[test]
fn what_takes_a_stream_waits_for_its_turn_and_looks_again() {
    let stream = stream(hipStreamNonBlocking);
    let (from, to) = (pinned_memory(8, 0).cast::<u8>(), pinned_memory(8, 0).cast::<u8>());
    let read = |from: *mut u8| unsafe { from.read_volatile() };
    for (name, _, copy) in COPIES.into_iter().filter(|(name, ..)| in_order(name)) {
        unsafe { to.write(0) };
        pause(stream);
        assert_eq!(copy(to.cast(), from.cast(), 1, stream), hipSuccess);
        unsafe { from.write(7) };
        assert_eq!(read(to), 0, "{name}: {LATE}");
        resume(stream);
        assert_eq!((hipStreamSynchronize(stream), read(to)), (hipSuccess, 7), "{name}");
    }
    for (name, _, fill) in FILLS.into_iter().filter(|(name, ..)| in_order(name)) {
        unsafe { to.write(0) };
        let gone = device_memory(8);
        pause(stream);
        assert_eq!(fill(to.cast(), VALUE, 1, stream), hipSuccess);
        assert_eq!(read(to), 0, "{name}: {LATE}");
        assert_eq!(hipFreeAsync(gone, stream), hipSuccess);
        assert_eq!(fill(gone, VALUE, 2, stream), hipSuccess);
        resume(stream);
        assert_eq!((hipStreamSynchronize(stream), read(to)), (hipErrorIllegalAddress, 0x44), "{name}");
    }
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

#[test]
fn each_can_be_made_to_fail_by_its_bytes() {
    passes_in_process("each_can_be_made_to_fail_by_its_bytes", &[], || {
        let stream = stream(hipStreamNonBlocking);
        let (to, from) = (pinned_memory(64, 0), pinned_memory(64, 0));
        let plan = |name: &str| {
            let plan = CString::new(format!("{name}:hip=719@size=8")).unwrap();
            assert_eq!(unsafe { softrocm_hip_set_faults(plan.as_ptr(), null_mut(), 0) }, 0, "{name}");
        };
        for (name, _, copy) in COPIES {
            plan(name);
            assert_eq!([7, 8].map(|size| copy(to, from, size, stream).0), [0, 719], "{name}");
        }
        for (name, width, fill) in FILLS {
            plan(name);
            assert_eq!(
                [8 / width, 8].map(|count| fill(to, 0, count, stream).0 == 719),
                [true, width == 1],
                "{name}"
            );
        }
        assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    });
}
