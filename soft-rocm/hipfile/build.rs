//! Gives the library the name that programs linked against libhipfile record.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhipfile.so.0");
    // HIP stays loaded and a fork handler stays registered, so this library stays too.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
