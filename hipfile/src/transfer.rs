//! Large and scattered transfers: many calls by several threads, with one report.
//!
//! ```text
//!   Options ── read_file_into, write_file_from ──────► Report      one file, one memory
//!      │   ── read_files_into, write_files_from ────► Report      many parts
//!      │                                         └──► Stopped     an Error, and the Report of what moved before it
//!      │   ── copy_file ─────────────────────────────┘              from file to file
//!      │   ── spawn ── Job ── wait, .await ─► Ended                 owns files and regions
//!      └─ threads, chunk, deadline, cancel, progress
//! ```
//!
//! A transfer is cut into chunks, which the threads claim one after the other; so a slow chunk holds nobody up. Where a
//! part does not begin or end as the file's direct I/O needs it, what does lies in chunks of its own, and the few bytes
//! around it go through host memory: an odd offset or length keeps none of the rest off the fast path. Only if the memory
//! is out of step with the file (an address that is not aligned where the offset is) everything goes through host memory;
//! [`Region::split_in_step`](crate::Region::split_in_step) makes pieces that are in step.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use hipfile::alloc::DeviceBuffer;
//! use hipfile::transfer;
//! use hipfile::{Driver, OpenOptions};
//!
//! # let path = std::env::temp_dir().join(format!("hipfile-doc-transfer-{}", std::process::id()));
//! # std::fs::write(&path, vec![7; 5_000_000])?;
//! let driver = Driver::open()?;
//! let file = OpenOptions::new().read(true).open(&driver, &path)?;
//! let mut weights = driver.register(DeviceBuffer::new(5_000_000)?)?;
//! match transfer::Options::new().read_file_into(&file, weights.slice_mut(..)?, 0) {
//!     Ok(report) => println!("{} bytes in {:?}", report.bytes, report.wall),
//!     Err(stopped) => eprintln!("{stopped}; {} bytes are there", stopped.report().contiguous()),
//! }
//! # assert_eq!(weights.slice(..)?.as_device().to_vec()?, vec![7; 5_000_000]);
//! # std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Counts
//! They are exact: what a [`Report`] counts has moved, and its [`ranges`](Report::ranges) say which bytes. Nothing else has
//! moved either, with one exception: a call that fails in AMD's fallback does not tell how much it had moved, so the rest of
//! a failed chunk is in an unknown state there.
//!
//! As the blocking calls of [`FileHandle`](crate::FileHandle), transfers wait for no GPU work, and they flush nothing to the
//! storage device. The calling thread's current HIP device stays what it is.

mod cancel;
mod copy;
mod job;
mod options;
mod piece;
mod pool;
mod report;
mod schedule;
mod settings;
mod spawn;
mod stopped;

pub use cancel::CancelToken;
pub use job::{Ended, Job};
pub use options::Options;
pub use report::{Progress, Report};
pub use stopped::Stopped;
