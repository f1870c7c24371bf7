//! What the test targets of this package share.
//!
//! | module | what |
//! |---|---|
//! | [`rocm`] | where the headers and libraries of the ROCm under test lie |
//! | [`isolate`] | one test, one process |
//! | [`compiler`] | C and C++ programs built and run against that ROCm |
//! | [`shim`] | a library put before HIP and libc that counts, fails, shortens and holds calls |

pub mod compiler;
pub mod isolate;
pub mod rocm;
pub mod shim;
