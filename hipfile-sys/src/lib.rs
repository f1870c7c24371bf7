//! Raw bindings to libhipfile, the GPU-direct file I/O library of AMD ROCm. The `hipfile` crate is the safe interface.
//!
//! - The declarations of `hipfile.h` under their C names. Enums are integers with constants, so that a number this
//!   version does not know is just that. The functions are there to be linked with feature `link`.
//! - [`Api`], the functions of one library as a table, [linked](Api::linked) or [loaded](Api::load), and [`api`], the
//!   table of the process.
//!
//! | Feature | Default | Effect |
//! |---|---|---|
//! | `link` | yes | The build finds libhipfile and links it; without, it is loaded when first used |
//! | `bindgen` | no | The declarations are generated from the header found, 0.5 or newer; needs libclang |
//!
//! Declarations are those of hipFile 0.5. Libraries since 0.2 will do: they lack the `hipFileGetStats…` functions, and
//! accept batches which they never run. See the README for the variables the build looks at.

pub mod api;
mod error;
mod layout;
mod table;

#[cfg_attr(hipfile_generated, path = "generated.rs")]
#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::allow_attributes_without_reason,
    clippy::indexing_slicing,
    clippy::multiple_unsafe_ops_per_block,
    clippy::undocumented_unsafe_blocks,
    reason = "generated from a C header and named as there"
)]
mod bindings;

pub use bindings::*;
pub use error::{AlreadyInUse, LoadError};
pub use table::Api;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
