//! Which types may cross threads, asserted by the compiler. SND-19.

use std::cell::Cell;
use std::ffi::{OsString, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

use hip_alloc::{Device, DeviceBuffer, DeviceMemory};

use crate::*;

const fn send<T: Send>() {}
const fn sync<T: Sync>() {}
const fn unpin<T: Unpin>() {}

macro_rules! send_and_sync {
    ($($type:ty)*) => {
        const _: () = {
            $(send::<$type>(); sync::<$type>(); unpin::<$type>();)*
        };
    };
}

/// Does not compile if the type has the trait: the call would then have two candidates.
macro_rules! lacks {
    ($($type:ty: $trait:ident)*) => {$(
        const _: fn() = || {
            trait Candidate<Which> {
                fn call() {}
            }
            impl<T: ?Sized> Candidate<()> for T {}
            struct Second;
            impl<T: ?Sized + $trait> Candidate<Second> for T {}
            <$type as Candidate<_>>::call()
        };
    )*};
}

send_and_sync! {
    Alignment Completion Done Driver Error ErrorKind Feature FileHandle FileHandleType OpError
    OpenOptions Preallocated RawMemory Region Regions RegisteredSlice<'static> RegisteredSliceMut<'static> RegisteredStream Replacement
    ScopedTransfer Stats StreamFlags TransferError IoStats UnknownCode LateValues Version
    transfer::CancelToken transfer::Ended transfer::Job transfer::Progress transfer::Report transfer::Stopped
    ControlFlags DeviceStats Explanation Policy Predicted Reason FeatureFlags Observed Parameter<OsString> Properties SizeHistograms StorageFlags
    Failed<Vec<Request>> Failed<Registered<DeviceBuffer>>
    Registered<DeviceBuffer> Registered<&'static mut DeviceBuffer> Registered<Arc<DeviceBuffer>> Registered<RawMemory>
}

/// Memory that stays on its thread.
struct Local(DeviceBuffer, PhantomData<*const ()>);

// SAFETY: requires a stable description of memory that goes with the value and is written through `&mut` only; holds for
// the buffer inside.
#[allow(unsafe_code, reason = "describes the buffer inside")]
unsafe impl DeviceMemory for Local {
    fn as_ptr(&self) -> *mut c_void {
        self.0.as_ptr()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn device(&self) -> Device {
        self.0.device()
    }
}

/// Memory that moves between threads but is not shared.
struct Unshared(DeviceBuffer, PhantomData<Cell<()>>);

// SAFETY: requires a stable description of memory that goes with the value and is written through `&mut` only; holds for
// the buffer inside.
#[allow(unsafe_code, reason = "describes the buffer inside")]
unsafe impl DeviceMemory for Unshared {
    fn as_ptr(&self) -> *mut c_void {
        self.0.as_ptr()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn device(&self) -> Device {
        self.0.device()
    }
}

lacks! {
    Registered<Local>: Send
    Registered<Local>: Sync
    Registered<Unshared>: Sync
    RegisteredSliceMut<'static>: Clone
    Batch: Sync
    Request: Clone
    FileHandle: Clone
    Driver: Copy
    Region: Clone
}

const _: () = {
    send::<Registered<Unshared>>();
    send::<Batch>();
    send::<Request>();
    send::<OwnedTransfer>();
    send::<transfer::Options<'static>>();
    unpin::<OwnedTransfer>();
};
