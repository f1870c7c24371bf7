//! libhipfile in software, over the C ABI of HIP alone: 0.5, and 0.2 or 0.4 where told so.
//!
//! ```text
//!  exports      the C functions, which only translate
//!     │
//!  abi          forked children refused, panics contained, errno put right
//!     │
//!  driver ───── tables: files, buffers, streams, batches, use count
//!     │            │
//!  batch          operations that a pool of threads runs
//!     │
//!  transfer       file, buffer, stream: what registration finds out
//!     ├─ select        which path
//!     ├─ fastpath      HIP moves the data: hipAmdFileRead, hipAmdFileWrite
//!     └─ fallback      the host does: straight into device memory, or through a bounce buffer
//!                      │
//!  asynchronous   the same on a stream: checked now, done when the stream is there
//!                      │
//!  hip          HIP's functions, loaded at run time: AMD's or ours
//!
//!  behaviour, config, settings    which release and whose defects; the environment; what the program set
//!  stats                          what was counted, in memory that other processes can look at
//! ```
//!
//! A transfer looks its file and buffer up under a shared lock, holds both, chooses a path by file, request and
//! environment, and counts what became of it. It allocates nothing, and on the fallback its only system call is the
//! read or write itself where HIP gives host code a way to its memory.

mod abi;
mod asynchronous;
mod batch;
mod behaviour;
mod buffer;
mod config;
mod driver;
#[allow(non_snake_case, reason = "named as in the C header")]
mod exports;
mod failure;
mod file;
mod fork;
pub mod fuzzing;
mod hip;
mod mount;
mod pinned;
mod settings;
mod signals;
mod stats;
mod stream;
mod strings;
mod sync;
mod tables;
mod transfer;
