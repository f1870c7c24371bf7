//! Raw bindings to libhipfile, the GPU-direct file I/O library of AMD ROCm.

#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::allow_attributes_without_reason,
    clippy::multiple_unsafe_ops_per_block,
    clippy::undocumented_unsafe_blocks,
    reason = "generated from a C header and named as there"
)]
mod bindings;
mod layout;

pub use bindings::*;
