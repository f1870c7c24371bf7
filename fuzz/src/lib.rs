//! What the fuzz targets do with the bytes that they are given. Everything here also runs without a fuzzer: the test
//! replays the corpus.
//!
//! | target | reads the bytes as |
//! |---|---|
//! | [`hipfile_calls`] | calls of libhipfile, in any order, with any numbers |
//! | [`hip_calls`] | calls of libamdhip64 |
//! | [`fault_grammar`] | a value of `SOFT_ROCM_FAULTS`, and calls that it is asked about |
//! | [`environment`] | values of the other variables |

pub mod bytes;
pub mod environment;
pub mod fault_grammar;
pub mod hip_calls;
pub mod hipfile_calls;
