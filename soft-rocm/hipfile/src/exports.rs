//! The C interface: every function that `hipfile.h` declares, and the five that AMD's statistics tool uses.
//!
//! The functions only translate: pointers and numbers in, codes out.

mod asynchronous;
mod batch;
mod buffers;
mod driver;
mod faults;
mod files;
mod monitor;
mod parameters;
mod properties;
mod signatures;
#[cfg(feature = "v0_5")]
mod statistics;
mod streams;
mod synchronous;
mod texts;
