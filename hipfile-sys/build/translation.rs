//! How C declarations become Rust ones: the settings shared by the checked-in bindings (`cargo xtask codegen`) and
//! by feature `bindgen`.

use bindgen::callbacks::{DeriveInfo, DeriveTrait, ImplementsTrait, ParseCallbacks};
use bindgen::{Builder, EnumVariation, RustEdition, RustTarget};

/// Names that make up hipfile.h, as a regular expression.
pub(crate) const HIPFILE: &str = "hipFile.*|HIPFILE_.*";

/// A builder that translates what `allow` (a regular expression over names) selects, and the types this needs.
///
/// - C enums become integer newtypes with global constants: a number the header does not list stays a number.
/// - Sizes, alignments and offsets are asserted at compile time.
/// - What POSIX declares comes from the libc crate.
pub(crate) fn builder(allow: &str) -> Result<Builder, String> {
    let builder = bindgen::builder()
        .rust_target(RustTarget::stable(85, 0).map_err(|error| error.to_string())?)
        .rust_edition(RustEdition::Edition2024)
        .use_core()
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: true })
        .prepend_enum_name(false)
        .allowlist_item(allow)
        .blocklist_type("_*off(64)?_t|_*time_t|_*syscall_slong_t|sa_family_t|sockaddr|timespec")
        .size_t_is_usize(true)
        .layout_tests(true)
        .derive_default(true)
        .impl_debug(true)
        .must_use_type("hipFileError_t|hipError_t")
        .merge_extern_blocks(true)
        .parse_callbacks(Box::new(Derives))
        .clang_arg("-D__HIP_PLATFORM_AMD__");
    Ok(if allow == HIPFILE { builder.raw_line("use libc::{off_t, sockaddr, timespec};") } else { builder })
}

/// Which traits the translated types have beyond bindgen's own choice.
#[derive(Debug)]
struct Derives;

impl ParseCallbacks for Derives {
    /// Results and counters can be compared; a struct with a function pointer had better not be.
    fn add_derives(&self, info: &DeriveInfo<'_>) -> Vec<String> {
        match info.name {
            "hipFileError_t" | "hipFileOpCounter_t" => vec!["PartialEq".into(), "Eq".into()],
            _ => Vec::new(),
        }
    }

    /// The types left to the libc crate are integers, or stand behind pointers.
    fn blocklisted_type_implements_trait(&self, _: &str, _: DeriveTrait) -> Option<ImplementsTrait> {
        Some(ImplementsTrait::Yes)
    }
}
