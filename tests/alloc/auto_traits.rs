//! SND-19: which types may cross threads.

use std::panic::{RefUnwindSafe, UnwindSafe};

use hip_alloc::{
    Acquire, CopyError, Device, DeviceAttribute, DeviceBuffer, DeviceGuard, DeviceSlice, DeviceSliceMut,
    Error, ErrorKind, Event, Failed, HipError, InFlight, Leaked, MemoryInfo, Operation, OwnedCopy,
    PinnedBuffer, Place, RawBuffer, Scope, Stream, StreamOptions, StreamRef,
};

/// Compiles only if `$type` is not `$trait`: if it were, two impls would fit and `_` could not be inferred.
macro_rules! is_not {
    ($type:ty, $trait:ident) => {
        const _: () = {
            trait Ambiguous<A> {
                fn here() {}
            }
            impl<T: ?Sized> Ambiguous<()> for T {}
            impl<T: ?Sized + $trait> Ambiguous<u8> for T {}
            let _ = <$type as Ambiguous<_>>::here;
        };
    };
}

is_not!(DeviceGuard, Send);
is_not!(DeviceGuard, Sync);
// It waits in the frame that opened it.
is_not!(Scope<'static, 'static>, Send);
is_not!(Scope<'static, 'static>, Sync);
// Plain addresses without an owner, as raw pointers are.
is_not!(RawBuffer, Send);
is_not!(RawBuffer, Sync);
// One owner, one exclusive borrow.
is_not!(DeviceBuffer, Clone);
is_not!(Operation<()>, Clone);
is_not!(Place, Clone);
is_not!(PinnedBuffer, Clone);
// What it gives back decides.
is_not!(CopyError<RawBuffer>, Send);
is_not!(Failed<RawBuffer>, Send);
is_not!(DeviceSliceMut<'static>, Clone);
is_not!(Event, Clone);

const fn threads<T: Send + Sync>() {}
const fn unwinds<T: UnwindSafe + RefUnwindSafe>() {}

const _: () = {
    threads::<CopyError<DeviceBuffer>>();
    threads::<Acquire>();
    threads::<Device>();
    threads::<DeviceAttribute>();
    threads::<DeviceBuffer>();
    threads::<DeviceSlice<'static>>();
    threads::<DeviceSliceMut<'static>>();
    threads::<Error>();
    threads::<ErrorKind>();
    threads::<Event>();
    // Errors have to be, whatever they give back.
    threads::<Failed<std::cell::Cell<u8>>>();
    threads::<HipError>();
    threads::<InFlight>();
    threads::<Leaked>();
    threads::<MemoryInfo>();
    threads::<Operation<*const ()>>();
    threads::<OwnedCopy<DeviceBuffer>>();
    threads::<Place>();
    threads::<PinnedBuffer>();
    threads::<Stream>();
    threads::<StreamOptions>();
    threads::<StreamRef<'static>>();
    unwinds::<DeviceSlice<'static>>();
    unwinds::<Error>();
};
