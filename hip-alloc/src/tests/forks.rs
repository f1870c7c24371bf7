//! SND-16: a forked child can hold what it inherited, drop it, and get errors.

use core::ffi::c_void;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::{mem, ptr};
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;

use super::fake;
use super::fake_handles::release;
use super::probe::{begin, held};
use crate::{
    Access, Device, DeviceAttribute, DeviceBuffer, DeviceMemory, ErrorKind, HipError, InFlight, PinnedBuffer,
    RawBuffer, RegistrationHook, Removal, SetError, Stream, forked, leaked,
};

/// Ends the process if it is asked or dropped.
struct Forbidden;

// SAFETY: requires that Removed means removed; holds because it never returns.
unsafe impl RegistrationHook for Forbidden {
    fn deregister(&self, _base: *mut c_void) -> Removal {
        std::process::abort()
    }
}

/// Runs `check` in a forked child; true if it returned true there.
fn in_child(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: requires that the child does only what is safe after fork; holds because `check` does, except that it
    // allocates, which the C library allows.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1);
    if pid == 0 {
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or(false);
        // SAFETY: requires nothing; ends the child without exit handlers.
        unsafe { libc::_exit(if passed { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: requires a place for the status; holds because `status` is one.
    let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(waited, pid);
    status == 0
}

#[test]
fn a_child_gets_errors_and_its_drops_do_nothing() {
    fake::install();
    assert!(!forked());
    let mut buffer = Arc::new(DeviceBuffer::from_host(b"parent").unwrap());
    let hook = Arc::new(Forbidden);
    let attach = |memory: &Arc<DeviceBuffer>, hook: &Arc<Forbidden>| {
        let (set, access) = DeviceMemory::registrations(memory).unwrap();
        assert_eq!(access, Access::Shared);
        // SAFETY: requires shared access until the end or for ever; holds because the entry is detached below.
        unsafe { set.attach("test", access, memory.as_ptr(), 6, hook.clone(), || Ok::<(), ()>(())) }
    };
    attach(&buffer, &hook).unwrap();
    let mut pinned = Some(PinnedBuffer::from_slice(b"parent").unwrap());
    fake::calls();
    let passed = in_child(|| {
        let before = leaked();
        let forked_kind = |error: crate::Error| error.kind() == ErrorKind::Forked;
        let (set, _) = DeviceMemory::registrations(&buffer).unwrap();
        // SAFETY: requires a live guard; holds because this one was attached above and not ended.
        let detached = unsafe { set.detach("test", buffer.as_ptr(), || Ok::<(), ()>(())) };
        // SAFETY: as above.
        unsafe { set.abandon(buffer.as_ptr()) };
        let pinned_len = pinned.as_deref().map_or(1, <[u8]>::len);
        drop(pinned.take());
        let answers = [
            forked(),
            pinned_len == 0,
            PinnedBuffer::zeroed(0).is_err_and(forked_kind),
            Device::attribute(buffer.device(), DeviceAttribute::WARP_SIZE).is_err_and(forked_kind),
            Device::count().is_err_and(forked_kind),
            Device::current().is_err_and(forked_kind),
            DeviceBuffer::new(1).is_err_and(forked_kind),
            DeviceBuffer::new(0).is_err_and(forked_kind),
            buffer.to_vec().is_err_and(forked_kind),
            matches!(attach(&buffer, &hook), Err(SetError::Refused(error)) if error.kind() == ErrorKind::Forked),
            matches!(detached, Err(SetError::Refused(error)) if error.kind() == ErrorKind::Forked),
            HipError::OUT_OF_MEMORY.to_string() == "HIP error 2",
            // SAFETY: requires that a library may be loaded; none is.
            unsafe { crate::load("/nonexistent") }.is_err_and(forked_kind),
        ];
        let nothing = RawBuffer { allocation: ptr::null_mut(), offset: 0, len: 0, device: buffer.device() };
        // SAFETY: requires null parts or memory of one's own; holds because they are null.
        let nothing = unsafe { DeviceBuffer::from_raw(nothing) };
        let Some(inherited) = Arc::get_mut(&mut buffer) else { return false };
        let (error, inherited) = mem::replace(inherited, nothing).into_raw().unwrap_err().into_parts();
        let into_raw = forked_kind(error);
        let failed = inherited.free().unwrap_err();
        let free = failed.error().kind() == ErrorKind::Forked;
        drop(failed);
        answers.iter().all(|answer| *answer)
            && into_raw
            && free
            && leaked() == before
            && fake::calls().is_empty()
            && Arc::strong_count(&hook) == 2
    });
    assert!(passed);
    assert!(!forked());
    assert_eq!(buffer.to_vec().unwrap(), b"parent");
    assert_eq!(pinned.as_deref(), Some(&b"parent"[..]));
    let (set, _) = DeviceMemory::registrations(&buffer).unwrap();
    // SAFETY: requires a live guard; holds because this one was attached above and not ended here.
    unsafe { set.detach("test", buffer.as_ptr(), || Ok::<(), ()>(())) }.unwrap();
}

#[test]
fn a_scope_that_ends_in_a_child_neither_waits_nor_aborts_nor_drops_what_was_kept() {
    fake::install();
    let stream = Stream::new().unwrap();
    let kept = Arc::new(Forbidden);
    let (mut first, second) =
        (DeviceBuffer::new_on(&stream, 8).unwrap(), DeviceBuffer::new_on(&stream, 8).unwrap());
    // Both processes leave the scope; the child is asked how after that.
    let (child, inside) = stream.scope(|scope| {
        scope.keep(Box::new(kept.clone()));
        fake::calls();
        // SAFETY: requires that the child does only what is safe after fork; holds because it ends below, before it returns
        // to libtest, and allocates at most, which the C library allows.
        let pid = unsafe { libc::fork() };
        assert_ne!(pid, -1);
        (pid, scope.synchronize())
    });
    if child == 0 {
        let forked_kind = |error: &crate::Error| error.kind() == ErrorKind::Forked;
        let before = leaked();
        let in_scope = stream.scope(|scope| scope.fill(first.as_mut_slice(), 1));
        let owned = stream.fill(second, .., 1).wait();
        let passed = inside.is_err_and(|error| forked_kind(&error))
            && in_scope.is_err_and(|error| forked_kind(&error))
            && owned.is_err_and(|failed| forked_kind(failed.error()))
            && DeviceBuffer::new_on(&stream, 8).is_err_and(|error| forked_kind(&error))
            && PinnedBuffer::zeroed(8).is_err_and(|error| forked_kind(&error))
            && leaked() == before
            && fake::calls().is_empty()
            && Arc::strong_count(&kept) == 2;
        // SAFETY: requires nothing; ends the child without exit handlers.
        unsafe { libc::_exit(if passed { 0 } else { 1 }) };
    }
    assert!(inside.is_ok());
    let mut status = 0;
    // SAFETY: requires a place for the status; holds because `status` is one.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[test]
fn operations_end_as_forked_in_a_child_and_go_on_in_the_parent() {
    let stream = held();
    let in_flight = InFlight::new(1);
    let operations = [begin(&stream, in_flight.try_acquire()), begin(&stream, None), begin(&stream, None)];
    let [(waited, parent), (asked, _), (polled, _)] = operations;
    let (mut dropped, _) = begin(&stream, None);
    assert!(pin!(&mut dropped).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let mut waited = Some(waited);
    let mut others = Some((asked, polled, dropped));
    let passed = in_child(|| {
        let before = leaked();
        let forked_kind = |error: crate::Error| error.kind() == ErrorKind::Forked;
        let (Some(waited), Some((asked, mut polled, dropped))) = (waited.take(), others.take()) else {
            return false;
        };
        let complete = asked.is_finished();
        drop(dropped);
        let (own, own_dropped) = begin(&stream, in_flight.try_acquire());
        let poll = pin!(&mut polled).poll(&mut Context::from_waker(Waker::noop()));
        let answers = [
            complete,
            waited.wait().is_err_and(forked_kind),
            asked.try_wait().is_ok_and(|lost| lost.is_err_and(forked_kind)),
            matches!(poll, Poll::Ready(Err(error)) if error.kind() == ErrorKind::Forked),
            own.wait().is_err_and(forked_kind),
            // What was never started comes back: `finish` dropped it.
            own_dropped.try_recv().is_ok(),
            // There is always a place.
            in_flight.in_use() == 0 && in_flight.try_acquire().is_some(),
        ];
        drop((in_flight.acquire(), in_flight.acquire()));
        // What was not started never was in the child either.
        drop(begin(&stream, None));
        parent.try_recv() == Err(TryRecvError::Empty)
            && leaked() == before
            && answers.iter().all(|answer| *answer)
    });
    assert!(passed);
    assert_eq!(in_flight.in_use(), 1);
    release(&stream);
    assert!(waited.unwrap().wait().is_ok());
    let (asked, polled, dropped) = others.unwrap();
    assert!(asked.wait().is_ok() && polled.wait().is_ok() && dropped.wait().is_ok());
    assert_eq!(in_flight.in_use(), 0);
}
