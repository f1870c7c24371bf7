//! The declarations of the header that the build found.
#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the header is not ours")]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
