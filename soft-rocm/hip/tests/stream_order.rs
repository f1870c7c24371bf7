//! Operations on memory in the order of streams, and the order that the default stream keeps with others.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "lists of calls; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use soft_rocm_hip::header::*;
use support::streams::{Shared, launch, pause, resume, stream};
use support::{at, device_bytes, device_memory, host_bytes, passes_in_process, pinned_memory};

const DEFAULT: hipStream_t = ptr::null_mut();

fn copy(dst: *mut c_void, src: *const c_void, len: usize, stream: hipStream_t) -> hipError_t {
    // SAFETY: requires host sides that stay until the stream was waited for; holds for every call below.
    unsafe { hipMemcpyAsync(dst, src, len, hipMemcpyDefault, stream) }
}

/// For tests that hold up the default stream, or use memory that is freed, which could be another test's by then.
fn alone(test: &str, body: impl FnOnce()) {
    passes_in_process(test, &[], body);
}

/// HF-HIP-30
#[test]
fn the_default_stream_and_blocking_ones_wait_for_each_other() {
    alone("the_default_stream_and_blocking_ones_wait_for_each_other", || {
        let (first, second) = (stream(hipStreamDefault), stream(hipStreamDefault));
        let log = Mutex::new(Vec::new());
        let note = |stream, number| {
            let log = &log;
            launch(stream, move || log.lock().unwrap().push(number));
        };
        pause(first);
        note(first, 1);
        note(DEFAULT, 2);
        note(second, 3);
        note(DEFAULT, 4);
        for stream in [first, second, DEFAULT] {
            assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
        }
        resume(first);
        assert_eq!(hipStreamSynchronize(DEFAULT), hipSuccess);
        assert_eq!(*log.lock().unwrap(), [1, 2, 3, 4]);
    });
}

/// HF-HIP-30
#[test]
fn other_streams_and_blocking_ones_among_themselves_do_not_wait() {
    alone("other_streams_and_blocking_ones_among_themselves_do_not_wait", || {
        let (first, second) = (stream(hipStreamDefault), stream(hipStreamDefault));
        let free = stream(hipStreamNonBlocking);
        pause(first);
        launch(first, || ());
        launch(second, || ());
        assert_eq!(hipStreamSynchronize(second), hipSuccess);
        launch(DEFAULT, || ());
        launch(free, || ());
        assert_eq!(hipStreamSynchronize(free), hipSuccess);
        assert_eq!([hipStreamQuery(first), hipStreamQuery(DEFAULT)], [hipErrorNotReady; 2]);
        resume(first);
        // A wait for the default stream is one for blocking streams, and not for others.
        assert_eq!(hipStreamSynchronize(DEFAULT), hipSuccess);
        pause(free);
        launch(free, || ());
        assert_eq!([hipStreamSynchronize(DEFAULT), hipStreamQuery(DEFAULT)], [hipSuccess; 2]);
        pause(first);
        launch(first, || ());
        assert_eq!(hipStreamQuery(DEFAULT), hipErrorNotReady);
    });
}

#[test]
fn blocking_calls_wait_for_the_default_stream_and_frees_for_all() {
    alone("blocking_calls_wait_for_the_default_stream_and_frees_for_all", || {
        let (blocking, free) = (stream(hipStreamDefault), stream(hipStreamNonBlocking));
        let device = device_bytes(b"abc");
        let pinned = pinned_memory(1, 0);
        let after = |stream: hipStream_t, call: &(dyn Fn() -> hipError_t + Sync)| {
            let (sender, done) = mpsc::channel();
            pause(stream);
            launch(stream, move || sender.send(()).unwrap());
            thread::scope(|scope| {
                let call = scope.spawn(move || {
                    assert_eq!(call(), hipSuccess);
                    done.try_recv()
                });
                thread::sleep(std::time::Duration::from_millis(20));
                resume(stream);
                assert_eq!(call.join().unwrap(), Ok(()), "the call did not wait");
            });
        };
        let (device, pinned) = (Shared(device), Shared(pinned));
        // SAFETY: requires that nobody uses the range; holds.
        after(blocking, &|| unsafe { hipMemset(device.get(), 1, 3) });
        // SAFETY: as above.
        after(blocking, &|| unsafe { hipMemsetD32(device.get(), 1, 0) });
        after(blocking, &|| {
            assert_eq!(host_bytes(device.get(), 3), [1; 3]);
            hipSuccess
        });
        after(free, &|| hipDeviceSynchronize());
        after(free, &|| hipHostFree(pinned.get()));
        after(free, &|| hipFree(device.get()));
        after(free, &|| hipDeviceReset());
    });
}

/// HF-HIP-26
#[test]
fn copies_and_fills_happen_when_the_stream_reaches_them() {
    let stream = stream(hipStreamNonBlocking);
    let device = device_memory(16);
    let source = pinned_memory(16, 0).cast::<u8>();
    // SAFETY: requires a writable range; holds.
    unsafe { source.copy_from(b"0123456789abcdef".as_ptr(), 16) };
    let mut back = [0u8; 16];
    pause(stream);
    assert_eq!(copy(device, source.cast(), 16, stream), hipSuccess);
    // SAFETY: requires that nobody else uses the range; holds.
    unsafe {
        assert_eq!(hipMemsetAsync(device, b'x'.into(), 2, stream), hipSuccess);
        assert_eq!(hipMemsetD32Async(at(device, 4), 0x2e2d_2c2b, 2, stream), hipSuccess);
    }
    assert_eq!(copy(at(device, 14), device, 2, stream), hipSuccess);
    assert_eq!(copy(back.as_mut_ptr().cast(), device, 16, stream), hipSuccess);
    // SAFETY: requires a writable byte; holds.
    unsafe { source.wrapping_add(13).write(b'D') };
    assert_eq!(back, [0; 16]);
    resume(stream);
    assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    assert_eq!(&back, b"xx23+,-.+,-.cDxx");
    let mut again = [0u8; 16];
    // SAFETY: requires a writable range; holds.
    let copied =
        unsafe { hipMemcpyWithStream(again.as_mut_ptr().cast(), device, 16, hipMemcpyDeviceToHost, stream) };
    assert_eq!((copied, again), (hipSuccess, back));
    assert_eq!([hipFree(device), hipHostFree(source.cast()), hipStreamDestroy(stream)], [hipSuccess; 3]);
}

#[test]
fn arguments_are_checked_at_submission() {
    let stream = stream(hipStreamNonBlocking);
    let device = device_memory(16);
    let mut host = [0u8; 32];
    let host = host.as_mut_ptr().cast::<c_void>();
    // SAFETY: requires usable ranges; holds as none is used.
    unsafe {
        for (dst, src, len, kind, error) in [
            (device, host, 17, hipMemcpyHostToDevice, hipErrorInvalidValue),
            (device, host, 16, hipMemcpyDeviceToHost, hipErrorInvalidValue),
            (device, host, 16, hipMemcpyKind(9), hipErrorInvalidMemcpyDirection),
            (ptr::null_mut(), host, 1, hipMemcpyDefault, hipErrorInvalidValue),
        ] {
            assert_eq!(hipMemcpyAsync(dst, src, len, kind, stream), error);
            assert_eq!(hipMemcpyWithStream(dst, src, len, kind, stream), error);
        }
        assert_eq!(hipMemsetAsync(device, 0, 17, stream), hipErrorInvalidValue);
        assert_eq!(hipMemsetAsync(host, 0, 1, stream), hipErrorInvalidValue);
        assert_eq!(hipMemsetD32Async(at(device, 1), 0, 1, stream), hipErrorInvalidValue);
        assert_eq!(hipMemsetD32Async(device, 0, 5, stream), hipErrorInvalidValue);
        assert_eq!(hipMemsetD32Async(device, 0, usize::MAX, stream), hipErrorInvalidValue);
        assert_eq!(hipMemsetD32(at(device, 2), 0, 1), hipErrorInvalidValue);
        let wrong = ptr::without_provenance_mut(3);
        assert_eq!(hipMemcpyAsync(device, host, 1, hipMemcpyDefault, wrong), hipErrorInvalidHandle);
        assert_eq!(hipMemcpyWithStream(device, host, 1, hipMemcpyDefault, wrong), hipErrorInvalidHandle);
        assert_eq!(hipMemsetAsync(device, 0, 1, wrong), hipErrorInvalidHandle);
        assert_eq!(hipFreeAsync(device, wrong), hipErrorInvalidHandle);
        assert_eq!(hipFreeAsync(at(device, 1), stream), hipErrorInvalidValue);
        assert_eq!(hipFreeAsync(host, stream), hipErrorInvalidValue);
        assert_eq!(hipFreeAsync(ptr::null_mut(), stream), hipSuccess);
        assert_eq!(hipMemcpyAsync(ptr::null_mut(), ptr::null(), 0, hipMemcpyDefault, stream), hipSuccess);
    }
    assert_eq!([hipStreamSynchronize(stream), hipFree(device), hipStreamDestroy(stream)], [hipSuccess; 3]);
}

#[test]
fn an_operation_that_fails_later_is_told_once() {
    alone("an_operation_that_fails_later_is_told_once", || {
        let stream = stream(hipStreamNonBlocking);
        let device = device_memory(16);
        let mut host = [7u8; 16];
        pause(stream);
        assert_eq!(hipFreeAsync(device, stream), hipSuccess);
        assert_eq!(copy(host.as_mut_ptr().cast(), device, 16, stream), hipSuccess);
        assert_eq!(hipFreeAsync(device, stream), hipSuccess);
        resume(stream);
        assert_eq!(hipStreamSynchronize(stream), hipErrorIllegalAddress);
        assert_eq!([hipStreamSynchronize(stream), hipStreamQuery(stream)], [hipSuccess; 2]);
        assert_eq!(host, [7; 16]);
        assert_eq!(hipFree(device), hipErrorInvalidValue);
        assert_eq!(hipStreamDestroy(stream), hipSuccess);
    });
}

#[test]
fn memory_can_be_allocated_and_freed_in_the_order_of_a_stream() {
    alone("memory_can_be_allocated_and_freed_in_the_order_of_a_stream", || {
        let stream = stream(hipStreamNonBlocking);
        let mut device = ptr::null_mut();
        // SAFETY: requires NULL or a writable place; holds.
        unsafe {
            assert_eq!(hipMallocAsync(&mut device, 16, stream), hipSuccess);
            assert_eq!(hipMallocAsync(ptr::null_mut(), 16, stream), hipErrorInvalidValue);
            let mut none = device;
            assert_eq!(hipMallocAsync(&mut none, 0, stream), hipSuccess);
            assert!(none.is_null());
            assert_eq!(hipMallocAsync(&mut none, usize::MAX, stream), hipErrorOutOfMemory);
            assert_eq!(hipMallocAsync(&mut none, 1, ptr::without_provenance_mut(3)), hipErrorInvalidHandle);
        }
        let mut back = [0u8; 2];
        pause(stream);
        assert_eq!(copy(device, b"ab".as_ptr().cast(), 2, stream), hipSuccess);
        assert_eq!(copy(back.as_mut_ptr().cast(), device, 2, stream), hipSuccess);
        assert_eq!(hipFreeAsync(device, stream), hipSuccess);
        resume(stream);
        assert_eq!(hipStreamSynchronize(stream), hipSuccess);
        assert_eq!(&back, b"ab");
        assert_eq!(hipFree(device), hipErrorInvalidValue);
        assert_eq!(hipStreamDestroy(stream), hipSuccess);
    });
}

/// HF-HIP-31
#[test]
fn a_stream_waits_for_a_value_that_the_host_writes() {
    let stream = stream(hipStreamNonBlocking);
    let pinned = pinned_memory(16, 0);
    // SAFETY: requires aligned memory that lives; holds until it is freed below.
    let word = unsafe { AtomicU32::from_ptr(pinned.cast()) };
    // SAFETY: as above.
    let long = unsafe { AtomicU64::from_ptr(at(pinned, 8).cast()) };
    // SAFETY: requires memory that lives; holds.
    unsafe {
        assert_eq!(hipStreamWaitValue32(stream, pinned, 5, hipStreamWaitValueGte, u32::MAX), hipSuccess);
        assert_eq!(hipStreamWriteValue32(stream, pinned, 77, 0), hipSuccess);
        let mask = 0xff << 40;
        assert_eq!(
            hipStreamWaitValue64(stream, at(pinned, 8), 3 << 40, hipStreamWaitValueEq, mask),
            hipSuccess
        );
        assert_eq!(hipStreamWriteValue64(stream, at(pinned, 8), 1 << 50, 0), hipSuccess);
    }
    word.store(4, Ordering::SeqCst);
    assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
    word.store(6, Ordering::SeqCst);
    while word.load(Ordering::SeqCst) != 77 {
        thread::yield_now();
    }
    assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
    long.store(3 << 40 | 12345, Ordering::SeqCst);
    assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    assert_eq!(long.load(Ordering::SeqCst), 1 << 50);
    assert_eq!([hipHostFree(pinned), hipStreamDestroy(stream)], [hipSuccess; 2]);
}

/// HF-HIP-31
#[test]
fn a_stream_waits_for_a_value_in_device_memory_that_another_writes() {
    let (first, second) = (stream(hipStreamNonBlocking), stream(hipStreamNonBlocking));
    let device = device_bytes(&[0; 8]);
    let done = AtomicU32::new(0);
    // SAFETY: requires memory that lives; holds.
    unsafe {
        assert_eq!(hipStreamWaitValue64(first, device, 1, hipStreamWaitValueAnd, u64::MAX), hipSuccess);
        launch(first, || done.store(1, Ordering::SeqCst));
        pause(second);
        assert_eq!(hipStreamWriteValue64(second, device, 3, 0), hipSuccess);
    }
    assert_eq!(hipStreamQuery(first), hipErrorNotReady);
    resume(second);
    assert_eq!(hipStreamSynchronize(first), hipSuccess);
    assert_eq!((done.load(Ordering::SeqCst), &*host_bytes(device, 8)), (1, &3u64.to_ne_bytes()[..]));
    assert_eq!([hipFree(device), hipStreamDestroy(first), hipStreamDestroy(second)], [hipSuccess; 3]);
}

/// HF-HIP-31
#[test]
fn values_to_wait_for_are_checked() {
    let stream = stream(hipStreamNonBlocking);
    let device = device_memory(16);
    let mut host = 0u64;
    let host = (&raw mut host).cast::<c_void>();
    let null = ptr::null_mut();
    // SAFETY: requires memory that lives; holds as none is used.
    unsafe {
        for (address, flags) in [(null, 0), (host, 0), (at(device, 1), 0), (at(device, 16), 0), (device, 4)] {
            assert_eq!(hipStreamWaitValue32(stream, address, 0, flags, u32::MAX), hipErrorInvalidValue);
            assert_eq!(hipStreamWaitValue64(stream, address, 0, flags, u64::MAX), hipErrorInvalidValue);
            assert_eq!(hipStreamWriteValue32(stream, address, 0, flags), hipErrorInvalidValue);
            assert_eq!(hipStreamWriteValue64(stream, address, 0, flags), hipErrorInvalidValue);
        }
        assert_eq!(hipStreamWriteValue64(stream, at(device, 4), 0, 0), hipErrorInvalidValue);
        assert_eq!(hipStreamWriteValue32(stream, at(device, 4), 0, 0), hipSuccess);
        let wrong = ptr::without_provenance_mut(3);
        assert_eq!(hipStreamWaitValue32(wrong, device, 0, 0, u32::MAX), hipErrorInvalidHandle);
        assert_eq!(hipStreamWriteValue64(wrong, device, 0, 0), hipErrorInvalidHandle);
    }
    let mut can = 0;
    // SAFETY: requires a writable place; holds, it is a local.
    let asked = unsafe { hipDeviceGetAttribute(&mut can, hipDeviceAttributeCanUseStreamWaitValue, 0) };
    assert_eq!((asked, can), (hipSuccess, 1));
    assert_eq!([hipStreamSynchronize(stream), hipFree(device), hipStreamDestroy(stream)], [hipSuccess; 3]);
}

#[test]
fn a_value_whose_memory_goes_ends_the_wait_with_an_error() {
    alone("a_value_whose_memory_goes_ends_the_wait_with_an_error", || {
        let (stream, other) = (stream(hipStreamNonBlocking), stream(hipStreamNonBlocking));
        let device = device_bytes(&[0; 8]);
        // SAFETY: requires memory that lives; does not hold later, which is answered with an error.
        let waits = unsafe { hipStreamWaitValue64(stream, device, 1, hipStreamWaitValueEq, u64::MAX) };
        assert_eq!(waits, hipSuccess);
        assert_eq!(hipFreeAsync(device, other), hipSuccess);
        assert_eq!(hipStreamSynchronize(stream), hipErrorIllegalAddress);
        assert_eq!([hipStreamDestroy(stream), hipStreamDestroy(other)], [hipSuccess; 2]);
    });
}
