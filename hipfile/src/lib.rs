//! Direct file I/O to AMD GPU memory, over AMD's hipFile library.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let weights = std::env::temp_dir().join(format!("hipfile-doc-lib-{}", std::process::id()));
//! # std::fs::write(&weights, [7; 10_007])?;
//! let driver = hipfile::Driver::open()?;
//! let file = hipfile::OpenOptions::new().read(true).open(&driver, &weights)?;
//! let mut memory = hipfile::alloc::DeviceBuffer::new(1 << 20)?;
//! let mut registered = driver.register(&mut memory)?;
//! let n = file.read_at(&mut registered, 0)?; // short at the end of the file, like pread
//! # assert_eq!(n, 10_007);
//! # std::fs::remove_file(&weights)?;
//! # Ok(())
//! # }
//! ```
//!
//! It needs 64-bit Linux and a ROCm with libhipfile 0.2 or later: when it is built, or, without feature `link`, only when it
//! [runs](#linked-or-loaded). Where there is none, or no GPU, the software ROCm of the
//! [repository](https://github.com/hipfile-rs/hipfile-rs) takes its place; `cargo xtask demo` in a checkout shows that. The
//! pages in its `docs/src` say how to install, what takes the fast path, and why all of this is sound.
//!
//! # What there is
//! ```text
//!   Driver::open ─────────────────────────────────────────────────────── libhipfile is open
//!      │
//!      ├─► properties, set_…                                             limits, where the library has them
//!      ├─► OpenOptions::open, FileHandle::new ──► FileHandle             a descriptor, registered
//!      ├─► OpenOptions::replace ──► Replacement ─────┤                   a new one, put in the place of another by commit
//!      │                                             │
//!      │                                             ├─ read_at, read_exact_at    file → device memory
//!      │                                             ├─ write_at, write_all_at    device memory → file
//!      │                                             ├─ read_host_at, write_host_at    file ↔ host memory
//!      │                                             ├─ explain            the path one would take, and why
//!      │                                             ├─ read_at_after             … once a stream or event is waited for
//!      │                                             └─ read_at_in(&scope)        … on a stream, until the scope ends
//!      │                transfer::Options ── read_file_into …           many calls by several threads, one report
//!      ├─► Batch::new ◄── submit ── Request (Arc<FileHandle>, Region)    many transfers that own all they use
//!      ├─► RegisteredStream ◄── submit ─┘ └─► OwnedTransfer ── wait, .await   … on a stream: read_owned, …
//!      │
//!      └─► register ──► Registered<M> ──► slice, slice_mut              ranges of device memory, checked
//!            ▲             │                         ▲  ▲
//!            │             └─► into_regions ► Region ┘  │               owned pieces of it, to store and send
//!            │                 DeviceBuffer::slice ─────┘               or not registered
//!   hip_alloc::DeviceBuffer
//!
//!   Files and registrations hold the driver; slices borrow their memory. Drop undoes each in any order.
//! ```
//!
//! # What keeps this safe
//! 1. A guard takes its memory by value, so memory can't be freed, moved or borrowed mutably while it is registered.
//! 2. Forgetting a guard leaks: memory that can't be deregistered is never freed, and [`alloc::leaked`] counts it.
//! 3. Reads need exclusive borrows, writes shared ones; ranges are checked against lengths that Rust knows. Regions are made
//!    by splitting only, so no two have a byte in common.
//! 4. A file owns its descriptor, deregisters it first and closes it after.
//! 5. Everything holds the driver, and each open has exactly one close.
//! 6. Offsets, lengths and fork are checked before C is called; no bytes, no call.
//! 7. One function turns C's answers into results, for every number there is; counts above the request are errors.
//! 8. Only one module names functions of C, each called through a table that lives for ever.
//! 9. The thread's current HIP device is what it was after every call.
//! 10. What is on a stream borrows for a scope, which waits in our frame, or owns all it uses until the stream has passed it.
//!     What can't be proven to have passed is leaked and counted.
//! 11. Nothing here panics, in Drop or elsewhere.
//!
//! # Linked or loaded
//! With feature `link` (default) the program is linked with libhipfile and HIP, found at build time. Without it they are
//! loaded at first use: what is in the process already, else from `ROCM_PATH`, `/opt/rocm/core-*`, `/opt/rocm`, the
//! system. [`load`] names the file instead. What a version of libhipfile lacks is an error of kind
//! [`Unsupported`](ErrorKind::Unsupported), and [`supports`] asks.
//!
//! # Elements of a type
//! With feature `bytemuck` device memory can be used as elements of a type that is plain data: `typed` of
//! [`alloc::DeviceSlice`].
//!
//! # Tracing
//! With feature `tracing` each operation has a span of the crate [`tracing`](https://docs.rs/tracing), target `hipfile`:
//! opening and registering, each transfer with its file, offset, bytes asked for and done, and how it failed. The example
//! `tracing` prints them. Where nobody listens a transfer takes a few instructions more; without the feature
//! nothing of it is compiled. What a subscriber panics with goes no further, and in a forked child it is not called.
#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("hipfile runs on Linux only: AMD's libhipfile exists for no other system");

mod after;
mod alignment;
mod batch;
mod cause;
mod decode;
mod driver;
mod errno;
mod error;
mod explain;
mod feature;
mod ffi;
mod file;
mod file_offset;
mod handle_type;
mod host;
mod in_step;
mod intervals;
mod io;
mod io_stream;
mod kind;
mod late;
mod library;
mod memory;
mod on_stream;
mod op_error;
mod open_options;
mod outcome;
mod owned;
mod parameter;
mod policy;
mod preallocate;
mod properties;
mod property_flags;
mod quantity;
mod quietly;
mod region;
mod regions;
mod register;
mod registered;
mod registered_stream;
mod registry;
mod replacement;
mod request;
mod scoped;
mod size;
mod slice;
mod slice_mut;
mod span;
mod stats;
mod stream_flags;
mod system;
mod temporary;
mod trace;
pub mod transfer;
mod version;

pub use hip_alloc as alloc;
pub use hip_alloc::Operation;
pub use hipfile_sys as sys;

pub use after::After;
pub use alignment::Alignment;
pub use batch::{Batch, Completion};
pub use driver::Driver;
pub use error::{Error, Failed, Result};
pub use explain::{Explanation, Predicted, Reason};
pub use feature::{Feature, supports};
pub use file::FileHandle;
pub use handle_type::FileHandleType;
pub use io_stream::IoStream;
pub use kind::ErrorKind;
pub use late::LateValues;
pub use library::{library_path, load};
pub use memory::{ReadInto, WriteFrom};
pub use op_error::{OpError, UnknownCode};
pub use open_options::OpenOptions;
pub use outcome::{Done, OwnedTransfer, TransferError};
pub use parameter::{Parameter, ParameterValue};
pub use policy::Policy;
pub use preallocate::Preallocated;
pub use properties::Properties;
pub use property_flags::{ControlFlags, FeatureFlags, StorageFlags};
pub use region::Region;
pub use regions::Regions;
pub use register::RawMemory;
pub use registered::Registered;
pub use registered_stream::RegisteredStream;
pub use replacement::Replacement;
pub use request::Request;
pub use scoped::ScopedTransfer;
pub use slice::RegisteredSlice;
pub use slice_mut::RegisteredSliceMut;
pub use stats::{
    DeviceStats, IoStats, Observed, SizeHistograms, Stats, device_stats, size_histograms, stats,
};
pub use stream_flags::StreamFlags;
pub use version::{Version, version};

#[cfg(test)]
mod auto_traits;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
