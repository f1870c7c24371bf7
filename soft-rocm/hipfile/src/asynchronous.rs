//! Asynchronous transfers: what a stream does when it reaches them.
//!
//! ```text
//!  submit      checks everything, reads the values, puts one host function on the stream
//!    │
//!    ├─ order       which reads may run side by side with those before them
//!    │
//!  operation   on the stream: reads the late values again, moves the bytes, lets go of file, buffer and stream,
//!    │         and then publishes the result
//!    ├─ fast path     hipAmdFileRead or hipAmdFileWrite, there and then
//!    ├─ alias         pread or pwrite straight into device memory
//!    └─ companion     where host code can't reach device memory: another thread copies, on a stream of its own, since a
//!                     host function must not call HIP's copies; the host function waits for it
//! ```
//!
//! An operation is one allocation. Nothing of it is locked while it runs.

mod companion;
mod handover;
mod operation;
mod order;
mod submit;
mod values;

pub(crate) use order::Order;
pub(crate) use submit::{Library, Submission, submit};
pub(crate) use values::Pointers;

#[cfg(test)]
mod tests;
