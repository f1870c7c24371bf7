//! What the libhipfile under test is, as tests must know it that hold with every release. It is asked by the C functions, so
//! that the process may choose another library afterwards.

use std::env;

use crate::raw;

/// Whether it is 0.5 or newer, the first with batches that run, statistics, and streams that can take the fast path. Says so
/// if not.
pub fn has_0_5() -> bool {
    let (major, minor, patch) = raw::version();
    let newer = (major, minor) >= (0, 5);
    if !newer {
        println!("skipped: libhipfile {major}.{minor}.{patch} cannot do this, 0.5.0 and newer can");
    }
    newer
}

/// Whether it has the defects of AMD's: AMD's own, and the software one that was asked for them.
pub fn has_amds_defects() -> bool {
    // AMD's brings libmount into the process.
    let amds = !crate::soft::symbol("mnt_new_context").is_null();
    amds || env::var_os("SOFT_ROCM_QUIRKS").is_some_and(|quirks| quirks == "amd")
}
