//! Raw bindings to libhipfile, the GPU-direct file I/O library of AMD ROCm. The `hipfile` crate is the safe interface.
//!
//! - The declarations of `hipfile.h` under their C names. Enums are integers with constants, so that a number this
//!   version does not know is just that. The functions are there to be linked with feature `link`.
//! - [`Api`], the functions of one library as a table, [linked](Api::linked) or [loaded](Api::load), and [`api`], the
//!   table of the process.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let api = hipfile_sys::api::get()?;
//! // SAFETY: requires nothing.
//! let result = unsafe { (api.hipFileDriverOpen)() };
//! assert_eq!(result.err, hipfile_sys::hipFileSuccess);
//! # Ok(())
//! # }
//! ```
//!
//! | Feature | Default | Effect |
//! |---|---|---|
//! | `link` | yes | The build finds libhipfile and links it; without, it is loaded when first used |
//! | `bindgen` | no | The declarations are generated from the header found, 0.5 or newer; needs libclang |
//!
//! Declarations are those of hipFile 0.5. Libraries since 0.2 will do: those before 0.5 lack the `hipFileGetStats…`
//! functions, and accept batches which they never run.
//!
//! Needs 64-bit Linux, and with feature `link` a libhipfile that the build finds: by `HIPFILE_LIB_DIR` and
//! `HIPFILE_INCLUDE_DIR`, by pkg-config, or in `$ROCM_PATH`, `/opt/rocm/core-*`, `/opt/rocm` and the system's directories. The
//! README has all variables, and the [repository](https://github.com/hipfile-rs/hipfile-rs) a software ROCm for machines without.

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
