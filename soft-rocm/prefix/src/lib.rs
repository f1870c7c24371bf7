//! Nothing but a build script: a package that has this one as dev-dependency finds the software ROCm installed when its
//! tests are linked, so that plain `cargo test` works on a fresh clone.
