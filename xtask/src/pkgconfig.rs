//! `cargo xtask pkgconfig PREFIX`: a pkg-config file for an installed ROCm, which ships none.

/// The text of `hipfile.pc` for a prefix, which may be an expression of pkg-config such as `${pcfiledir}/../..`.
pub fn text(prefix: &str, libdir: &str, version: &str) -> String {
    format!(
        "prefix={prefix}
libdir=${{prefix}}/{libdir}
includedir=${{prefix}}/include

Name: hipfile
Description: GPU-direct file I/O for AMD GPUs
Version: {version}
Libs: -L${{libdir}} -lhipfile -lamdhip64
Cflags: -I${{includedir}} -D__HIP_PLATFORM_AMD__
"
    )
}
